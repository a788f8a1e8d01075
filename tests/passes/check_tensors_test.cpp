// Initializers, sparse tensors, annotations, metadata and devices.
#include "tests/passes/problems.h"

namespace ingot {
namespace {

using test::problems_in;
using test::problems_of;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kModel =
    R"(<ir_version: 11, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { [n] y = Relu(x) })";

TEST(CheckTensors, OldModelsListInitializersAsInputs) {
  EXPECT_THAT(
      problems_of(R"(<ir_version: 3, opset_import: ["": 8]>
      g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) })"),
      ElementsAre("warning: initializer 'w': IR version 3 wants every initializer to be an input too [IG0316]"));
  EXPECT_THAT(problems_of(R"(<ir_version: 3, opset_import: ["": 8]>
      g (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Add(x, w) })"),
              IsEmpty());
}

TEST(CheckTensors, InputsOfNestedGraphsHaveNoDefaults) {
  EXPECT_THAT(
      problems_in(R"(g (int64 n, bool c, float[2] x) => (float[2] y) {
      [loop] y = Loop (n, c, x) <body = b (int64 i, bool k, float[2] s = {1, 2}) => (bool k2, float[2] t)
                                         { k2 = Identity(k) t = Relu(s) }>
    })"),
      ElementsAre("warning: node 'loop' (Loop), body: input 's': an input of a nested graph must not have a default "
                  "[IG0316]"));
}

TEST(CheckTensors, DefaultsHaveTheTypeOfTheirInput) {
  Model model = onnx::parse_text(kModel);
  model.graph->add_initializer("x", Tensor::of<double>({2}, {1, 2}));
  EXPECT_THAT(problems_of(model), ElementsAre("error: input 'x': it is stated to be float[2], but the initializer is "
                                              "double[2] (tensor(float) is not tensor(double)) [IG0316]"));
}

TEST(CheckTensors, StringsAreUtf8) {
  for (const char* bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "a\xe2\x82"}) {
    Model model = onnx::parse_text(kModel);
    model.graph->add_initializer("s", Tensor::of_strings({3}, {"plain", "\xe2\x82\xac", bad}));
    EXPECT_THAT(problems_of(model),
                ElementsAre("warning: initializer 's': string 2 of the tensor is not UTF-8 [IG0326]"));
  }
}

TEST(CheckTensors, BooleansAreZeroOrOne) {
  Model model = onnx::parse_text(kModel);
  model.graph->add_initializer("b", Tensor(DType::boolean, {2}, Bytes::own(std::string("\x01\x02"))));
  EXPECT_THAT(problems_of(model),
              ElementsAre("warning: initializer 'b': the tensor holds booleans that are neither 0 nor 1 [IG0326]"));
}

std::vector<std::string> with_sparse(Tensor values, Tensor indices, Dims dims) {
  Model model = onnx::parse_text(kModel);
  model.graph->add_sparse_initializer("s", SparseTensor{std::move(values), std::move(indices), std::move(dims), {}});
  return problems_of(model);
}

TEST(CheckTensors, SparseTensorsAreWellFormed) {
  const Tensor two = Tensor::of<float>({2}, {1, 2});
  const auto at = [](std::vector<std::int64_t> places) { return Tensor::ints(places); };
  const auto pairs = [](std::vector<std::int64_t> places) { return Tensor::of<std::int64_t>({2, 2}, places); };
  EXPECT_THAT(with_sparse(two, at({1, 5}), {2, 3}), IsEmpty());
  EXPECT_THAT(with_sparse(two, pairs({0, 2, 1, 0}), {2, 3}), IsEmpty());
  EXPECT_THAT(with_sparse(Tensor::of<float>({0}, std::vector<float>{}), {}, {2, 3}), IsEmpty());
  const std::string start = "error: initializer 's': ";
  EXPECT_THAT(with_sparse(Tensor::of<float>({1, 2}, {1, 2}), at({1, 5}), {2, 3}),
              ElementsAre(start + "the values of the sparse tensor must have rank 1 [IG0325]"));
  EXPECT_THAT(with_sparse(two, at({1, 5}), {}), ElementsAre(start + "the sparse tensor must not be a scalar [IG0325]"));
  EXPECT_THAT(with_sparse(two, at({1, 5}), {2, 0}),
              ElementsAre(start + "the sparse tensor has a dimension that is not positive [IG0325]"));
  EXPECT_THAT(with_sparse(two, at({1, 5}), {std::int64_t{1} << 40, std::int64_t{1} << 40}),
              ElementsAre(start + "the dense size of the sparse tensor overflows [IG0325]"));
  EXPECT_THAT(with_sparse(two, {}, {2, 3}),
              ElementsAre(start + "the sparse tensor has values but no indices [IG0325]"));
  EXPECT_THAT(with_sparse(two, Tensor::of<std::int32_t>({2}, {1, 5}), {2, 3}),
              ElementsAre(start + "the indices of the sparse tensor must be int64 [IG0325]"));
  EXPECT_THAT(
      with_sparse(two, Tensor::of<std::int64_t>({2, 1}, {1, 5}), {2, 3}),
      ElementsAre(start + "the indices of the sparse tensor must have the shape [values] or [values, rank] [IG0325]"));
  EXPECT_THAT(with_sparse(two, at({1, 4, 5}), {2, 3}),
              ElementsAre(start + "the sparse tensor must have as many indices as values [IG0325]"));
  EXPECT_THAT(with_sparse(two, at({1, 6}), {2, 3}),
              ElementsAre(start + "index 6 of value 1 of the sparse tensor lies outside 0 to 5 [IG0325]"));
  EXPECT_THAT(with_sparse(two, pairs({0, 2, 1, 3}), {2, 3}),
              ElementsAre(start + "index 3 of value 1 of the sparse tensor lies outside 0 to 2 [IG0325]"));
  EXPECT_THAT(
      with_sparse(two, at({5, 1}), {2, 3}),
      ElementsAre(start + "the place of value 1 of the sparse tensor does not follow that of value 0 [IG0325]"));
  EXPECT_THAT(
      with_sparse(two, at({4, 4}), {2, 3}),
      ElementsAre(start + "the place of value 1 of the sparse tensor does not follow that of value 0 [IG0325]"));
  EXPECT_THAT(
      with_sparse(two, pairs({1, 0, 0, 2}), {2, 3}),
      ElementsAre(start + "the place of value 1 of the sparse tensor does not follow that of value 0 [IG0325]"));
}

TEST(CheckTensors, TensorsInAttributesAreLookedAtToo) {
  Model model = onnx::parse_text(
      R"(<ir_version: 11, opset_import: ["": 21]> g () => (float[2,3] y) { [n] y = Constant <value = float {1}> () })");
  Node& node = *model.graph->first();
  node.attributes = {};
  SparseTensor sparse{Tensor::of<float>({1}, {1}), Tensor::ints({9}), {2, 3}, {}};
  node.attributes.set({"sparse_value", AttrValue(std::move(sparse))});
  EXPECT_THAT(problems_of(model),
              ElementsAre("error: node 'n' (Constant): index 9 of value 0 of attribute 'sparse_value' "
                          "lies outside 0 to 5 [IG0325]"));
}

TEST(CheckAnnotations, MetadataKeysAreDistinct) {
  Model model = onnx::parse_text(kModel);
  model.metadata = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
  model.graph->first()->metadata = {{"k", "1"}, {"k", "1"}};
  EXPECT_THAT(problems_of(model), ElementsAre("error: model: metadata key 'a' stands twice [IG0319]",
                                              "warning: node 'n' (Relu): metadata key 'k' stands twice [IG0319]"));
}

TEST(CheckAnnotations, QuantizationNamesValuesOfTheGraph) {
  Model model = onnx::parse_text(kModel);
  model.graph->quantization.push_back({"x", {{"SCALE_TENSOR", "y"}}, {}});
  EXPECT_THAT(problems_of(model), IsEmpty());
  model.graph->quantization.push_back({"lost", {{"SCALE", "y"}, {"ZERO_POINT_TENSOR", "gone"}}, {}});
  EXPECT_THAT(
      problems_of(model),
      ElementsAre(
          "warning: quantization annotation of 'lost': the graph has no such value [IG0319]",
          "warning: quantization annotation of 'lost': key 'SCALE' has no meaning [IG0319]",
          "warning: quantization annotation of 'lost': ZERO_POINT_TENSOR names 'gone', which the graph does not have "
          "[IG0319]"));
}

TEST(CheckDevices, ConfigurationsAreConsistent) {
  Model model = onnx::parse_text(kModel);
  model.device_configurations.push_back({"pair", 2, {"a", "b"}, {}});
  EXPECT_THAT(problems_of(model), IsEmpty());
  model.device_configurations.push_back({"pair", 2, {"a"}, {}});
  model.device_configurations.push_back({"", 0, {}, {}});
  EXPECT_THAT(problems_of(model),
              ElementsAre("error: device configuration 'pair': two configurations have this name [IG0327]",
                          "error: device configuration 'pair': 1 device named, but the configuration has 2 [IG0327]",
                          "error: device configuration '': the configuration has no name [IG0327]",
                          "error: device configuration '': the number of devices is 0 [IG0327]"));
}

TEST(CheckDevices, NodesNameConfigurationsAndValuesThatExist) {
  Model model = onnx::parse_text(kModel);
  model.device_configurations.push_back({"pair", 2, {}, {}});
  // device_configurations { configuration_id: "pair" sharding_spec { tensor_name: "x" } pipeline_stage: 1 }
  model.graph->first()->device_configurations = "\x52\x0d\x0a\x04pair\x12\x03\x0a\x01x\x18\x01";
  EXPECT_THAT(problems_of(model), IsEmpty());
  model.graph->first()->device_configurations = "\x52\x0d\x0a\x04trio\x12\x03\x0a\x01q\x18\x01";
  EXPECT_THAT(
      problems_of(model),
      ElementsAre("error: node 'n' (Relu): a sharding names 'q', which is neither an input nor an output of the node "
                  "[IG0327]",
                  "error: node 'n' (Relu): the model has no device configuration 'trio' [IG0327]"));
}

}  // namespace
}  // namespace ingot
