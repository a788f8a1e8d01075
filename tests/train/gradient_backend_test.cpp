// Every operator with a gradient, on the official backend cases, against central differences in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
#include "ingot/train/gradcheck.h"
#include "tests/passes/backend_cases.h"
#include "tests/train/operator_cases.h"

namespace ingot {
namespace {

using train::GradientCheck;

/// What one operator's cases came to.
struct Tally {
  std::size_t checked = 0, kinks = 0, failed = 0;
};

/// Inputs that say what to do rather than what with: no derivative is asked for.
bool is_setting(const Value& v) {
  for (const Use& use : v.uses()) {
    if (!use.node) return false;
    const std::string& op = use.node->op;
    if ((op == "Resize" && use.index > 0) || (op == "Upsample" && use.index > 0) ||
        (op == "OneHot" && use.index == 1) || (op == "Dropout" && use.index > 0))
      return true;
  }
  return false;
}

/// Some cases store uninitialised memory: next to 1e+198, no difference shows. Others are drawn for those.
Tensor within_reach(const Tensor& tensor) {
  constexpr double kLargest = 1e9;
  if (tensor.dtype() == DType::string || !is_float(tensor.dtype())) return tensor;
  std::vector<double> values = tensor.to_doubles();
  const auto is_far = [](double v) { return std::isfinite(v) && std::abs(v) > kLargest; };
  if (std::ranges::none_of(values, is_far)) return tensor;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i) + 1);
  return Tensor::of<double>(tensor.dims(), values);
}

/// Real inputs by name; the others become initializers.
std::optional<std::vector<engine::NamedDatum>> inputs_of(test::BackendCase& one) {
  std::vector<engine::NamedDatum> inputs;
  Graph& graph = *one.model.graph;
  const Values stated(graph.inputs().begin(), graph.inputs().end());
  for (std::size_t i = 0; i < one.inputs.size() && i < stated.size(); ++i) {
    if (one.inputs[i].kind != onnx::Data::Kind::tensor) return std::nullopt;
    const Tensor& tensor = one.inputs[i].tensor;
    if (tensor.dtype() != DType::string && (!is_float(tensor.dtype()) || is_setting(*stated[i]))) {
      const std::string name = stated[i]->name();
      Value* constant = graph.add_initializer(graph.fresh_name(name), tensor);
      graph.replace_all_uses(stated[i], constant);
      graph.erase_inputs_if([&](const Value& v) { return v.name() == name; });
      continue;
    }
    inputs.push_back({stated[i]->name(), train::in_double(Datum(Array::from(within_reach(tensor))))});
  }
  return inputs;
}

/// Cases at which there is no derivative to compare with, and why.
std::string reason_to_skip(const test::BackendCase& one, const GradientCheck& check) {
  const Node* node = one.model.graph->first();
  if (!std::isfinite(check.numeric)) return "the function itself is not finite there";
  // The suite's own expansion takes the softmax of nothing but -inf and drops the result afterwards.
  const bool is_expanded = one.name.ends_with("_expanded") && one.name.starts_with("test_attention");
  if (is_expanded && std::isnan(check.analytic)) return "a softmax over no key at all: not a number";
  const bool is_alone = one.model.graph->node_count() == 1;
  if ((is_alone && (node->op == "Cast" || node->op == "CastLike")) || one.name.starts_with("test_cast"))
    return "rounding to a narrow type: the gradient passes as if there were none";
  if (node && node->op == "BatchNormalization" && node->output_count() > 1)
    return "running statistics are no function to be trained";
  return {};
}

std::string operator_of(const test::BackendCase& one) {
  return one.model.graph->node_count() == 1 ? one.model.graph->first()->op : "(several)";
}

/// Whether the same derivative is right at two other points.
bool passes_elsewhere(const test::BackendCase& one, const std::vector<engine::NamedDatum>& inputs,
                      const std::string& input) {
  for (const std::uint64_t seed : {101u, 102u}) {
    const auto checks =
        train::check_gradients(train::in_double(one.model), inputs, {.seed = seed, .jitter = 1e-2, .wrt = {input}});
    if (checks.empty() || !checks.front().passed()) return false;
  }
  return true;
}

TEST(GradientBackend, GradientsOfOfficialCasesEqualCentralDifferences) {
  std::map<std::string, Tally> tallies;
  std::map<std::string, std::set<std::string>> skipped;  // reason -> operators
  const char* only = std::getenv("INGOT_TEST_ONLY");
  test::for_each_backend_case([&](test::BackendCase& one) {
    if (only && one.name.find(only) == std::string::npos) return;
    if (std::getenv("INGOT_TEST_TRACE")) std::cerr << one.name << "\n";
    const std::string op = operator_of(one);
    const auto inputs = inputs_of(one);
    if (!inputs) return;
    std::vector<GradientCheck> checks;
    try {
      checks = train::check_gradients(train::in_double(one.model), *inputs, {.seed = 7, .jitter = 1e-3, .wrt = {}});
    } catch (const Error& error) {
      skipped[std::string(error.what()).substr(0, 160)].insert(op + ":" + one.name);
      return;
    }
    for (const GradientCheck& check : checks) {
      Tally& tally = tallies[op];
      if (check.is_at_kink) {
        ++tally.kinks;
        continue;
      }
      if (const std::string reason = reason_to_skip(one, check); !reason.empty()) {
        skipped[reason].insert(op + ":" + one.name);
        continue;
      }
      ++tally.checked;
      if (one.model.graph->node_count() == 1) ++test::coverage_of(*one.model.graph->first()).differences;
      if (check.passed()) continue;
      if (passes_elsewhere(one, *inputs, check.input)) {  // the point lay beside a kink
        ++tally.kinks;
        --tally.checked;
        continue;
      }
      ++tally.failed;
      ADD_FAILURE() << one.name << " (" << op << ") by '" << check.input << "': gradient " << check.analytic
                    << ", differences " << check.numeric;
    }
  });
  for (const auto& [reason, cases] : skipped) {
    std::cout << "not checked: " << reason << "\n   ";
    for (const std::string& name : cases) std::cout << " " << name;
    std::cout << "\n";
  }
  std::cout << "operator: derivatives checked / at kinks / wrong\n";
  for (const auto& [op, tally] : tallies)
    std::cout << "  " << op << ": " << tally.checked << " / " << tally.kinks << " / " << tally.failed << "\n";
}

}  // namespace
}  // namespace ingot
