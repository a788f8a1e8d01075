// Other runtimes that a model is timed in.
#include "ingot/measure/contestant.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/driver/convert.h"
#include "ingot/driver/tfjs.h"
#include "ingot/ir/model.h"

namespace ingot::measure {
Contestant::Contestant(verify::Runtime runtime, const verify::Peers& peers, const std::string& file,
                       const driver::Loaded& loaded, const driver::LoadOptions& load, const driver::InputShapes& shapes,
                       const std::vector<engine::NamedDatum>& inputs, int threads)
    : title(verify::info_of(runtime).title), runtime_(runtime), peer_(runtime, peers) {
  verify::PeerRequest request;
  request.model = file_for(file, loaded, load, shapes);
  request.inputs = inputs;
  request.threads = threads;
  request.optimize = true;
  if (runtime == verify::Runtime::tfjs) use_tfjs_names(request, load);
  first = peer_.run(request);
  if (!first.error.empty()) refuse(first.error);
}

std::string Contestant::file_for(const std::string& file, const driver::Loaded& loaded, const driver::LoadOptions& load,
                                 const driver::InputShapes& shapes) {
  const std::vector<verify::Runtime> able = verify::runtimes_for(*loaded.format);
  const driver::Format& format = driver::format_by_name(verify::info_of(runtime_).reads);
  // Whoever runs ONNX runs it in every form, but reads one of them.
  const bool reads = !loaded.format->is_onnx || loaded.format == &format;
  if (reads && std::ranges::find(able, runtime_) != able.end()) return file;
  if (!format.save)
    throw Error(Code::unsupported_feature, title + " does not read " + std::string(loaded.format->title) +
                                               " files, and Ingot writes none of its own");
  converted_to = format.title;
  const std::string extension(format.extensions.empty() ? "" : format.extensions.front());  // none: a folder
  const std::string path = (scratch_.path() / ("model" + extension)).string();
  driver::ConvertRequest request;
  request.input = file;
  request.output = path;
  request.from = loaded.format;
  request.to = &format;
  request.input_shapes = shapes;
  request.allow_links = load.allow_links;
  request.budget = load.budget;
  driver::convert(request);
  return path;
}

void Contestant::use_tfjs_names(verify::PeerRequest& request, const driver::LoadOptions& load) {
  driver::LoadOptions own = load;
  if (!converted_to.empty()) own.from = nullptr;
  const driver::Loaded read = driver::load(request.model, own);
  const driver::TfjsModel wrapped = driver::wrap_for_tfjs(request.model, read.model, own, scratch_.path().string());
  const auto tensor_for = [](const auto& names, const std::string& name) {
    const auto found = std::ranges::find(names, name, &std::pair<std::string, std::string>::first);
    return found == names.end() ? name : found->second;
  };
  request.model = wrapped.file;
  std::vector<engine::NamedDatum> inputs;
  std::size_t next = 0;
  for (const Value* v : read.model.graph->inputs()) {
    if (v->initializer || next >= request.inputs.size()) continue;
    const std::string tensor = tensor_for(wrapped.inputs, v->name());
    if (std::ranges::binary_search(wrapped.nodes, tensor.substr(0, tensor.find(':'))))
      inputs.push_back({tensor, request.inputs[next].value});
    ++next;
  }
  request.inputs = std::move(inputs);
  for (const Value* v : read.model.graph->outputs()) request.outputs.push_back(tensor_for(wrapped.outputs, v->name()));
}

std::vector<double> Contestant::run(std::size_t count) {
  verify::PeerTimes times = peer_.time(count);
  if (!times.error.empty()) refuse(times.error);
  peak_bytes = times.peak_bytes;
  return std::move(times.ms);
}

void Contestant::refuse(const std::string& why) const {
  throw Error(Code::unsupported_feature, title + " refuses the model: " + why);
}

}  // namespace ingot::measure
