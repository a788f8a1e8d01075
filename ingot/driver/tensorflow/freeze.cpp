// A TensorFlow model as one graph for a runtime that knows neither variables nor functions.
#include "ingot/driver/tensorflow/freeze.h"

#include <algorithm>
#include <filesystem>

#include "ingot/base/budget.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/safe_path.h"
#include "ingot/driver/tensorflow/files.h"
#include "ingot/driver/tensorflow/signature.h"
#include "ingot/frontends/tensorflow/freeze.h"

namespace ingot::driver::tensorflow {

namespace fs = std::filesystem;
namespace tf = formats::tensorflow;
namespace front = frontends::tensorflow;

FrozenGraph freeze(const std::string& path, const std::vector<std::string>& outputs, const LoadOptions& options) {
  Budget& budget = options.budget ? *options.budget : Budget::unlimited();
  const std::string inner = fs::is_directory(path) ? saved_model_file(path) : "";
  const std::string file = inner.empty() ? path : inner;
  const Bytes contents =
      inner.empty() ? map_file(path)
                    : map_beneath(path, fs::path(inner).filename().string(), {.allow_links = options.allow_links});
  const auto kind = kind_of(contents);
  const MetaSource source = kind == tf::FileKind::saved_model
                                ? open_saved_model(Source{.path = file}.directory(), contents, options)
                            : kind == tf::FileKind::meta_graph ? open_meta_graph(file, contents, options)
                                                               : open_graph(file, contents, options);
  FrozenGraph frozen;
  std::vector<std::string> names = outputs, tensors = outputs;
  const bool is_cut = !options.import.outputs.empty();
  if (const tf::Signature* signature =
          is_cut ? nullptr : signature_of(source.meta.signatures, options.import.signature)) {
    for (const front::Port& port : ports_of(signature->inputs)) frozen.inputs.emplace_back(port.name, port.tensor);
    names.clear();
    tensors.clear();
    for (const front::Port& port : ports_of(signature->outputs)) {
      names.push_back(port.name);
      tensors.push_back(port.tensor);
    }
  }
  for (auto* ports : {&options.import.inputs, &options.import.outputs})
    for (const std::string& text : *ports) {
      const std::size_t equals = text.find('=');  // name=tensor
      if (equals == std::string::npos) continue;
      if (ports == &options.import.inputs) frozen.inputs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
      const auto named = std::ranges::find(names, text.substr(0, equals));
      if (ports == &options.import.outputs && named != names.end())
        tensors[static_cast<std::size_t>(named - names.begin())] = text.substr(equals + 1);
    }
  front::Features features;
  frozen.graph = front::freeze(source.meta.graph, source.files, tensors, budget, &features);
  frozen.inputs.insert(frozen.inputs.end(), features.begin(), features.end());
  for (std::size_t i = 0; i < names.size(); ++i) frozen.outputs.emplace_back(names[i], tensors[i]);
  return frozen;
}

}  // namespace ingot::driver::tensorflow
