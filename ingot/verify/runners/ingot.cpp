// Models in Ingot itself.
#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/driver/run.h"
#include "ingot/engine/session.h"
#include "ingot/verify/runner.h"

namespace ingot::verify {
namespace {

class IngotRunner : public Runner {
 public:
  explicit IngotRunner(const Entry& entry) : entry_(entry) {}

  Answer run(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points) override {
    return run_in_ingot(entry_.loaded.model, inputs, points, entry_.load.budget);
  }
  std::vector<Point> points() const override { return points_of(entry_.loaded.model); }

 private:
  Entry entry_;
};

}  // namespace

std::unique_ptr<Runner> make_ingot_runner(const Entry& entry) { return std::make_unique<IngotRunner>(entry); }

Answer run_in_ingot(const Model& model, const std::vector<engine::NamedDatum>& inputs,
                    const std::vector<std::string>& points, Budget* budget) {
  Answer answer;
  try {
    const Model more = with_outputs(model, points);
    const std::optional<Model> form = driver::runnable_form(more);
    const engine::Session session(form ? *form : more, {.budget = budget});
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

}  // namespace ingot::verify
