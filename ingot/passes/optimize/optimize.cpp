// Rules applied until nothing changes.
#include "ingot/passes/optimize/optimize.h"

#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/passes/absorb_lines.h"
#include "ingot/passes/absorb_pads.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/fold.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/passes/layout/layout.h"
#include "ingot/passes/legalize/rewrites.h"
#include "ingot/passes/legalize/target.h"
#include "ingot/passes/optimize/equal_nodes.h"
#include "ingot/passes/optimize/rules.h"

namespace ingot::passes {
namespace {

constexpr int kMostRounds = 12;

std::size_t nodes_of(const Model& model) {
  std::size_t count = 0;
  for (const GraphPlace& place : all_graphs(model)) count += place.graph->node_count();
  return count;
}

/// Some files list nodes before those they read from; types are known in order only.
void put_in_order(Graph& graph) {
  const auto order = topological_order(graph);
  if (!order) return;
  for (Node* node : *order) graph.move_before(node, nullptr);
}

class Optimizer {
 public:
  Optimizer(Model& model, const OptimizeOptions& options) : model_(model), options_(options) {}

  OptimizeReport run() {
    for (int round = 0; round < kMostRounds; ++round) {
      changes_ = 0;
      if (options_.budget) options_.budget->poll();
      fold();
      for_each_graph(*model_.graph, [&](Graph& graph) { run_in(graph); });
      if (options_.level >= OptimizeLevel::extended) absorb();
      if (round == 0 && options_.lays_out && options_.level >= OptimizeLevel::extended) lay_out();
      if (!changes_) break;
    }
    note("nodes that nobody reads", drop_unread(*model_.graph));
    return std::move(report_);
  }

 private:
  void note(std::string_view rule, std::size_t count) {
    if (!count) return;
    changes_ += count;
    const auto found =
        std::ranges::find(report_.rules, rule, [](const auto& row) { return std::string_view(row.first); });
    if (found != report_.rules.end())
      found->second += count;
    else
      report_.rules.emplace_back(rule, count);
  }

  void fold() {
    FoldOptions options;
    // Quantised weights are smaller than what they stand for.
    options.keeps = [](const Node& node) { return node.is("DequantizeLinear"); };
    note("constants", fold_constants(*model_.graph, options));
    for_each_graph(*model_.graph, [&](Graph& graph) { take_known_branches(graph); });
    for_each_graph(*model_.graph, [&](Graph& graph) { note("equal nodes", share_equal(graph)); });
  }

  /// An If whose condition is known is one of its branches.
  void take_known_branches(Graph& graph) {
    static const legalize::Target kTarget;
    static constexpr legalize::Rewrite kRewrite = {"known branches", "If", legalize::rewrite_known_if};
    std::vector<std::string> notes;
    std::size_t count = 0;
    for (Node& node : graph.nodes())
      if (node.is("If")) count += legalize::apply(kRewrite, node, kTarget, notes);
    note("known branches", count);
  }

  void run_in(Graph& graph) {
    std::vector<Node*> nodes;
    for (Node& node : graph.nodes()) nodes.push_back(&node);
    // Rules take out no node but their own: what they leave unread goes afterwards.
    for (Node* node : nodes)
      for (const auto rules : {algebra_rules(), shape_rules(), pattern_rules()})
        if (apply_one(*node, rules)) {
          node = nullptr;
          break;
        }
    drop_unread(graph);
  }

  /// Whether a rule changed the node, which may be gone.
  bool apply_one(Node& node, std::span<const Rule> rules) {
    for (const Rule& rule : rules) {
      if (rule.level > options_.level || rule.opset > options_.opset || !node.is(rule.op)) continue;
      if (!node.output(0) || !node.output(0)->type) continue;
      RuleContext context{node, options_};
      if (!rule.apply(context)) continue;
      note(rule.name, 1);
      return true;
    }
    return false;
  }

  void absorb() {
    note("what convolutions take in", absorb_lines(*model_.graph));
    note("padding", absorb_pads(*model_.graph));
    drop_unread(*model_.graph);
  }

  void lay_out() {
    const LayoutReport layout = choose_layout(*model_.graph);
    if (layout.transposes_after < layout.transposes_before)
      note("transposes by layout", layout.transposes_before - layout.transposes_after);
  }

  Model& model_;
  const OptimizeOptions& options_;
  OptimizeReport report_;
  std::size_t changes_ = 0;
};

}  // namespace

OptimizeReport optimize(Model& model, const OptimizeOptions& options) {
  if (!model.training.empty())
    throw Error(Code::bad_usage, "a model with training information is not optimized")
        .hint("'ingot strip-training' takes it out");
  OptimizeOptions resolved = options;
  if (resolved.opset == 0) resolved.opset = model.opsets.version("");
  const std::size_t before = nodes_of(model);
  inline_functions(model, options.budget);
  for_each_graph(*model.graph, put_in_order);
  canonicalize(model);
  OptimizeReport report = Optimizer(model, resolved).run();
  report.nodes_before = before;
  report.nodes_after = nodes_of(model);
  return report;
}

}  // namespace ingot::passes
