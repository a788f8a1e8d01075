// Graphs of torch.export: nodes are calls of ATen's operators, and nothing is left to follow.
#include "ingot/frontends/torch/exported_graph.h"

#include <fmt/format.h>

#include <array>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/torch/scalar_type.h"
#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {
namespace {

namespace files = formats::torch;

/// What Python's own functions of symbolic numbers are called in this table.
struct PythonName {
  std::string_view python, own;
};
constexpr PythonName kPythonNames[] = {
    {"_sym_sqrt", "sqrt"},      {"and_", "__and__"},      {"int", "Int"},           {"float", "Float"},
    {"mod", "remainder"},       {"not_", "__not__"},      {"or_", "__or__"},        {"sym_float", "Float"},
    {"sym_int", "Int"},         {"sym_max", "max"},       {"sym_min", "min"},       {"sym_not", "__not__"},
    {"sym_sqrt", "sqrt"},       {"sym_sum", "sum"},       {"truediv", "div"},       {"trunc", "Int"},
    {"PythonMod", "remainder"}, {"FloorDiv", "floordiv"}, {"lshift", "__lshift__"}, {"rshift", "__rshift__"},
};

/// Checks that say nothing about what is computed.
constexpr std::array<std::string_view, 8> kChecks = {"_assert_async",
                                                     "_assert_scalar",
                                                     "_assert_tensor_metadata",
                                                     "_functional_assert_async",
                                                     "_functional_assert_scalar",
                                                     "sym_constrain_range",
                                                     "sym_constrain_range_for_size",
                                                     "_functional_sym_constrain_range"};

std::string own_name(std::string_view python) {
  for (const PythonName& row : kPythonNames)
    if (row.python == python) return std::string(row.own);
  return std::string(python);
}

}  // namespace

Item ExportedGraph::item(const Argument& argument) const {
  using Kind = Argument::Kind;
  switch (argument.kind) {
    case Kind::tensor:
    case Kind::symbol: {
      const auto found = values_.find(argument.text);
      if (found != values_.end()) return found->second;
      throw Error(Code::bad_source_graph, fmt::format("'{}' has no value", argument.text));
    }
    case Kind::integer:
      return argument.integer;
    case Kind::real:
      return argument.real;
    case Kind::boolean:
      return argument.integer != 0;
    case Kind::text:
      return Item(argument.text);
    case Kind::scalar_type:
      return files::number_of(files::dtype_of_export_number(argument.integer));
    case Kind::list: {
      std::vector<Item> parts;
      for (const Argument& part : argument.parts) parts.push_back(item(part));
      return Item::list(std::move(parts));
    }
    default:
      return {};
  }
}

void ExportedGraph::run(const files::ExportedGraph& graph) {
  for (const Node& node : graph.nodes) {
    if (t_.budget()) t_.budget()->poll();
    translate(node);
  }
}

void ExportedGraph::translate(const Node& node) {
  const std::string label = node.outputs.empty() ? node.target : node.outputs[0].text;
  t_.name_after(node.module.empty() ? label : node.module + "." + label, "");
  std::string_view target = node.target;
  if (target.starts_with("torch.ops.higher_order.")) return assign(node.outputs, higher_order(target.substr(23), node));
  std::string name;
  const bool is_operator = target.starts_with("torch.ops.");
  if (is_operator) {
    name = target.substr(10);
    name = name.starts_with("aten.") ? name.substr(5) : name.replace(std::min(name.find('.'), name.size()), 1, "::");
    name = name.substr(0, name.find('.'));
  } else {
    name = own_name(target.substr(target.rfind('.') + 1));
  }
  if (std::ranges::find(kChecks, name) != kChecks.end()) return;
  std::vector<Item> args;
  std::vector<std::pair<std::string, Item>> named;
  for (const files::NamedArgument& input : node.inputs) {
    if (input.value.kind == Argument::Kind::other) continue;
    // The numbers of arange are told apart by how many there are.
    if (!is_operator || (name == "arange" && input.name != "dtype"))
      args.push_back(item(input.value));
    else
      named.emplace_back(input.name, item(input.value));
  }
  assign(node.outputs, t_.call(name, std::move(args), named));
}

void ExportedGraph::assign(const std::vector<Argument>& outputs, const Item& result) {
  const std::vector<Item>* parts = nullptr;
  if (const Tuple* tuple = result.get<Tuple>()) parts = tuple->items.get();
  if (const ListRef* list = result.get<ListRef>()) parts = &(*list)->items;
  const std::vector<Argument>& names =
      outputs.size() == 1 && outputs[0].kind == Argument::Kind::list ? outputs[0].parts : outputs;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].text.empty()) continue;
    if (!parts)
      values_[names[i].text] = i == 0 ? result : Item(Unknown{});
    else
      values_[names[i].text] = i < parts->size() ? (*parts)[i] : Item(Unknown{});
    // A tensor where the graph has a number: its only element.
    if (names[i].kind == Argument::Kind::symbol && values_[names[i].text].is_tensor())
      values_[names[i].text] = t_.call("item", {values_[names[i].text]});
  }
}

}  // namespace ingot::frontends::torch
