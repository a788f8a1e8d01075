// Inputs and outputs of the model.
#include "ingot/frontends/torch/interface.h"

#include <fmt/format.h>

#include "ingot/base/checked.h"
#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {
namespace {

using script::Expr;

Item fixed_number(DType elem, double value) {
  if (elem == DType::boolean) return value != 0;
  return elem == DType::i64 ? Item(saturate_cast<std::int64_t>(value)) : Item(value);
}

Item input(Translation& t, const std::string& name, DType elem, bool is_number, std::vector<InputFacts>& facts) {
  InputFacts& known = facts_of(facts, name);
  if (known.value) {
    if (is_number) return fixed_number(elem, *known.value);
    throw Error(Code::bad_usage, fmt::format("'{}' is a tensor: --input-value fixes numbers", name));
  }
  Type type = Type::tensor(known.dtype == DType::undefined ? elem : known.dtype);
  if (is_number) type.shape = Shape();
  if (known.shape) type.shape = known.shape;
  if (type.shape)
    for (std::size_t i = 0; i < type.shape->size(); ++i)
      if ((*type.shape)[i].is_unknown()) (*type.shape)[i] = Dim::symbol(fmt::format("{}_{}", name, i));
  Value* value = t.main().add_input(t.main().fresh_name(name), std::move(type));
  value->is_declared = true;
  if (is_number) return Scalar{value};
  t.assume(value, known.dtype == DType::undefined);
  return value;
}

/// Code does not tell the types of tensors: they are taken to be that of the weights, if those have one.
DType type_of_weights(const Graph& graph) {
  DType common = DType::undefined;
  for (const Value* v : graph.initializers()) {
    if (!v->initializer || !is_float(v->initializer->dtype())) continue;
    const DType type = v->initializer->dtype();
    if (common != DType::undefined && common != type) return DType::f32;
    common = type;
  }
  return common == DType::undefined ? DType::f32 : common;
}

Item input_of_type(Translation& t, const std::string& name, const Expr* type, std::vector<InputFacts>& facts) {
  const std::string plain = type ? script::dotted(*type) : "Tensor";
  if (plain == "Tensor") return input(t, name, type_of_weights(t.main()), false, facts);
  if (plain == "int") return input(t, name, DType::i64, true, facts);
  if (plain == "float") return input(t, name, DType::f64, true, facts);
  if (plain == "bool") return input(t, name, DType::boolean, true, facts);
  if (type->kind == Expr::Kind::subscript) {
    const std::string outer = script::dotted(*type->parts[0]);
    const Expr& inner = *type->parts[1];
    if (outer == "Optional") return input_of_type(t, name, &inner, facts);
    if (outer == "List") {
      // As many as shapes are told of, or one.
      std::size_t count = 1;
      const auto is_told = [&](std::size_t i) {
        return std::ranges::find(facts, fmt::format("{}_{}", name, i), &InputFacts::name) != facts.end();
      };
      while (is_told(count)) ++count;
      std::vector<Item> parts;
      for (std::size_t i = 0; i < count; ++i)
        parts.push_back(input_of_type(t, fmt::format("{}_{}", name, i), &inner, facts));
      t.notes.add(fmt::format("the list '{}' has {} elements; shapes of '{}_0', '{}_1' ... tell another number", name,
                              count, name, name));
      return Item::list(std::move(parts));
    }
    if (outer == "Dict" && inner.kind == Expr::Kind::tuple && inner.parts.size() == 2 &&
        script::dotted(*inner.parts[0]) == "str") {
      // The entries that shapes are told of, and those that the code turned out to ask for.
      auto dict = std::make_shared<DictBody>();
      dict->input = name;
      std::vector<std::string> keys;
      for (const InputFacts& fact : facts)
        if (fact.name.starts_with(name + "_")) keys.push_back(fact.name.substr(name.size() + 1));
      for (const std::string& key : keys)
        dict->entries.emplace_back(Item(key), input_of_type(t, name + "_" + key, inner.parts[1].get(), facts));
      return Item(DictRef(std::move(dict)));
    }
    if (outer == "Tuple") {
      std::vector<Item> parts;
      const std::size_t count = inner.kind == Expr::Kind::tuple ? inner.parts.size() : 1;
      for (std::size_t i = 0; i < count; ++i)
        parts.push_back(input_of_type(t, fmt::format("{}_{}", name, i),
                                      inner.kind == Expr::Kind::tuple ? inner.parts[i].get() : &inner, facts));
      return Item::tuple(std::move(parts));
    }
  }
  throw Error(Code::unsupported_setting,
              fmt::format("the argument '{}' has a type that no input of a model can have", name));
}

void add_output(Translation& t, Value* value, const std::string& name) {
  Graph& graph = t.main();
  bool is_own = value->producer() && &value->graph() == &graph;
  for (const Use& use : value->uses()) is_own &= use.node != nullptr;
  if (!is_own) value = t.g().op("Identity", {value});
  if (value->name() != name) {
    if (Value* other = graph.find(name)) {
      if (other->is_input())
        graph.rename(value, graph.fresh_name(name + "_out"));
      else
        graph.rename(other, graph.fresh_name(name + "_inner"));
    }
    if (!graph.find(name)) graph.rename(value, graph.fresh_name(name));
  }
  value->is_declared = true;
  graph.add_output(value);
}

void add_outputs(Translation& t, const Item& result, const std::string& name, bool is_whole) {
  t.spend(1'000);
  if (const TensorRef* tensor = result.get<TensorRef>()) {
    if ((*tensor)->is_complex)
      t.notes.add(fmt::format("'{}' is complex: real and imaginary parts stand along one more axis, the last", name));
    return add_output(t, t.read(*tensor), name);
  }
  if (result.is_number()) return add_output(t, t.value_of(result), name);
  if (result.is_none()) return;
  const auto named = [&](std::size_t i) { return fmt::format("{}_{}", name, i); };
  if (const Tuple* tuple = result.get<Tuple>()) {
    for (std::size_t i = 0; i < tuple->items->size(); ++i) {
      const bool has_name = tuple->type && i < tuple->type->fields.size() && is_whole;
      add_outputs(t, (*tuple->items)[i], has_name ? tuple->type->fields[i].name : named(i), false);
    }
    return;
  }
  if (const ListRef* list = result.get<ListRef>()) {
    for (std::size_t i = 0; i < (*list)->items.size(); ++i) add_outputs(t, (*list)->items[i], named(i), false);
    if ((*list)->rolled)
      throw Error(Code::unsupported_setting, "the result is a list of a length that only the run knows");
    return;
  }
  if (const DictRef* dict = result.get<DictRef>()) {
    for (std::size_t i = 0; i < (*dict)->entries.size(); ++i) {
      const auto* key = (*dict)->entries[i].first.get<std::string>();
      add_outputs(t, (*dict)->entries[i].second, key && is_whole ? *key : named(i), false);
    }
    return;
  }
  throw Error(Code::unsupported_setting, fmt::format("the result '{}' is a {}", name, kind_text(result)));
}

}  // namespace

InputFacts& facts_of(std::vector<InputFacts>& facts, const std::string& name) {
  const auto found = std::ranges::find(facts, name, &InputFacts::name);
  if (found != facts.end()) return *found;
  facts.push_back({.name = name});
  return facts.back();
}

Item make_input(Translation& t, const script::Parameter& parameter, std::vector<InputFacts>& facts) {
  return input_of_type(t, parameter.name, parameter.type.get(), facts);
}

void add_outputs(Translation& t, const Item& result) { add_outputs(t, result, "output", true); }

void name_outputs(Graph& graph, const std::vector<std::string>& names) {
  if (names.size() != graph.outputs().size()) return;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Value* output = graph.outputs()[i];
    if (names[i].empty() || output->name() == names[i]) continue;
    Value* other = graph.find(names[i]);
    if (other && (other->is_input() || other->initializer)) continue;
    if (other) graph.rename(other, graph.fresh_name(names[i] + "_inner"));
    graph.rename(output, names[i]);
  }
}

void put_state_last(Graph& graph) {
  std::vector<Value*> state;
  for (Value* input : graph.inputs())
    if (input->initializer) state.push_back(input);
  for (Value* input : state) {
    graph.set_is_input(input, false);
    graph.set_is_input(input, true);
    input->is_declared = true;
  }
}

void add_state_output(Translation& t, const std::string& name, Value* now) { add_output(t, now, name + ".next"); }

}  // namespace ingot::frontends::torch
