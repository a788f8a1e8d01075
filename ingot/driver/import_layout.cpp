// The layout of imported models: few transposes, and inputs and outputs as they were or as the user wants them.
#include "ingot/driver/import_layout.h"

#include "ingot/ir/drop_unread.h"
#include "ingot/passes/layout/layout.h"
#include "ingot/passes/move_quantized.h"

namespace ingot::driver {
namespace {

std::string name_of(Layout layout, std::size_t rank) {
  const std::string spatial = rank == 3 ? "W" : rank == 4 ? "HW" : "DHW";
  return layout == Layout::channels_first ? "NC" + spatial : "N" + spatial + "C";
}

std::size_t rank_of(const Value* value) { return value->type.shape ? value->type.shape->size() : 0; }

using Known = std::vector<std::optional<Layout>>;

/// Changes the layout of inputs, or outputs, that is not as wished; `known` follows.
void set_layouts(Graph& graph, std::optional<Layout> wish, Known& known, bool are_inputs,
                 std::vector<std::string>& notes) {
  if (!wish) return;
  const std::string what = are_inputs ? "input" : "output";
  bool has_any = false;
  for (std::size_t i = 0; i < known.size(); ++i) {
    has_any |= known[i].has_value();
    if (!known[i] || *known[i] == *wish) continue;
    const bool changed = are_inputs ? passes::set_input_layout(graph, i, *known[i], *wish)
                                    : passes::set_output_layout(graph, i, *known[i], *wish);
    if (!changed) continue;
    known[i] = wish;
    const Value* value = are_inputs ? graph.inputs()[i] : graph.output(i);
    notes.push_back("layout: " + what + " '" + value->name() + "' is " + name_of(*wish, rank_of(value)) + " now");
  }
  if (!has_any) notes.push_back("layout: no " + what + " has channels: all stay as they are");
}

void write_properties(Model& model, const passes::PortLayouts& known) {
  const auto write = [&](const Value* value, std::optional<Layout> layout) {
    if (layout && rank_of(value) >= 3)
      model.metadata.emplace_back(std::string(kLayoutProperty) + value->name(), name_of(*layout, rank_of(value)));
  };
  for (std::size_t i = 0; i < known.inputs.size(); ++i) write(model.graph->inputs()[i], known.inputs[i]);
  for (std::size_t i = 0; i < known.outputs.size(); ++i)
    if (!model.graph->output(i)->is_input()) write(model.graph->output(i), known.outputs[i]);
}

}  // namespace

void settle_layout(Model& model, const LayoutWish& wish, std::vector<std::string>& notes) {
  Graph& graph = *model.graph;
  passes::PortLayouts known = passes::port_layouts(graph);
  set_layouts(graph, wish.inputs_as, known.inputs, true, notes);
  set_layouts(graph, wish.outputs_as, known.outputs, false, notes);
  std::vector<Graph*> graphs{&graph};
  for (const auto& function : model.functions) graphs.push_back(function->body.get());
  std::size_t before = 0, after = 0;
  for (Graph* one : graphs) {
    const passes::LayoutReport report = passes::choose_layout(*one);
    before += report.transposes_before;
    after += report.transposes_after;
    passes::move_quantized(*one);
    drop_unread(*one);
  }
  // A value's name is its own; so becomes its node's.
  for (const GraphPlace& place : all_graphs(model))
    for (Node& node : place.graph->nodes())
      if (node.output()) node.name = node.output()->name();
  write_properties(model, known);
  if (before)
    notes.push_back("layout: " + std::to_string(after) + " of " + std::to_string(before) + " transposes are left");
}

void wish_layout(Model& model, const LayoutWish& wish, std::vector<std::string>& notes) {
  Graph& graph = *model.graph;
  const auto first = [](const Value* value) -> std::optional<Layout> {
    const std::size_t rank = value->type.is_tensor() ? rank_of(value) : 0;
    return rank >= 3 && rank <= 5 ? std::optional(Layout::channels_first) : std::nullopt;
  };
  passes::PortLayouts known;
  for (const Value* v : graph.inputs()) known.inputs.push_back(v->initializer ? std::nullopt : first(v));
  for (std::size_t i = 0; i < graph.output_count(); ++i) known.outputs.push_back(first(graph.output(i)));
  set_layouts(graph, wish.inputs_as, known.inputs, true, notes);
  set_layouts(graph, wish.outputs_as, known.outputs, false, notes);
}

}  // namespace ingot::driver
