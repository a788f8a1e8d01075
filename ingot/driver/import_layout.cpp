// The layout of imported models: few transposes, and inputs and outputs as they were or as the user wants them.
#include "ingot/driver/import_layout.h"

#include <algorithm>
#include <cctype>

#include "ingot/base/error.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ir/source_notes.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/infer_calls.h"
#include "ingot/passes/layout/layout.h"
#include "ingot/passes/move_quantized.h"
#include "ingot/passes/nhwc_functions.h"

namespace ingot::driver {
namespace {

std::string name_of(Layout layout, std::size_t rank) {
  const std::string spatial = rank == 3 ? "W" : rank == 4 ? "HW" : "DHW";
  return layout == Layout::channels_first ? "NC" + spatial : "N" + spatial + "C";
}

std::size_t rank_of(const Value* value) { return value->type.shape ? value->type.shape->size() : 0; }

bool may_have_channels(const Value& value) {
  const std::size_t rank = value.type.is_tensor() && !value.initializer ? rank_of(&value) : 0;
  return rank >= 3 && rank <= 5;
}

using Known = std::vector<std::optional<Layout>>;

/// Changes the layout of inputs, or outputs, that is not as wished; `known` follows.
void set_layouts(Graph& graph, std::optional<Layout> wish, Known& known, bool are_inputs,
                 std::vector<std::string>& notes) {
  if (!wish) return;
  const std::string what = are_inputs ? "input" : "output";
  bool has_any = false;
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Value* value = are_inputs ? graph.inputs()[i] : graph.output(i);
    const std::string port = what + " '" + value->name() + "'";
    if (!known[i]) {
      if (may_have_channels(*value)) unknown.push_back(port + ", " + value->type.str());
      continue;
    }
    has_any = true;
    const auto note = [&](const char* when) {
      notes.push_back("layout: " + port + " is " + name_of(*wish, rank_of(value)) + when);
    };
    if (*known[i] == *wish) {
      note(" already");
      continue;
    }
    const bool changed = are_inputs ? passes::set_input_layout(graph, i, *known[i], *wish)
                                    : passes::set_output_layout(graph, i, *known[i], *wish);
    if (!changed) continue;
    known[i] = wish;
    value = are_inputs ? graph.inputs()[i] : graph.output(i);
    note(" now");
  }
  if (!has_any && !unknown.empty())
    throw Error(Code::bad_usage, "where the channels of " + unknown.front() + " are cannot be known")
        .hint("leave " + std::string(are_inputs ? "--inputs-as" : "--outputs-as") +
              " out, or state the layout: property " + std::string(kLayoutProperty) + "NAME = NHWC or NCHW");
  for (const std::string& port : unknown)
    notes.push_back("layout: " + port + ", stays: nothing tells where its channels are");
  if (!has_any) notes.push_back("layout: no " + what + " has channels: all stay as they are");
}

void set_property(Model& model, const std::string& key, const std::string& text) {
  for (auto& [name, value] : model.metadata)
    if (name == key) {
      value = text;
      return;
    }
  model.metadata.emplace_back(key, text);
}

std::optional<Layout> stated_layout(const Model& model, const Value& value) {
  std::string word(note_of(model.metadata, std::string(kLayoutProperty) + value.name()));
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word.size() == rank_of(&value) ? passes::layout_by_name(word) : std::nullopt;
}

void write_properties(Model& model, const passes::PortLayouts& known) {
  const auto write = [&](const Value* value, std::optional<Layout> layout) {
    if (layout && rank_of(value) >= 3)
      set_property(model, std::string(kLayoutProperty) + value->name(), name_of(*layout, rank_of(value)));
  };
  for (std::size_t i = 0; i < known.inputs.size(); ++i) write(model.graph->inputs()[i], known.inputs[i]);
  for (std::size_t i = 0; i < known.outputs.size(); ++i)
    if (!model.graph->output(i)->is_input()) write(model.graph->output(i), known.outputs[i]);
}

}  // namespace

void settle_layout(Model& model, const LayoutWish& wish, bool keeps_nhwc, std::vector<std::string>& notes) {
  Graph& graph = *model.graph;
  passes::PortLayouts known = passes::port_layouts(graph);
  set_layouts(graph, wish.inputs_as, known.inputs, true, notes);
  set_layouts(graph, wish.outputs_as, known.outputs, false, notes);
  std::vector<Graph*> graphs{&graph};
  for (const auto& function : model.functions) graphs.push_back(function->body.get());
  if (keeps_nhwc)
    notes.push_back("layout: " + std::to_string(passes::use_nhwc_functions(model)) +
                    " operators keep channels last, as functions of " + std::string(passes::kNhwcDomain));
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

passes::PortLayouts known_layouts(const Model& model) {
  // Operators tell in their newest form only.
  Model copy = model.clone();
  ops::InferSession session;
  session.on_error = [](const Node&, const Error&) {};
  passes::prepare(session, copy);
  std::vector<passes::Obstacle> obstacles;
  passes::canonicalize(copy, session, obstacles);
  passes::PortLayouts known = passes::port_layouts(*copy.graph);
  const auto settle = [&](const Value* value, std::optional<Layout>& layout) {
    if (!may_have_channels(*value))
      layout.reset();
    else if (const auto stated = stated_layout(model, *value))
      layout = stated;
  };
  const auto inputs = model.graph->inputs();
  for (std::size_t i = 0; i < known.inputs.size(); ++i) settle(inputs[i], known.inputs[i]);
  for (std::size_t i = 0; i < known.outputs.size(); ++i) settle(model.graph->output(i), known.outputs[i]);
  return known;
}

void wish_layout(Model& model, const LayoutWish& wish, std::vector<std::string>& notes) {
  if (!wish.inputs_as && !wish.outputs_as) return;
  passes::PortLayouts known = known_layouts(model);
  set_layouts(*model.graph, wish.inputs_as, known.inputs, true, notes);
  set_layouts(*model.graph, wish.outputs_as, known.outputs, false, notes);
  write_properties(model, known);
}

void rename_layouts(Model& model, const std::vector<std::pair<std::string, std::string>>& renames) {
  for (auto& [key, value] : model.metadata)
    for (const auto& [before, after] : renames)
      if (key == std::string(kLayoutProperty) + before) {
        key = std::string(kLayoutProperty) + after;
        break;
      }
}

}  // namespace ingot::driver
