// TFLite files in TFLite and in LiteRT.
#include <algorithm>

#include "ingot/base/atomic_file.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"
#include "ingot/verify/runner.h"

namespace ingot::verify {
namespace {

namespace tfl = formats::tflite;

/// The last tensor of that name which an operator makes; -1: there is none.
std::int32_t tensor_of(const tfl::SubGraph& graph, const std::string& name) {
  for (std::size_t i = graph.operators.size(); i-- > 0;)
    for (const std::int32_t t : graph.operators[i].outputs)
      if (t != tfl::kNoTensor && graph.tensors[static_cast<std::size_t>(t)].name == name) return t;
  return -1;
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

class TfliteRunner : public PeerRunner {
 public:
  /// `reads_signatures`: they may name inputs in another order than the graph, so they are taken away.
  TfliteRunner(const Entry& entry, Runtime runtime, bool reads_signatures)
      : PeerRunner(entry, runtime),
        reads_signatures_(reads_signatures),
        tflite_(tfl::read(map_file(entry.file), {.budget = entry.load.budget})) {}

  Answer run(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points) override {
    PeerRequest request{.model = entry_.file, .inputs = inputs};
    const tfl::SubGraph& main = tflite_.subgraphs.at(0);
    if (request.inputs.size() > main.inputs.size()) request.inputs.resize(main.inputs.size());
    std::vector<std::int32_t> outputs = main.outputs;
    std::vector<std::pair<std::string, std::size_t>> found;  // with its place among the outputs
    for (const std::string& name : points)
      if (const std::int32_t t = tensor_of(main, name); t >= 0) {
        const auto at = static_cast<std::size_t>(std::ranges::find(outputs, t) - outputs.begin());
        if (at == outputs.size()) outputs.push_back(t);
        found.emplace_back(name, at);
      }
    if (outputs.size() > main.outputs.size() || reads_signatures_) {
      tfl::Model changed = tflite_;
      changed.subgraphs[0].outputs = outputs;
      changed.signature_defs.clear();
      request.model = path_in_scratch("points.tflite");
      write_file(request.model, tfl::to_bytes(changed));
    }
    Answer answer = ask(request, outputs.size());
    if (!answer.error.empty()) return answer;
    for (const auto& [name, at] : found) answer.points.push_back({name, answer.outputs[at].value});
    answer.outputs.resize(main.outputs.size());
    for (std::size_t i = 0; i < answer.outputs.size() && i < model().graph->output_count(); ++i)
      answer.outputs[i].name = model().graph->output(i)->name();
    return answer;
  }

  std::vector<Point> points() const override {
    PointList points;
    const tfl::SubGraph& main = tflite_.subgraphs.at(0);
    for (const tfl::Operator& op : main.operators)
      for (const std::int32_t t : op.outputs)
        if (t != tfl::kNoTensor)
          points.add({main.tensors[static_cast<std::size_t>(t)].name, tfl::describe(op.code), {}});
    return points.take();
  }

 private:
  bool reads_signatures_;
  tfl::Model tflite_;
};

}  // namespace

std::unique_ptr<Runner> make_tflite_runner(const Entry& entry) {
  return std::make_unique<TfliteRunner>(entry, Runtime::tflite, false);
}

std::unique_ptr<Runner> make_litert_runner(const Entry& entry) {
  return std::make_unique<TfliteRunner>(entry, Runtime::litert, true);
}

}  // namespace ingot::verify
