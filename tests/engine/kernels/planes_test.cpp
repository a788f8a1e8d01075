// Pools, normalisations, padding, resizing and reductions of plain images, fast and by reference kernels.
#include <gtest/gtest.h>

#include <functional>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

using Make = std::function<Value*(GraphBuilder&, Value*, Random&)>;

/// A model of one operator on a random array, which no reference kernel may run.
void expect_fast(unsigned seed, const Dims& dims, float tolerance, const Make& make, bool may_refer = false) {
  Random random(seed);
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape(dims.begin(), dims.end())));
  GraphBuilder g(*model.graph);
  model.graph->add_output(make(g, x, random));
  SCOPED_TRACE("seed " + std::to_string(seed));
  expect_same(model, Array::from(random.floats(dims, -4, 4)), tolerance);
  for (const KernelChoice& choice : Session(model, {.threads = 1}).kernels())
    EXPECT_TRUE(choice.kernel != "reference" || may_refer) << choice.op;
}

/// Windows of random sizes over so many axes.
Attrs random_windows(Random& random, std::size_t axes) {
  std::vector<std::int64_t> kernel, strides, dilations, pads(2 * axes);
  for (std::size_t i = 0; i < axes; ++i) {
    kernel.push_back(1 + random.below(3));
    strides.push_back(1 + random.below(3));
    dilations.push_back(kernel.back() == 1 || random.below(2) ? 1 : 1 + random.below(2));
    pads[i] = random.below(kernel.back());
    pads[i + axes] = random.below(kernel.back());
  }
  return {{"kernel_shape", kernel},
          {"strides", strides},
          {"dilations", dilations},
          {"pads", pads},
          {"ceil_mode", random.below(2)}};
}

Dims random_image(Random& random, std::size_t axes) {
  Dims dims = {1 + random.below(3), 1 + random.below(12)};
  for (std::size_t i = 0; i < axes; ++i) dims.push_back(4 + random.below(axes == 3 ? 6 : 20));
  return dims;
}

TEST(Planes, LargestBytesAndDoublesAgree) {
  const DType types[] = {DType::u8, DType::i8, DType::f64};
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const std::size_t axes = 1 + static_cast<std::size_t>(random.below(3));
    const Dims dims = random_image(random, axes);
    const Attrs windows = random_windows(random, axes);
    expect_fast(seed, dims, 0, [&](GraphBuilder& g, Value* x, Random&) {
      Value* scaled = g.mul(x, g.scalar(40, DType::f32));
      return g.cast(g.op("MaxPool", {g.cast(scaled, types[seed % 3])}, windows), DType::f32);
    });
  }
}

TEST(Planes, PoolsOfAnyWindowAgree) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const std::size_t axes = 1 + static_cast<std::size_t>(random.below(3));
    const Dims dims = random_image(random, axes);
    const Attrs windows = random_windows(random, axes);
    const std::int64_t kind = random.below(3);
    expect_fast(seed, dims, 1e-5f, [&](GraphBuilder& g, Value* x, Random& r) {
      Attrs attrs = windows;
      if (kind == 0) return g.op("MaxPool", {x}, attrs);
      if (kind == 1) attrs.emplace_back("count_include_pad", r.below(2));
      if (kind == 2) attrs.emplace_back("p", 1 + r.below(3));
      return kind == 1 ? g.op("AveragePool", {x}, attrs) : g.op("LpPool", {x}, attrs);
    });
  }
}

TEST(Planes, GlobalPoolsAgree) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const Dims dims = random_image(random, 1 + seed % 3);
    expect_fast(seed, dims, 1e-5f, [&](GraphBuilder& g, Value* x, Random&) {
      Value* average = g.op("GlobalAveragePool", {x});
      Value* largest = g.op("GlobalMaxPool", {x});
      return g.concat({average, largest, g.op("GlobalLpPool", {x})}, 0);
    });
  }
}

TEST(Planes, NormalisationsAgree) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Random random(seed);
    Dims dims = random_image(random, seed % 4);
    dims[1] *= 2;
    const std::int64_t channels = dims[1];
    expect_fast(seed, dims, 3e-5f, [&](GraphBuilder& g, Value* x, Random& r) {
      Value *scale = g.constant(r.floats({channels})), *bias = g.constant(r.floats({channels}));
      if (seed % 3 == 0) return g.op("InstanceNormalization", {x, scale, bias});
      if (seed % 3 == 1) return g.op("GroupNormalization", {x, scale, bias}, {{"num_groups", 2}});
      const float beta = r.below(2) ? 0.75f : 0.6f;
      return g.op("LRN", {x}, {{"size", 1 + r.below(5)}, {"alpha", 0.1f}, {"beta", beta}, {"bias", 1.5f}});
    });
  }
}

TEST(Planes, BatchNormalisationWithComputedStatisticsAgrees) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    Random random(seed);
    const Dims dims = random_image(random, seed % 3);
    const std::int64_t channels = dims[1];
    expect_fast(
        seed, dims, 3e-5f,
        [&](GraphBuilder& g, Value* x, Random& r) {
          // As large as the input's first element decides, so that nothing can be folded.
          Value* first = g.op("Abs", {g.op("Slice", {g.reshape(x, {-1}), g.ints({0}), g.ints({1})})});
          const auto varied = [&](float low) { return g.add(g.constant(r.floats({channels}, low, 2)), first); };
          Value *scale = varied(-1), *bias = varied(-1), *mean = varied(-1);
          return g.op("BatchNormalization", {x, scale, bias, mean, varied(0.5f)}, {}, 1)[0];
        },
        true);
  }
}

TEST(Planes, PaddingAgreesInEveryMode) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const Dims dims = {2, 3 + random.below(4), 4 + random.below(4), 4 + random.below(9)};
    expect_fast(seed, dims, 0, [&](GraphBuilder& g, Value* x, Random& r) {
      std::vector<std::int64_t> pads;
      for (int i = 0; i < 8; ++i) pads.push_back(i % 4 < 2 && r.below(2) ? 0 : r.below(4) - (r.below(4) == 0 ? 1 : 0));
      const char* const modes[] = {"constant", "reflect", "edge", "wrap"};
      Value* number = g.scalar(2.5, DType::f32);
      return g.op("Pad", {x, g.ints(pads), seed % 4 ? nullptr : number}, {{"mode", modes[seed % 4]}});
    });
  }
}

TEST(Planes, ResizingAgreesInEveryMode) {
  for (unsigned seed = 0; seed < 48; ++seed) {
    Random random(seed);
    const Dims dims = {1 + random.below(2), 1 + random.below(4), 3 + random.below(6), 3 + random.below(9)};
    expect_fast(seed, dims, 2e-5f, [&](GraphBuilder& g, Value* x, Random& r) {
      const char* const modes[] = {"nearest", "linear", "cubic"};
      const char* const places[] = {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"};
      Value* sizes = g.ints({dims[0], dims[1], 1 + r.below(12), 1 + r.below(20)});
      return g.op("Resize", {x, nullptr, nullptr, sizes},
                  {{"mode", modes[seed % 3]},
                   {"coordinate_transformation_mode", places[r.below(4)]},
                   {"exclude_outside", static_cast<std::int64_t>(seed % 3 == 2 ? r.below(2) : 0)}});
    });
  }
}

TEST(Planes, SoftmaxAlongAnyAxisAgrees) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    Random random(seed);
    const Dims dims = {1 + random.below(4), 1 + random.below(40), 1 + random.below(300)};
    expect_fast(seed, dims, 1e-5f, [&](GraphBuilder& g, Value* x, Random&) {
      const auto axis = static_cast<std::int64_t>(seed % 3);
      return seed % 2 ? g.op("Softmax", {x}, {{"axis", axis}}) : g.op("LogSoftmax", {x}, {{"axis", axis}});
    });
  }
}

TEST(Planes, ExtremaAndTheirPlacesAgree) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const Dims dims = {1 + random.below(5), 1 + random.below(30), 1 + random.below(300)};
    expect_fast(
        seed, dims, 0,
        [&](GraphBuilder& g, Value* x, Random& r) {
          const std::int64_t axis = r.below(3);
          // Few different numbers, so that there are equal ones.
          Value* rough = g.op("Round", {x});
          if (seed % 4 == 0) return g.op("ReduceMax", {x, g.ints({axis})});
          if (seed % 4 == 1) return g.op("ReduceMin", {x, r.below(2) ? g.ints({0, 1}) : g.ints({axis})});
          const Attrs attrs = {{"axis", axis}, {"select_last_index", r.below(2)}};
          return g.cast(seed % 4 == 2 ? g.op("ArgMax", {rough}, attrs) : g.op("ArgMin", {rough}, attrs), DType::f32);
        },
        false);
  }
}

TEST(Planes, NormsAgree) {
  expect_fast(1, {3, 40, 50}, 1e-4f, [](GraphBuilder& g, Value* x, Random&) {
    return g.op("ReduceL2", {x, g.ints({1})});
  });
}

}  // namespace
}  // namespace ingot::engine
