// One side of a comparison: a file in a runtime.
#include "ingot/verify/contender.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/tfjs.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"
#include "ingot/ir/source_notes.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/verify/scratch_directory.h"

namespace ingot::verify {
namespace {

namespace fs = std::filesystem;
namespace tfl = formats::tflite;
using driver::Format;

/// The last tensor of that name which an operator makes; -1: there is none.
std::int32_t tensor_of(const tfl::SubGraph& graph, const std::string& name) {
  for (std::size_t i = graph.operators.size(); i-- > 0;)
    for (const std::int32_t t : graph.operators[i].outputs)
      if (t != tfl::kNoTensor && graph.tensors[static_cast<std::size_t>(t)].name == name) return t;
  return -1;
}

void write_file(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path.string());
  file.write(bytes);
  file.commit();
}

/// The model with further outputs; names that it does not have are left out.
Model with_outputs(const Model& model, const std::vector<std::string>& names) {
  Model copy = model.clone();
  for (const std::string& name : names) {
    Value* v = copy.graph->find(name);
    const Values outputs = copy.graph->outputs();
    if (v && std::ranges::find(outputs, v) == outputs.end()) copy.graph->add_output(v);
  }
  return copy;
}

std::string tflite_note(const tfl::Model& model, std::string_view key) {
  for (const tfl::Metadata& m : model.metadata) {
    if (m.name != "ingot_source" || m.buffer >= model.buffers.size()) continue;
    const std::string_view text = model.buffers[m.buffer].text();
    const std::size_t at = text.find(std::string(key) + ": ");
    if (at == std::string_view::npos) continue;
    const std::size_t begin = at + key.size() + 2;
    return std::string(text.substr(begin, text.find('\n', begin) - begin));
  }
  return {};
}

}  // namespace

struct Contender::State {
  std::string file;
  driver::Loaded loaded{};
  Runtime runtime{};
  driver::LoadOptions load{};
  std::optional<tfl::Model> tflite{};
  std::optional<driver::TfjsModel> tfjs{};
  std::vector<Runtime> untried{};
  Peers peers{};
  std::unique_ptr<Peer> peer{};
  std::string version{};
  ScratchDirectory scratch{};

  std::string path_in_scratch(const char* name) const { return (scratch.path() / name).string(); }

  Answer ask(PeerRequest request, std::size_t output_count) {
    PeerAnswer got = peer->run(request);
    if (!got.error.empty()) return {.error = std::move(got.error)};
    version = got.version;
    if (!got.not_passed.empty()) return {.error = "output '" + got.not_passed[0] + "' is no tensor that it can pass"};
    if (got.outputs.size() != output_count) return {.error = "it gives another number of outputs"};
    return {.error = {}, .outputs = std::move(got.outputs)};
  }

  Answer run_ort(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points) {
    PeerRequest request{.model = file, .inputs = inputs};
    std::vector<std::string> names;
    for (const Value* v : loaded.model.graph->outputs()) names.push_back(v->name());
    if (!points.empty() || loaded.format != &driver::format_by_name("onnx")) {
      Model more = with_outputs(loaded.model, points);
      for (Node& node : more.graph->nodes()) node.metadata.clear();  // old IR versions have none on nodes
      driver::AdjustOptions typed;                                   // it wants to know the types of its outputs
      typed.infer_types = true;
      driver::adjust(more, typed);
      request.model = path_in_scratch("points.onnx");
      driver::save(more, request.model);
      names.clear();
      for (const Value* v : more.graph->outputs()) names.push_back(v->name());
    }
    return sorted_out(ask(std::move(request), names.size()), names, points);
  }

  Answer run_tflite(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points) {
    PeerRequest request{.model = file, .inputs = inputs};
    const tfl::SubGraph& main = tflite->subgraphs.at(0);
    if (request.inputs.size() > main.inputs.size()) request.inputs.resize(main.inputs.size());
    std::vector<std::int32_t> outputs = main.outputs;
    std::vector<std::pair<std::string, std::size_t>> found;  // with its place among the outputs
    for (const std::string& name : points)
      if (const std::int32_t t = tensor_of(main, name); t >= 0) {
        const auto at = static_cast<std::size_t>(std::ranges::find(outputs, t) - outputs.begin());
        if (at == outputs.size()) outputs.push_back(t);
        found.emplace_back(name, at);
      }
    if (outputs.size() > main.outputs.size() || runtime == Runtime::litert) {
      // Signatures may name inputs in another order, and do not know the new outputs.
      tfl::Model changed = *tflite;
      changed.subgraphs[0].outputs = outputs;
      changed.signature_defs.clear();
      request.model = path_in_scratch("points.tflite");
      write_file(request.model, tfl::to_bytes(changed));
    }
    Answer answer = ask(std::move(request), outputs.size());
    if (!answer.error.empty()) return answer;
    for (const auto& [name, at] : found) answer.points.push_back({name, answer.outputs[at].value});
    answer.outputs.resize(main.outputs.size());
    for (std::size_t i = 0; i < answer.outputs.size() && i < loaded.model.graph->output_count(); ++i)
      answer.outputs[i].name = loaded.model.graph->output(i)->name();
    return answer;
  }

  Answer run_tfjs(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points) {
    PeerRequest request;
    request.model = tfjs->file;
    const auto tensor_for = [](const auto& names, const std::string& name) {
      const auto it = std::ranges::find(names, name, &std::pair<std::string, std::string>::first);
      return it == names.end() ? name : it->second;
    };
    for (const engine::NamedDatum& input : inputs) {
      const std::string tensor = tensor_for(tfjs->inputs, input.name);
      if (std::ranges::binary_search(tfjs->nodes, tensor.substr(0, tensor.find(':'))))  // else no output needs it
        request.inputs.push_back({tensor, input.value});
    }
    for (const Value* v : loaded.model.graph->outputs())
      request.outputs.push_back(tensor_for(tfjs->outputs, v->name()));
    const std::size_t count = request.outputs.size();
    std::vector<std::string> found;
    for (const std::string& name : points)
      if (std::ranges::binary_search(tfjs->nodes, name.substr(0, name.find(':')))) {
        request.outputs.push_back(name);
        found.push_back(name);
      }
    Answer answer = ask(request, request.outputs.size());
    if (!answer.error.empty()) return answer;
    for (std::size_t i = 0; i < found.size(); ++i)
      answer.points.push_back({found[i], std::move(answer.outputs[count + i].value)});
    answer.outputs.resize(count);
    for (std::size_t i = 0; i < count; ++i) answer.outputs[i].name = loaded.model.graph->output(i)->name();
    return answer;
  }

  /// Outputs of a model that got more of them.
  Answer sorted_out(Answer answer, const std::vector<std::string>& names,
                    const std::vector<std::string>& points) const {
    if (!answer.error.empty()) return answer;
    std::map<std::string, Datum> by_name;
    for (std::size_t i = 0; i < names.size(); ++i) by_name[names[i]] = answer.outputs[i].value;
    answer.outputs.resize(loaded.model.graph->output_count());
    for (const std::string& name : points)
      if (const auto it = by_name.find(name); it != by_name.end()) answer.points.push_back({name, it->second});
    return answer;
  }
};

Contender::Answer run_in_ingot(const Model& model, const std::vector<engine::NamedDatum>& inputs,
                               const std::vector<std::string>& points, Budget* budget) {
  Contender::Answer answer;
  try {
    const Model more = with_outputs(model, points);
    const engine::Session session(more, {.budget = budget});
    std::vector<engine::NamedDatum> got = session.run(inputs);
    for (const std::string& name : points) {
      const auto it = std::ranges::find(got, name, &engine::NamedDatum::name);
      if (it != got.end()) answer.points.push_back({name, it->value});
    }
    got.resize(model.graph->output_count());
    answer.outputs = std::move(got);
  } catch (const Error& error) {
    if (error.code() == Code::cancelled || error.code() == Code::time_limit) throw;
    answer.error = error.message();
    if (!error.node().empty()) answer.error = "node '" + error.node() + "' (" + error.op() + "): " + answer.error;
  }
  return answer;
}

namespace {

Runtime chosen(const Format& format, const std::vector<Runtime>& wanted, const Peers& peers, Contender::Role role) {
  const std::vector<Runtime> able = runtimes_for(format);
  for (const Runtime r : wanted)
    if (std::ranges::find(able, r) != able.end()) return r;
  if (!wanted.empty())
    throw Error(Code::bad_usage,
                std::string(info_of(wanted[0]).title) + " does not run " + std::string(format.title) + " files");
  if (role == Contender::Role::candidate && format.is_onnx) return Runtime::ingot;
  for (const Runtime r : able)
    if (r != Runtime::ingot && !why_missing(peers, r)) return r;
  return role == Contender::Role::candidate || format.is_onnx ? Runtime::ingot : able.front();
}

}  // namespace

Contender::Contender(const std::string& file, const std::vector<Runtime>& runtimes, const driver::LoadOptions& load,
                     const Peers& peers, Role role) try
    : state_(new State{file}) {
  State& s = *state_;
  s.load = load;
  s.loaded = driver::load(file, load);
  passes::restore_node_metadata(s.loaded.model);
  const Format& format = *s.loaded.format;
  s.runtime = chosen(format, runtimes, peers, role);
  const std::vector<Runtime> able = runtimes_for(format);
  if (std::ranges::find(able, Runtime::tflite) != able.end())
    s.tflite = tfl::read(map_file(file), {.budget = load.budget});
  s.peers = peers;
  if (runtimes.empty())
    for (const Runtime r : able)
      if (r != s.runtime && !why_missing(peers, r) && (r != Runtime::ingot || format.is_onnx)) s.untried.push_back(r);
  if (s.runtime == Runtime::ingot) s.untried.clear();
  if (s.runtime == Runtime::tfjs) s.tfjs = driver::wrap_for_tfjs(file, s.loaded.model, load, s.scratch.path().string());
  if (s.runtime != Runtime::ingot) s.peer = std::make_unique<Peer>(s.runtime, peers);
} catch (Error& error) {
  error.in_file(file);
  throw;
}

Contender::~Contender() = default;

const std::string& Contender::file() const { return state_->file; }
const Format& Contender::format() const { return *state_->loaded.format; }
Runtime Contender::runtime() const { return state_->runtime; }
const Model& Contender::model() const { return state_->loaded.model; }

std::string Contender::runtime_text() const {
  const std::string title(info_of(state_->runtime).title);
  return state_->version.empty() ? title : title + " " + state_->version;
}

bool Contender::inputs_moved() const { return state_->tflite && tflite_note(*state_->tflite, "inputs_as") == "nhwc"; }
bool Contender::outputs_moved() const { return state_->tflite && tflite_note(*state_->tflite, "outputs_as") == "nhwc"; }

Contender::Answer Contender::run(const std::vector<engine::NamedDatum>& inputs,
                                 const std::vector<std::string>& points) {
  State& s = *state_;
  switch (s.runtime) {
    case Runtime::ort:
      return s.run_ort(inputs, points);
    case Runtime::tflite:
    case Runtime::litert:
      return s.run_tflite(inputs, points);
    case Runtime::tfjs:
      return s.run_tfjs(inputs, points);
    case Runtime::ingot:
      break;
  }
  return run_in_ingot(s.loaded.model, inputs, points, s.load.budget);
}

bool Contender::try_next_runtime() {
  State& s = *state_;
  if (s.untried.empty()) return false;
  s.runtime = s.untried.front();
  s.untried.erase(s.untried.begin());
  s.version.clear();
  s.peer = s.runtime == Runtime::ingot ? nullptr : std::make_unique<Peer>(s.runtime, s.peers);
  return true;
}

std::vector<Point> Contender::points() const {
  const State& s = *state_;
  std::vector<Point> points;
  std::set<std::string> seen;
  const auto add = [&](Point point) {
    if (!point.name.empty() && seen.insert(point.name).second) points.push_back(std::move(point));
  };
  if (s.tflite && s.runtime != Runtime::ingot) {
    const tfl::SubGraph& main = s.tflite->subgraphs.at(0);
    for (const tfl::Operator& op : main.operators)
      for (const std::int32_t t : op.outputs)
        if (t != tfl::kNoTensor) add({main.tensors[static_cast<std::size_t>(t)].name, tfl::describe(op.code), {}});
  } else if (s.tfjs) {
    // The order of the file means nothing in TensorFlow; that of the import is a running order.
    for (const Node& node : s.loaded.model.graph->nodes())
      if (const std::string name(note_of(node.metadata, kSource)); std::ranges::binary_search(s.tfjs->nodes, name))
        add({name, driver::operator_of(*s.tfjs, name), {}});
  } else {
    for (const Node& node : s.loaded.model.graph->nodes()) {
      const std::string source(note_of(node.metadata, kSource));
      for (const Value* v : node.outputs())
        if (v && !v->name().empty()) add({v->name(), node.op, source});
    }
  }
  return points;
}

}  // namespace ingot::verify
