// TensorFlow's graphs in TF.js.
#include "ingot/driver/tfjs.h"

#include <algorithm>

#include "ingot/ir/source_notes.h"
#include "ingot/verify/runner.h"
#include "ingot/driver/work_directory.h"

namespace ingot::verify {
namespace {

class TfjsRunner : public PeerRunner {
 public:
  explicit TfjsRunner(const Entry& entry)
      : PeerRunner(entry, Runtime::tfjs),
        tfjs_(driver::wrap_for_tfjs(entry.file, entry.loaded.model, entry.load, entry.scratch.path().string())) {}

  Answer run(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points) override {
    PeerRequest request;
    request.model = tfjs_.file;
    const auto tensor_for = [](const auto& names, const std::string& name) {
      const auto it = std::ranges::find(names, name, &std::pair<std::string, std::string>::first);
      return it == names.end() ? name : it->second;
    };
    for (const engine::NamedDatum& input : inputs) {
      const std::string tensor = tensor_for(tfjs_.inputs, input.name);
      if (has_node(tensor)) request.inputs.push_back({tensor, input.value});  // else no output needs it
    }
    for (const Value* v : model().graph->outputs()) request.outputs.push_back(tensor_for(tfjs_.outputs, v->name()));
    const std::size_t count = request.outputs.size();
    std::vector<std::string> found;
    for (const std::string& name : points)
      if (has_node(name)) {
        request.outputs.push_back(name);
        found.push_back(name);
      }
    Answer answer = ask(request, request.outputs.size());
    if (!answer.error.empty()) return answer;
    for (std::size_t i = 0; i < found.size(); ++i)
      answer.points.push_back({found[i], std::move(answer.outputs[count + i].value)});
    answer.outputs.resize(count);
    for (std::size_t i = 0; i < count; ++i) answer.outputs[i].name = model().graph->output(i)->name();
    return answer;
  }

  /// The order of the file means nothing in TensorFlow; that of the import is a running order.
  std::vector<Point> points() const override {
    PointList points;
    for (const Node& node : model().graph->nodes())
      if (const std::string name(note_of(node.metadata, kSource)); std::ranges::binary_search(tfjs_.nodes, name))
        points.add({name, driver::operator_of(tfjs_, name), {}});
    return points.take();
  }

 private:
  bool has_node(const std::string& tensor) const {
    return std::ranges::binary_search(tfjs_.nodes, tensor.substr(0, tensor.find(':')));
  }

  driver::TfjsModel tfjs_;
};

}  // namespace

std::unique_ptr<Runner> make_tfjs_runner(const Entry& entry) { return std::make_unique<TfjsRunner>(entry); }

}  // namespace ingot::verify
