// Every version of every operator with its optional inputs left out, at the end and in between, in every operator set.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ingot/base/error.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/decompose.h"
#include "ingot/passes/infer.h"
#include "tests/support/survival.h"

namespace ingot {
namespace {

using ops::AttrSchema;
using ops::ParamOption;
using ops::ParamSchema;
using ops::Schema;

/// A type that the parameter allows, float where it may be.
Type allowed_type(const ParamSchema& formal, bool is_shaped) {
  const std::optional<Shape> shape = is_shaped ? std::optional(Shape{2, 3, 4}) : std::nullopt;
  for (const DType elem : {DType::f32, DType::i64, DType::boolean, DType::string, DType::u8, DType::i8, DType::i32}) {
    Type type = Type::tensor(elem);
    type.shape = shape;
    if (formal.type->allows(type)) return type;
    Type list = Type::sequence(type);
    if (formal.type->allows(list)) return list;
  }
  return {};
}

/// A required attribute with some value.
Attribute some_attribute(const AttrSchema& schema, Graph& parent) {
  std::string name(schema.name);
  switch (schema.type) {
    case AttrType::int_:
      return {name, AttrValue(std::int64_t{1})};
    case AttrType::float_:
      return {name, AttrValue(1.0f)};
    case AttrType::string:
      return {name, AttrValue(std::string("i"))};
    case AttrType::ints:
      return {name, AttrValue(std::vector<std::int64_t>{1})};
    case AttrType::floats:
      return {name, AttrValue(std::vector<float>{1})};
    case AttrType::strings:
      return {name, AttrValue(std::vector<std::string>{"a"})};
    case AttrType::tensor:
      return {name, AttrValue(Tensor::ints({1}))};
    case AttrType::graph: {
      auto graph = std::make_unique<Graph>(&parent);
      graph->name = "body";
      return {name, AttrValue(GraphPtr(std::move(graph)))};
    }
    default:
      return {name, AttrValue(Type::tensor(DType::f32))};
  }
}

enum class Form { shaped, unshaped, constant };

/// One node of this version; `given` says which inputs there are. Those that are absent at the end are blank or
/// dropped.
Model model_of(const Schema& schema, const std::vector<bool>& given, bool is_dropped, Form form) {
  Model model;
  model.ir_version = 10;
  model.opsets.set(schema.domain, schema.since);
  if (!schema.domain.empty()) model.opsets.set("", ops::newest_opset(""));
  Graph& graph = *model.graph;
  graph.name = "g";
  Node* node = graph.add_node(std::string(schema.name), std::string(schema.domain));
  for (const AttrSchema& a : schema.attributes)
    if (a.required) node->attributes.append(some_attribute(a, graph));
  std::size_t count = given.size();
  while (is_dropped && count && !given[count - 1]) --count;
  for (std::size_t i = 0; i < count; ++i) {
    Value* value = nullptr;
    const std::string name = "x" + std::to_string(i);
    const Type type = allowed_type(*schema.input(i), form == Form::shaped);
    if (given[i] && form == Form::constant && type.is_tensor() && type.elem != DType::string)
      value = graph.add_initializer(name, Tensor::scalar(1, type.elem).reshaped({1}));
    else if (given[i])
      value = graph.add_input(name, type);
    node->set_input(i, value);
  }
  const int outputs = std::max(1, schema.min_outputs);
  for (int i = 0; i < outputs; ++i) {
    const std::string name = "y" + std::to_string(i);
    graph.add_output(node->add_output(name));
  }
  return model;
}

/// Which inputs are given: all, only the required ones, and all but each of the optional ones.
std::vector<std::vector<bool>> choices(const Schema& schema) {
  const std::size_t count = schema.inputs.size();
  std::vector<bool> all(count, true), required(count);
  for (std::size_t i = 0; i < count; ++i) required[i] = schema.inputs[i].option != ParamOption::optional;
  std::vector<std::vector<bool>> made = {all, required};
  for (std::size_t i = 0; i < count; ++i) {
    if (required[i]) continue;
    made.push_back(all);
    made.back()[i] = false;
    made.push_back(required);
    made.back()[i] = true;
  }
  std::ranges::sort(made);
  made.erase(std::unique(made.begin(), made.end()), made.end());
  return made;
}

/// All operator sets around which something changes for the operator, and some where much does for others.
std::set<int> opsets_of(const Schema& schema) {
  std::set<int> opsets;
  const int newest = ops::newest_opset(schema.domain);
  for (const Schema& version : ops::versions_of(schema.domain, schema.name))
    opsets.insert({std::max(1, version.since - 1), version.since});
  for (const int opset : {1, 6, 7, 9, 11, 13, 18, newest})
    if (opset <= newest) opsets.insert(opset);
  return opsets;
}

void convert(const Model& model, std::string_view domain, int opset) {
  Model copy = model.clone();
  OpsetImports targets;
  targets.set(domain, opset);
  try {
    passes::convert_version(copy, targets);
  } catch (const Error& error) {
    if (error.exit_code() == 70) throw;
  }
}

void decompose(const Model& model) {
  Model copy = model.clone();
  try {
    passes::canonicalize(copy);
    passes::decompose(copy, [](const Node&) { return false; });
  } catch (const Error& error) {
    if (error.exit_code() == 70) throw;
  }
}

/// What is tried of one version, in words, until something dies.
std::string death_in(const Schema& schema) {
  return test::death_of([&](const test::Say& say) {
    for (const auto& given : choices(schema))
      for (const bool is_dropped : {true, false}) {
        if (!is_dropped && std::ranges::find(given, false) == given.end()) continue;
        for (const Form form : {Form::shaped, Form::unshaped, Form::constant}) {
          const Model model = model_of(schema, given, is_dropped, form);
          std::string text = std::string(schema.name) + "-" + std::to_string(schema.since) + " (";
          for (const bool is_given : given) text += is_given ? 'x' : '-';
          text += is_dropped ? ", dropped" : ", blank";
          text += form == Form::shaped ? ", shaped)" : form == Form::constant ? ", constant)" : ")";
          for (const int opset : opsets_of(schema)) {
            say(text + " to " + std::to_string(opset));
            convert(model, schema.domain, opset);
          }
          say(text + " decomposed");
          decompose(model);
        }
      }
  });
}

TEST(AbsentInputs, NoOperatorSetsStepsOrDecompositionsFailOnThem) {
  for (const Schema& schema : ops::all_schemas()) EXPECT_EQ(death_in(schema), "");
}

}  // namespace
}  // namespace ingot
