// Convolutions that are trained, forward and backward: fast kernels against reference kernels, on random geometries.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ingot/engine/session.h"
#include "ingot/ops/builder.h"
#include "ingot/train/autodiff.h"

namespace ingot {
namespace {

class Geometry {
 public:
  explicit Geometry(unsigned seed) : random_(seed) {
    model.ir_version = 10;
    model.opsets.set("", 28);
    const std::int64_t spatial = 1 + below(3), batch = 1 + below(11);
    const std::int64_t groups = below(3) == 0 ? 2 : 1, in = (1 + below(10)) * groups, out = (1 + below(10)) * groups;
    const bool is_transposed = below(3) == 0;
    Dims x = {batch, in}, w = is_transposed ? Dims{in, out / groups} : Dims{out, in / groups};
    Dims strides, dilations, pads_begin, pads_end;
    for (std::int64_t i = 0; i < spatial; ++i) {
      const std::int64_t kernel = 1 + below(3), dilation = 1 + below(2);
      x.push_back((kernel - 1) * dilation + 2 + below(5));
      w.push_back(kernel);
      strides.push_back(1 + below(3));
      dilations.push_back(dilation);
      pads_begin.push_back(is_transposed ? 0 : below(kernel));
      pads_end.push_back(is_transposed ? 0 : below(kernel));
    }
    pads_begin.insert(pads_begin.end(), pads_end.begin(), pads_end.end());
    Graph& graph = *model.graph;
    Shape open(x.begin(), x.end());
    if (below(2)) open[0] = Dim::symbol("N");
    Values operands = {graph.add_input("x", Type::tensor(DType::f32, open))};
    operands.push_back(graph.add_input("w", Type::tensor(DType::f32, Shape(w.begin(), w.end()))));
    inputs = {{"x", floats(x)}, {"w", floats(w)}};
    if (below(2)) {
      operands.push_back(graph.add_input("b", Type::tensor(DType::f32, Shape{out})));
      inputs.push_back({"b", floats({out})});
    }
    GraphBuilder g(graph);
    const Attrs attrs = {{"strides", strides}, {"dilations", dilations}, {"pads", pads_begin}, {"group", groups}};
    Value* y = is_transposed ? g.op("ConvTranspose", operands, attrs) : g.op("Conv", operands, attrs);
    Value* loss = g.op("Sin", {y});
    graph.add_output(y);
    has_weight_kernel = groups == 1;
    const Values gradients = train::differentiate(loss, operands);
    for (Value* dx : gradients) graph.add_output(g.op("Identity", {dx}));
  }

  Model model;
  std::vector<engine::NamedDatum> inputs;
  bool has_weight_kernel = false;

 private:
  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random_); }
  Array floats(const Dims& dims) {
    std::vector<float> values(static_cast<std::size_t>(tensor_size(dims)));
    for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random_);
    return Array::of<float>(dims, values);
  }

  std::mt19937 random_;
};

class TrainedConvolution : public testing::TestWithParam<unsigned> {};

TEST_P(TrainedConvolution, EqualsTheReferenceOnAnyNumberOfThreads) {
  const Geometry one(GetParam());
  const auto reference =
      engine::Session(one.model, {.budget = nullptr, .threads = 1, .is_fast = false}).run(one.inputs);
  const engine::Session session(one.model, {.budget = nullptr, .threads = 1, .is_fast = true});
  const auto fast = session.run(one.inputs);
  const auto parallel = engine::Session(one.model, {.budget = nullptr, .threads = 3, .is_fast = true}).run(one.inputs);
  for (std::size_t k = 0; k < reference.size(); ++k) {
    const Array &expected = *reference[k].value.array(), &got = *fast[k].value.array();
    ASSERT_EQ(got.dims(), expected.dims()) << k;
    float scale = 1e-3f;
    for (const float v : expected.data<float>()) scale = std::max(scale, std::abs(v));
    for (std::size_t i = 0; i < got.data<float>().size(); ++i)
      ASSERT_NEAR(got.data<float>()[i], expected.data<float>()[i], 2e-5f * scale) << "output " << k << ", " << i;
    EXPECT_EQ(got.to_tensor(), parallel[k].value.array()->to_tensor()) << k;
  }
  bool uses_kernel = false;
  for (const engine::KernelChoice& choice : session.kernels()) uses_kernel |= choice.op == "ingot.engine.ConvWeights";
  EXPECT_EQ(uses_kernel, one.has_weight_kernel);
}

INSTANTIATE_TEST_SUITE_P(Geometries, TrainedConvolution, testing::Range(0U, 60U));

}  // namespace
}  // namespace ingot
