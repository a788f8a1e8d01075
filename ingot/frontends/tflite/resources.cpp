// Variables, lookup tables and the subgraph that fills them once.
#include <fmt/format.h>

#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

const std::string& resource_of(Op& op, std::size_t i) {
  const auto found = op.frame.resources.find(op.input(i));
  op.require(found != op.frame.resources.end(), "it is not known which resource is meant");
  return found->second;
}

Variable& variable_of(Op& op, std::size_t i) {
  const std::string& name = resource_of(op, i);
  Variable& variable = op.import.variables[name];
  variable.name = name;
  return variable;
}

}  // namespace

void call_once(Op& op) {
  const auto index = static_cast<std::size_t>(op.options.get_int("init_subgraph_index"));
  op.require(index < op.import.source.subgraphs.size(), "the subgraph does not exist");
  Frame init(op.import, index, op.b.graph());
  init.is_initializer = true;
  init.translate();
}

void var_handle(Op& op) {
  const std::string name =
      fmt::format("{}{}{}", op.options.get_string("container"), op.options.get_string("container").empty() ? "" : "/",
                  op.options.get_string("shared_name"));
  op.frame.resources[op.source.outputs.at(0)] = name.empty() ? "variable" : name;
}

void read_variable(Op& op) {
  Variable& variable = variable_of(op, 0);
  op.set(0, op.import.read(variable, op.b.graph()));
}

void assign_variable(Op& op) {
  Variable& variable = variable_of(op, 0);
  if (op.frame.is_initializer) {
    const auto first = op.constant(1);
    op.require(first.has_value(), "the first value of a variable must be a constant");
    variable.initial = *first;
    return;
  }
  op.require(op.import.depth == 0, "a variable is written inside of a branch or loop");
  variable.current = op.stored(1);
  variable.is_written = true;
}

void hashtable(Op& op) {
  op.frame.resources[op.source.outputs.at(0)] = fmt::format("table {}", op.options.get_int("table_id"));
}

void hashtable_import(Op& op) {
  const auto keys = op.constant(1), values = op.constant(2);
  op.require(keys && values, "a table must be filled with constants");
  op.import.lookup_tables[resource_of(op, 0)] = {*keys, *values};
}

void hashtable_find(Op& op) {
  const auto found = op.import.lookup_tables.find(resource_of(op, 0));
  op.require(found != op.import.lookup_tables.end(), "the table is never filled");
  const auto otherwise = op.constant(2);
  op.require(otherwise && otherwise->size() == 1, "the default must be a constant");
  Value* keys = op.stored(1);
  const LookupTable& table = found->second;
  op.set(0, op.b.op("LabelEncoder", {keys},
                    {{"keys_tensor", table.keys.reshaped({table.keys.size()})},
                     {"values_tensor", table.values.reshaped({table.values.size()})},
                     {"default_tensor", otherwise->reshaped({1})}}));
}

void hashtable_size(Op& op) {
  const auto found = op.import.lookup_tables.find(resource_of(op, 0));
  op.require(found != op.import.lookup_tables.end(), "the table is never filled");
  op.set(0, op.b.constant(Tensor::of<std::int64_t>({1}, {found->second.keys.size()})));
}

}  // namespace ingot::frontends::tflite
