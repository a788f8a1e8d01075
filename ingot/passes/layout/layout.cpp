// The layout pass: which values have their channels first and which last.
#include "ingot/passes/layout/layout.h"

#include <algorithm>
#include <unordered_set>

#include "ingot/ir/drop_unread.h"
#include "ingot/passes/layout/problem.h"
#include "ingot/passes/layout/rewrite.h"

namespace ingot::passes {
namespace {

void count(Graph& root, const LayoutProblem& problem, std::size_t& transposes, std::uint64_t& bytes) {
  for_each_graph(root, [&](Graph& graph) {
    for (Node& node : graph.nodes()) {
      if (!node.is("Transpose")) continue;
      ++transposes;
      const Perm perm = perm_of(node);
      if (!perm.empty()) bytes += static_cast<std::uint64_t>(problem.bytes(node.input(0), perm));
    }
  });
}

}  // namespace

LayoutReport choose_layout(Graph& graph, const LayoutOptions& options) {
  LayoutReport report;
  std::unordered_set<const Value*> unread;
  for_each_graph(graph, [&](Graph& g) {
    for (const Value* v : g.initializers())
      if (v->uses().empty()) unread.insert(v);
  });
  LayoutProblem problem(graph, options);
  count(graph, problem, report.transposes_before, report.bytes_before);
  report.cost = problem.solve();
  apply_layouts(problem);
  count(graph, problem, report.transposes_after, report.bytes_after);
  // Only constants that lost their last reader to a permuted copy.
  drop_unread(graph, [&](const Value& v) { return v.producer() || unread.contains(&v); });
  return report;
}

PortLayouts port_layouts(Graph& graph) {
  const LayoutOptions options;
  const LayoutProblem problem(graph, options);
  const auto known = [&](const Value* v) { return layout_rank(v) ? problem.known_tag(v) : std::nullopt; };
  PortLayouts layouts;
  for (const Value* v : graph.inputs()) layouts.inputs.push_back(known(v));
  for (std::size_t i = 0; i < graph.output_count(); ++i) layouts.outputs.push_back(known(graph.output(i)));
  return layouts;
}

bool set_input_layout(Graph& graph, std::size_t index, Layout from, Layout to) {
  Value* input = index < graph.inputs().size() ? graph.inputs()[index] : nullptr;
  const std::size_t rank = layout_rank(input);
  if (!rank || from == to || input->initializer) return false;
  const std::vector<Use> uses(input->uses().begin(), input->uses().end());
  input->type.shape = permuted(*input->type.shape, layout_perm(rank, from, to));
  GraphBuilder g(graph, graph.first());
  g.name_after(input->name());
  Value* inside = g.transpose(input, layout_perm(rank, to, from));
  for (const Use& use : uses)
    use.node ? use.node->set_input(use.index, inside) : use.graph->set_output(use.index, inside);
  return true;
}

bool set_output_layout(Graph& graph, std::size_t index, Layout from, Layout to) {
  Value* output = graph.output(index);
  const std::size_t rank = layout_rank(output);
  if (!rank || from == to) return false;
  GraphBuilder g(graph);
  const std::string name = output->name();
  g.name_after(name);
  Value* outside = g.transpose(output, layout_perm(rank, from, to));
  graph.set_output(index, outside);
  if (output->is_input() || output->initializer) return true;  // the name is the input's: the output gets a new one
  graph.rename(output, graph.fresh_name(name));
  graph.rename(outside, name);
  outside->is_declared = std::exchange(output->is_declared, false);
  return true;
}

std::optional<Layout> layout_by_name(std::string_view name) {
  constexpr std::string_view kFirst[] = {"ncw", "nchw", "ncdhw"}, kLast[] = {"nwc", "nhwc", "ndhwc"};
  if (std::ranges::find(kFirst, name) != std::end(kFirst)) return Layout::channels_first;
  if (std::ranges::find(kLast, name) != std::end(kLast)) return Layout::channels_last;
  return std::nullopt;
}

}  // namespace ingot::passes
