// ONNX files in ONNX Runtime.
#include <map>

#include "ingot/driver/adjust.h"
#include "ingot/verify/runner.h"

namespace ingot::verify {
namespace {

class OrtRunner : public PeerRunner {
 public:
  explicit OrtRunner(const Entry& entry) : PeerRunner(entry, Runtime::ort) {}

  Answer run(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points) override {
    PeerRequest request{.model = entry_.file, .inputs = inputs};
    std::vector<std::string> names;
    for (const Value* v : model().graph->outputs()) names.push_back(v->name());
    const driver::ImportOptions& import = entry_.load.import;
    const bool is_cut = !import.inputs.empty() || !import.outputs.empty();
    if (!points.empty() || is_cut || entry_.loaded.format->name != info_of(Runtime::ort).reads) {
      Model more = with_outputs(model(), points);
      for (Node& node : more.graph->nodes()) node.metadata.clear();  // old IR versions have none on nodes
      driver::AdjustOptions typed;                                   // it wants to know the types of its outputs
      typed.infer_types = true;
      driver::adjust(more, typed);
      request.model = path_in_scratch("points.onnx");
      driver::save(more, request.model);
      names.clear();
      for (const Value* v : more.graph->outputs()) names.push_back(v->name());
    }
    return sorted_out(ask(request, names.size()), names, points);
  }

  std::vector<Point> points() const override { return points_of(model()); }

 private:
  /// Outputs of a model that got more of them.
  Answer sorted_out(Answer answer, const std::vector<std::string>& names,
                    const std::vector<std::string>& points) const {
    if (!answer.error.empty()) return answer;
    std::map<std::string, Datum> by_name;
    for (std::size_t i = 0; i < names.size(); ++i) by_name[names[i]] = answer.outputs[i].value;
    answer.outputs.resize(model().graph->output_count());
    for (const std::string& name : points)
      if (const auto it = by_name.find(name); it != by_name.end()) answer.points.push_back({name, it->second});
    return answer;
  }
};

}  // namespace

std::unique_ptr<Runner> make_ort_runner(const Entry& entry) { return std::make_unique<OrtRunner>(entry); }

}  // namespace ingot::verify
