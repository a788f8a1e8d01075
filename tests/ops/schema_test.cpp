// The operator table: that it is complete, consistent in itself, and right where we looked it up by hand.
#include "ingot/ops/schema.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ingot/ir/type.h"

namespace ingot::ops {
namespace {

const TypeConstraint& input_type(std::string_view name, std::int64_t opset, std::size_t i) {
  return *schema_for("", name, opset)->inputs[i].type;
}

TEST(Schema, CountsAllVersionsAndOperators) {
  EXPECT_EQ(all_schemas().size(), 642U);
  std::map<std::string_view, std::set<std::string_view>> names;
  for (const Schema& s : all_schemas()) names[s.domain].insert(s.name);
  EXPECT_EQ(names[""].size(), 203U);
  EXPECT_EQ(names["ai.onnx.ml"].size(), 19U);
  EXPECT_EQ(names["ai.onnx.preview"].size(), 1U);
  EXPECT_EQ(names["ai.onnx.preview.training"].size(), 4U);
  EXPECT_EQ(names.size(), 4U);
}

TEST(Schema, TableIsSortedAndEveryRowIsFound) {
  const auto key = [](const Schema& s) { return std::tuple(s.domain, s.name, s.since); };
  const auto all = all_schemas();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Schema& s = all[i];
    EXPECT_TRUE(i == 0 || key(all[i - 1]) < key(s)) << s.name;
    EXPECT_EQ(schema_for(s.domain, s.name, s.since), &s) << s.name;
    const auto versions = versions_of(s.domain, s.name);
    ASSERT_FALSE(versions.empty());
    EXPECT_TRUE(&s >= &versions.front() && &s <= &versions.back());
    EXPECT_EQ(newest_schema(s.domain, s.name), &versions.back());
    EXPECT_LE(s.since, newest_opset(s.domain));
  }
}

TEST(Schema, RowsAgreeWithThemselves) {
  for (const Schema& s : all_schemas()) {
    SCOPED_TRACE(testing::Message() << s.domain << ' ' << s.name << ' ' << s.since);
    EXPECT_LE(s.min_inputs, s.max_inputs);
    EXPECT_LE(s.min_outputs, s.max_outputs);
    EXPECT_FALSE(s.outputs.empty());
    std::set<std::string_view> attributes;
    for (const AttrSchema& a : s.attributes) {
      EXPECT_TRUE(attributes.insert(a.name).second) << a.name;
      EXPECT_FALSE(a.required && a.has_default) << a.name;
      EXPECT_NE(a.type, AttrType::undefined) << a.name;
      EXPECT_EQ(s.attribute(a.name), &a);
    }
    for (const auto& [parameters, low, high] :
         {std::tuple(s.inputs, s.min_inputs, s.max_inputs), std::tuple(s.outputs, s.min_outputs, s.max_outputs)}) {
      for (const ParamSchema& p : parameters) {
        EXPECT_FALSE(p.type->str().empty()) << p.name;
        EXPECT_TRUE(p.option != ParamOption::variadic || &p == &parameters.back()) << p.name;
      }
      const bool open = !parameters.empty() && parameters.back().option == ParamOption::variadic;
      EXPECT_EQ(high, open ? kUnbounded : static_cast<int>(parameters.size()));
      // Optional parameters at the end can be left out; before a variadic one, ONNX wants them spelt.
      int needed = 0;
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i].option != ParamOption::optional) needed = static_cast<int>(i) + parameters[i].min_arity;
      }
      EXPECT_EQ(low, needed);
    }
    for (const int count : s.allowed_output_counts) {
      EXPECT_GE(count, s.min_outputs);
      EXPECT_LE(count, s.max_outputs);
    }
    EXPECT_TRUE(s.has_function_body || !s.body_depends_on_context);
  }
}

TEST(Schema, FindsTheVersionInForce) {
  EXPECT_EQ(schema_for("", "Softmax", 12)->since, 11);
  EXPECT_EQ(schema_for("", "Softmax", 13)->since, 13);
  EXPECT_EQ(schema_for("ai.onnx", "Softmax", 1)->since, 1);
  EXPECT_EQ(schema_for("", "Softmax", 0), nullptr);
  EXPECT_EQ(schema_for("", "Gelu", 19), nullptr);
  EXPECT_EQ(schema_for("", "Gelu", 20)->since, 20);
  EXPECT_EQ(schema_for("", "Relu", 1'000'000'000'000)->since, newest_schema("", "Relu")->since);
  std::vector<int> since;
  for (const Schema& s : versions_of("", "Softmax")) since.push_back(s.since);
  EXPECT_THAT(since, testing::ElementsAre(1, 11, 13));
}

TEST(Schema, UnknownOperatorsAreNotFound) {
  EXPECT_TRUE(versions_of("", "softmax").empty());
  EXPECT_TRUE(versions_of("", "").empty());
  EXPECT_TRUE(versions_of("com.example", "Gelu").empty());
  EXPECT_TRUE(versions_of("ai.onnx.ml", "Relu").empty());
  EXPECT_EQ(newest_schema("", "Nothing"), nullptr);
  EXPECT_EQ(schema_for("ai.onnx.ml", "Relu", 5), nullptr);
}

TEST(Schema, KnowsTheStandardDomains) {
  EXPECT_EQ(newest_opset(""), 28);
  EXPECT_EQ(newest_opset("ai.onnx"), 28);
  EXPECT_EQ(newest_opset("ai.onnx.ml"), 5);
  EXPECT_EQ(newest_opset("ai.onnx.training"), 1);
  EXPECT_EQ(newest_opset("ai.onnx.preview.training"), 1);
  EXPECT_EQ(newest_opset("com.microsoft"), 0);
  EXPECT_TRUE(is_standard_domain("ai.onnx"));
  EXPECT_FALSE(is_standard_domain("ingot"));
}

TEST(Schema, AttributesHaveTypesAndDefaults) {
  const Schema& softmax = *newest_schema("", "Softmax");
  ASSERT_NE(softmax.attribute("axis"), nullptr);
  EXPECT_EQ(softmax.attribute("axis")->type, AttrType::int_);
  EXPECT_TRUE(softmax.attribute("axis")->has_default);
  EXPECT_EQ(softmax.attribute("axis")->int_default, -1);
  EXPECT_EQ(schema_for("", "Softmax", 1)->attribute("axis")->int_default, 1);
  EXPECT_EQ(softmax.attribute("alpha"), nullptr);

  EXPECT_EQ(newest_schema("", "LeakyRelu")->attribute("alpha")->float_default, 0.01F);
  EXPECT_EQ(newest_schema("", "Clip")->attribute("min"), nullptr);
  EXPECT_EQ(schema_for("", "Clip", 6)->attribute("max")->float_default, std::numeric_limits<float>::max());
  EXPECT_EQ(newest_schema("", "Conv")->attribute("auto_pad")->string_default, "NOTSET");
  EXPECT_FALSE(newest_schema("", "Conv")->attribute("pads")->has_default);
  EXPECT_TRUE(newest_schema("", "Cast")->attribute("to")->required);
  EXPECT_EQ(newest_schema("", "If")->attribute("then_branch")->type, AttrType::graph);
  EXPECT_EQ(newest_schema("", "Constant")->attribute("sparse_value")->type, AttrType::sparse_tensor);
  EXPECT_EQ(newest_schema("", "Optional")->attribute("type")->type, AttrType::type_proto);
  EXPECT_THAT(newest_schema("", "MeanVarianceNormalization")->attribute("axes")->ints_default,
              testing::ElementsAre(0, 2, 3));
  EXPECT_THAT(newest_schema("", "RNN")->attribute("activations")->strings_default,
              testing::ElementsAre("Tanh", "Tanh"));
}

TEST(Schema, ParametersHaveArityAndVariables) {
  const Schema& conv = *newest_schema("", "Conv");
  ASSERT_EQ(conv.inputs.size(), 3U);
  EXPECT_EQ(conv.inputs[2].option, ParamOption::optional);
  EXPECT_EQ(conv.inputs[0].type, conv.outputs[0].type);
  EXPECT_EQ(conv.min_inputs, 2);
  EXPECT_EQ(conv.input(2), &conv.inputs[2]);
  EXPECT_EQ(conv.input(3), nullptr);

  const Schema& concat = *newest_schema("", "Concat");
  EXPECT_EQ(concat.inputs[0].option, ParamOption::variadic);
  EXPECT_TRUE(concat.inputs[0].homogeneous);
  EXPECT_EQ(concat.max_inputs, kUnbounded);
  EXPECT_EQ(concat.input(1000), &concat.inputs[0]);

  const Schema& loop = *newest_schema("", "Loop");
  EXPECT_FALSE(loop.inputs[2].homogeneous);
  EXPECT_EQ(loop.inputs[2].min_arity, 0);

  const Schema& gather = *newest_schema("", "Gather");
  EXPECT_EQ(gather.inputs[0].differentiable, Differentiable::yes);
  EXPECT_EQ(gather.inputs[1].differentiable, Differentiable::no);
  EXPECT_EQ(schema_for("", "Gather", 1)->inputs[0].differentiable, Differentiable::unstated);
  EXPECT_NE(gather.inputs[0].type, gather.inputs[1].type);
}

TEST(Schema, MarksWhatIsSpecial) {
  EXPECT_TRUE(newest_schema("", "Upsample")->deprecated);
  EXPECT_TRUE(schema_for("", "Upsample", 1)->experimental);
  EXPECT_FALSE(schema_for("", "Upsample", 9)->deprecated);
  EXPECT_TRUE(newest_schema("ai.onnx.ml", "TreeEnsembleRegressor")->deprecated);
  EXPECT_TRUE(newest_schema("ai.onnx.preview", "FlexAttention")->experimental);
  EXPECT_TRUE(newest_schema("", "Gelu")->body_depends_on_context);
  EXPECT_TRUE(newest_schema("", "HardSwish")->has_function_body);
  EXPECT_FALSE(newest_schema("", "HardSwish")->body_depends_on_context);
  EXPECT_FALSE(newest_schema("", "Conv")->has_function_body);
  EXPECT_TRUE(newest_schema("", "LayerNormalization")->unchecked_attributes);
  EXPECT_THAT(newest_schema("", "BatchNormalization")->allowed_output_counts, testing::ElementsAre(1, 3));
  EXPECT_THAT(schema_for("", "BatchNormalization", 9)->allowed_output_counts, testing::ElementsAre(1, 5));
  EXPECT_TRUE(newest_schema("", "Conv")->allowed_output_counts.empty());
  EXPECT_EQ(std::ranges::count_if(all_schemas(), &Schema::deprecated), 5);
  EXPECT_EQ(std::ranges::count_if(all_schemas(), &Schema::has_function_body), 72);
  EXPECT_EQ(std::ranges::count_if(all_schemas(), &Schema::body_depends_on_context), 32);
}

TEST(TypeConstraint, AllowsElementTypes) {
  EXPECT_TRUE(input_type("Relu", 6, 0).allows(Type::tensor(DType::f32)));
  EXPECT_FALSE(input_type("Relu", 6, 0).allows(Type::tensor(DType::i32)));
  EXPECT_TRUE(input_type("Relu", 14, 0).allows(Type::tensor(DType::i32, Shape{2, 3})));
  EXPECT_FALSE(input_type("Relu", 14, 0).allows(Type::sequence(Type::tensor(DType::f32))));
  EXPECT_FALSE(input_type("Relu", 14, 0).allows(Type::sparse_tensor(DType::f32)));
  EXPECT_EQ(input_type("Relu", 6, 0).str(), "tensor(float), tensor(float16), tensor(double)");
}

TEST(TypeConstraint, TakesWhatIsNotKnownToFit) {
  EXPECT_TRUE(input_type("Relu", 14, 0).allows(Type()));
  EXPECT_TRUE(input_type("Relu", 14, 0).allows(Type::tensor(DType::undefined)));
  EXPECT_TRUE(input_type("SequenceLength", 11, 0).allows(Type::sequence(Type())));
  EXPECT_FALSE(input_type("Relu", 14, 0).allows(Type::sequence(Type())));
  EXPECT_TRUE(input_type("OptionalHasElement", 15, 0).allows(Type::optional(Type())));
}

TEST(TypeConstraint, AllowsNestedTypes) {
  const TypeConstraint& has_element = input_type("OptionalHasElement", 15, 0);
  EXPECT_TRUE(has_element.allows(Type::optional(Type::tensor(DType::f32))));
  EXPECT_TRUE(has_element.allows(Type::optional(Type::sequence(Type::tensor(DType::f32)))));
  EXPECT_FALSE(has_element.allows(Type::tensor(DType::f32)));
  EXPECT_TRUE(input_type("OptionalHasElement", 18, 0).allows(Type::tensor(DType::f32)));

  const TypeConstraint& cast_map = *newest_schema("ai.onnx.ml", "CastMap")->inputs[0].type;
  EXPECT_TRUE(cast_map.allows(Type::map(DType::i64, Type::tensor(DType::f32))));
  EXPECT_FALSE(cast_map.allows(Type::map(DType::string, Type::tensor(DType::f32))));
  EXPECT_FALSE(cast_map.allows(Type::map(DType::i64, Type::tensor(DType::f64))));
  EXPECT_EQ(cast_map.str(), "map(int64, string), map(int64, float)");
  const TypeConstraint& zip_map = *newest_schema("ai.onnx.ml", "ZipMap")->outputs[0].type;
  EXPECT_TRUE(zip_map.allows(Type::sequence(Type::map(DType::string, Type::tensor(DType::f32)))));
  EXPECT_FALSE(zip_map.allows(Type::map(DType::string, Type::tensor(DType::f32))));
}

TEST(TypeConstraint, NamesTheOnlyTensorType) {
  EXPECT_EQ(input_type("Reshape", 13, 1).only_tensor_type(), DType::i64);
  EXPECT_EQ(newest_schema("", "Shape")->outputs[0].type->only_tensor_type(), DType::i64);
  EXPECT_EQ(input_type("Relu", 14, 0).only_tensor_type(), std::nullopt);
  EXPECT_EQ(newest_schema("", "Resize")->inputs[2].type->name, "tensor(float)");
}

}  // namespace
}  // namespace ingot::ops
