// Fast kernels that training steps rest on, against the reference kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ingot/engine/session.h"
#include "ingot/ops/builder.h"
#include "ingot/train/autodiff.h"
#include "tests/support/refusal.h"

namespace ingot {
namespace {

class Step {
 public:
  explicit Step(unsigned seed) : random_(seed) {
    model.ir_version = 10;
    model.opsets.set("", 28);
  }
  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random_); }
  Value* input(const std::string& name, const Dims& dims) {
    std::vector<float> values(static_cast<std::size_t>(tensor_size(dims)));
    for (float& value : values) value = static_cast<float>(below(2000)) / 1000 - 1;  // with ties
    inputs.push_back({name, Array::of<float>(dims, values)});
    return model.graph->add_input(name, Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
  }
  /// Runs the model by both kinds of kernels, on one thread and on three.
  void compare(const std::string& op, const std::string& kernel) const {
    const auto expected = engine::Session(model, {.budget = nullptr, .threads = 1, .is_fast = false}).run(inputs);
    const engine::Session session(model, {.budget = nullptr, .threads = 1, .is_fast = true});
    const auto fast = session.run(inputs);
    const auto parallel = engine::Session(model, {.budget = nullptr, .threads = 3, .is_fast = true}).run(inputs);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const Array &a = *expected[k].value.array(), &b = *fast[k].value.array();
      ASSERT_EQ(a.dims(), b.dims());
      const auto x = a.to_doubles(), y = b.to_doubles();
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], 1e-5 * std::max(1.0, std::abs(x[i]))) << i;
      EXPECT_EQ(b.to_tensor(), parallel[k].value.array()->to_tensor());
    }
    bool is_used = false;
    for (const engine::KernelChoice& choice : session.kernels()) is_used |= choice.op == op && choice.kernel == kernel;
    EXPECT_TRUE(is_used) << op << " by " << kernel;
  }

  Model model;
  GraphBuilder g{*model.graph};
  std::vector<engine::NamedDatum> inputs;

 private:
  std::mt19937 random_;
};

class TrainingKernels : public testing::TestWithParam<unsigned> {};

TEST_P(TrainingKernels, SumOverAnyAxes) {
  Step step(GetParam());
  Dims dims;
  std::vector<std::int64_t> axes;
  for (std::int64_t rank = 1 + step.below(5), i = 0; i < rank; ++i) {
    dims.push_back(step.below(12) == 0 ? 0 : 1 + step.below(9));
    if (step.below(2)) axes.push_back(step.below(2) ? i : i - rank);
  }
  if (step.below(4) == 0) dims.back() = 300;
  Value* x = step.input("x", dims);
  static constexpr const char* kNames[] = {"ReduceSum", "ReduceMean", "ReduceSumSquare"};
  std::string name = kNames[step.below(3)];
  if (tensor_size(dims) == 0) name = "ReduceSum";
  Values operands = {x};
  if (!axes.empty()) operands.push_back(step.g.ints(axes));
  const ops::Name op(*ops::find("", name));
  step.model.graph->add_output(step.g.op(op, operands, {{"keepdims", step.below(2)}}));
  step.compare(name, "sums");
}

TEST_P(TrainingKernels, FindTheLargestOfEachWindow) {
  Step step(GetParam());
  const std::int64_t kernel = 1 + step.below(3), dilation = 1 + step.below(2), reach = (kernel - 1) * dilation + 1;
  Value* x = step.input("x", {1 + step.below(3), 1 + step.below(5), reach + step.below(6), reach + step.below(6)});
  const std::int64_t pad = step.below(kernel), stride = 1 + step.below(3);
  const Values made = step.g.op("MaxPool", {x},
                                {{"kernel_shape", {kernel, kernel}},
                                 {"dilations", {dilation, dilation}},
                                 {"strides", {stride, 1}},
                                 {"pads", {pad, 0, 0, pad}},
                                 {"ceil_mode", step.below(2)}},
                                2);
  for (Value* y : made) step.model.graph->add_output(y);
  step.compare("MaxPool", "planes");
}

TEST_P(TrainingKernels, AddAtPlacesOfAList) {
  Step step(GetParam());
  const std::int64_t size = 1 + step.below(40), count = step.below(100);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i) places.push_back(step.below(2 * size) - size);
  Value *x = step.input("x", {size}), *more = step.input("more", {count});
  Value* at = step.g.ints(places);
  step.model.graph->add_output(step.g.op("ScatterElements", {x, at, more}, {{"axis", 0}, {"reduction", "add"}}));
  step.compare("ScatterElements", "list");
}

INSTANTIATE_TEST_SUITE_P(Random, TrainingKernels, testing::Range(0U, 40U));

TEST(TrainingKernel, RefusesPlacesOutsideOfTheList) {
  Step step(1);
  Value *x = step.input("x", {3}), *more = step.input("more", {1});
  Value* at = step.g.ints({3});
  step.model.graph->add_output(step.g.op("ScatterElements", {x, at, more}, {{"axis", 0}, {"reduction", "add"}}));
  EXPECT_REFUSED(Code::execution_failed, engine::Session(step.model).run(step.inputs));
}

TEST(TrainingKernel, MultipliesByMatricesThatChange) {
  for (unsigned seed = 0; seed < 16; ++seed) {
    Step step(seed);
    const bool turns_a = step.below(2) != 0, turns_b = step.below(2) != 0;
    const std::int64_t m = 4 + step.below(9), n = 1 + step.below(9), k = 1 + step.below(9);
    Value *a = step.input("a", turns_a ? Dims{k, m} : Dims{m, k}),
          *b = step.input("b", turns_b ? Dims{n, k} : Dims{k, n});
    Values operands = {a, b};
    if (step.below(3)) operands.push_back(step.input("c", step.below(2) ? Dims{n} : Dims{m, 1}));
    const double alpha = step.below(2) ? 1 : 0.5, beta = step.below(2) ? 1 : 2;
    step.model.graph->add_output(
        step.g.op("Gemm", operands, {{"transA", turns_a}, {"transB", turns_b}, {"alpha", alpha}, {"beta", beta}}));
    step.compare("ingot.engine.Product", "gemm");
  }
}

TEST(TrainingKernel, MultipliesWithoutTransposing) {
  Step step(3);
  // As attention has it: heads are put before the sequence, and back.
  Value *q = step.input("q", {2, 9, 3, 5}), *k = step.input("k", {2, 9, 3, 5}), *v = step.input("v", {2, 9, 3, 5});
  Value *rows = step.g.transpose(q, {0, 2, 1, 3}), *columns = step.g.transpose(k, {0, 2, 3, 1});
  Value* values = step.g.transpose(v, {0, 2, 1, 3});
  Value* scores = step.g.op("MatMul", {rows, columns});
  Value* mixed = step.g.op("MatMul", {step.g.op("Abs", {scores}), values});
  step.model.graph->add_output(step.g.transpose(mixed, {0, 2, 1, 3}));
  step.compare("ingot.engine.Product", "gemm");
  for (const engine::KernelChoice& choice : engine::Session(step.model).kernels()) EXPECT_NE(choice.op, "Transpose");
}

TEST(TrainingKernel, NormalizesByTheBatchAndBack) {
  for (const bool adds : {false, true}) {
    Step step(adds ? 5 : 4);
    Graph& graph = *step.model.graph;
    Value *x = step.input("x", {3, 4, 5, 2}), *scale = step.input("scale", {4}), *bias = step.input("bias", {4});
    Value *mean = step.input("mean", {4}), *variance = step.input("variance", {4});
    Value* shortcut = step.input("shortcut", {3, 4, 5, 2});
    const Values made = step.g.op("BatchNormalization", {x, scale, bias, mean, variance},
                                  {{"training_mode", 1}, {"momentum", 0.8f}}, 3);
    Value* sum = adds ? step.g.add(made[0], shortcut) : made[0];
    Value* y = step.g.op("Relu", {sum});
    Value* loss = step.g.op("Sin", {y});
    for (Value* v : {y, made[1], made[2]}) graph.add_output(v);
    for (Value* dx : train::differentiate(loss, {x, scale, bias})) graph.add_output(step.g.op("Identity", {dx}));
    step.compare("ingot.engine.TrainedNormalization", "channels");
    step.compare("ingot.engine.NormalizationGradient", "channels");
  }
}

TEST(TrainingKernel, JoinsTheGradientsOfSlices) {
  Step step(6);
  Value* x = step.input("x", {3, 12});
  Value* product = nullptr;
  for (std::int64_t i = 0; i < 3; ++i) {
    Value *first = step.g.ints({4 * i}), *last = step.g.ints({4 * i + 4});
    Value* part = step.g.op("Slice", {x, first, last, step.g.ints({1})});
    product = product ? step.g.mul(product, part) : part;
  }
  for (Value* dx : train::differentiate(product, {x})) step.model.graph->add_output(step.g.op("Identity", {dx}));
  step.compare("Concat", "copies");
}

TEST(TrainingKernel, AddsAtPlacesOfZeros) {
  Step step(7);
  Value* x = step.input("x", {2, 3, 6, 6});
  Value* y = step.g.op("MaxPool", {x}, {{"kernel_shape", {3, 3}}, {"strides", {2, 2}}});
  Value* loss = step.g.op("Sin", {y});
  for (Value* dx : train::differentiate(loss, {x})) step.model.graph->add_output(step.g.op("Identity", {dx}));
  step.compare("ingot.engine.AddAt", "list");
}

}  // namespace
}  // namespace ingot
