// Kernels of tensor operators against every allowed type and against inputs nobody means well with.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ingot/base/error.h"
#include "ingot/ops/schema.h"
#include "tests/ops/values.h"

namespace ingot::test {
namespace {

using Ints = std::vector<std::int64_t>;

/// An operator with the inputs beside the first.
struct Case {
  const char* op;
  Dims dims;
  std::vector<Datum> more;
  Attrs attrs = {};
};

std::vector<Case> cases() {
  const Array zero = ints({0});
  return {
      {"Reshape", {2, 2}, {ints({-1})}},
      {"Squeeze", {2, 1}, {}},
      {"Unsqueeze", {2, 2}, {zero}},
      {"Flatten", {2, 2}, {}},
      {"Slice", {2, 2}, {ints({1}), ints({-9}), zero, ints({-1})}},
      {"Split", {2, 2}, {ints({2})}},
      {"Pad", {2, 2}, {ints({1, 0, 0, 1})}},
      {"Gather", {2, 2}, {zero}},
      {"GatherElements", {2}, {zero}},
      {"GatherND", {2}, {zero}},
      {"Expand", {2, 1}, {ints({2, 2})}},
      {"Tile", {2}, {ints({2})}},
      {"Resize", {2}, {Datum(), Datum(), ints({3})}},
      {"ReverseSequence", {2, 2}, {ints({1, 2})}},
      {"Trilu", {2, 2}, {}},
      {"DepthToSpace", {1, 4, 1, 1}, {}, {{"blocksize", 2}}},
      {"SpaceToDepth", {1, 1, 2, 2}, {}, {{"blocksize", 2}}},
      {"CenterCropPad", {3}, {ints({2})}},
      {"Compress", {2}, {Array::of<bool>({2}, {true, false})}},
      {"Unique", {2}, {}},
      {"GridSample", {1, 1, 2}, {Array::of<float>({1, 1, 1}, {0})}, {{"mode", "nearest"}}},
  };
}

bool is_allowed(const char* op, DType dtype) {
  return ops::newest_schema("", op)->input(0)->type->allows(Type::tensor(dtype));
}

TEST(MovingKernels, TakeEveryTypeTheirSchemaAllows) {
  int runs = 0;
  for (const Case& c : cases()) {
    for (int number = 1; number < kDTypeCount; ++number) {
      const auto dtype = static_cast<DType>(number);
      if (!is_allowed(c.op, dtype)) continue;
      std::vector<Datum> inputs = {Array(dtype, c.dims)};
      inputs.insert(inputs.end(), c.more.begin(), c.more.end());
      EXPECT_EQ(run_op(c.op, inputs, c.attrs).dtype(), dtype) << c.op << " " << name_of(dtype);
      ++runs;
    }
  }
  EXPECT_GT(runs, 300);
}

TEST(ScatterKernels, ReduceEveryTypeTheirSchemaAllows) {
  for (const char* op : {"ScatterElements", "ScatterND"})
    for (const char* reduction : {"none", "add", "mul", "max", "min"})
      for (int number = 1; number < kDTypeCount; ++number) {
        const auto dtype = static_cast<DType>(number);
        if (!is_allowed(op, dtype)) continue;
        const bool is_sum = std::string(reduction) == "add" || std::string(reduction) == "mul";
        const std::string why = refusal([&] {
          run_op(op,
                 {Array(dtype, {2}),
                  Array::of<std::int64_t>({1}, {1}).reshaped(std::string(op) == "ScatterND" ? Dims{1, 1} : Dims{1}),
                  Array(dtype, {1})},
                 {{"reduction", reduction}});
        });
        const bool has_meaning =
            std::string(reduction) == "none" || (dtype != DType::string && (is_sum || !is_complex(dtype)));
        EXPECT_EQ(why.empty(), has_meaning) << op << " " << reduction << " " << name_of(dtype) << " " << why;
      }
}

/// Arrays and numbers of the worst sort.
class Trouble {
 public:
  explicit Trouble(unsigned seed) : random_(seed) {}

  std::int64_t number() {
    constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min(),
                           kMost = std::numeric_limits<std::int64_t>::max();
    const std::int64_t all[] = {0, 1, 2, 3, -1, -2, -3, 1, 2, kLowest, kMost, kMost / 2, std::int64_t{1} << 32};
    return all[pick(std::size(all))];
  }
  Dims dims(std::size_t most = 4) {
    Dims d(pick(most + 1));
    for (std::int64_t& size : d) size = static_cast<std::int64_t>(pick(4));
    return d;
  }
  Array floats(Dims d) {
    Array a(DType::f32, std::move(d));
    const float all[] = {0, 1, -1, 0.5f, 2.5f, NAN, INFINITY, -INFINITY, 1e-40f, 3e38f, -0.0f};
    for (float& v : a.mutable_data<float>()) v = all[pick(std::size(all))];
    return a;
  }
  Array ints(Dims d) {
    Array a(DType::i64, std::move(d));
    for (std::int64_t& v : a.mutable_data<std::int64_t>()) v = number();
    return a;
  }
  Array small_list() { return ints({static_cast<std::int64_t>(pick(5))}); }
  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  const char* word(const std::vector<const char*>& words) { return words[pick(words.size())]; }

 private:
  std::mt19937 random_;
};

struct Tally {
  int ran = 0, refused = 0;
};

// Whatever it is given, a kernel computes or refuses.
void try_op(Tally& tally, const char* op, const std::vector<Datum>& inputs, const Attrs& attrs = {},
            std::size_t outputs = 1) {
  try {
    run_ops(op, inputs, attrs, outputs);
    ++tally.ran;
  } catch (const Error&) {
    ++tally.refused;
  }
}

/// Sizes that a result may really have, so that honest allocations stay small.
Array small_sizes(Trouble& t) {
  Array a(DType::i64, {static_cast<std::int64_t>(t.pick(5))});
  for (std::int64_t& v : a.mutable_data<std::int64_t>()) v = static_cast<std::int64_t>(t.pick(6)) - 2;
  return a;
}

TEST(TensorKernels, ComputeOrRefuse) {
  Tally tally;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Trouble t(seed);
    const Array x = t.floats(t.dims());
    const std::int64_t axis = t.number();
    try_op(tally, "Reshape", {x, t.small_list()}, {{"allowzero", t.pick(2) == 1}});
    try_op(tally, "Squeeze", {x, t.small_list()});
    try_op(tally, "Unsqueeze", {x, t.small_list()});
    try_op(tally, "Flatten", {x}, {{"axis", axis}});
    try_op(tally, "Concat", {x, t.floats(t.dims())}, {{"axis", axis}});
    try_op(tally, "Slice", {x, t.small_list(), t.small_list(), t.small_list(), t.small_list()});
    try_op(tally, "Slice", {x, ints({t.number()}), ints({t.number()}), ints({axis}), ints({t.number()})});
    try_op(tally, "Split", {x, t.small_list()}, {{"axis", axis}}, 2);
    try_op(tally, "Split", {x}, {{"axis", axis}}, 3);
    try_op(tally, "Pad", {x, small_sizes(t)}, {{"mode", t.word({"constant", "reflect", "edge", "wrap"})}});
    try_op(tally, "Pad", {x, small_sizes(t), {}, ints({axis})}, {{"mode", "constant"}});
    try_op(tally, "Gather", {x, t.ints(t.dims(2))}, {{"axis", axis}});
    try_op(tally, "GatherElements", {x, t.ints(t.dims())}, {{"axis", axis}});
    try_op(tally, "GatherND", {x, t.ints(t.dims())}, {{"batch_dims", static_cast<std::int64_t>(t.pick(4)) - 1}});
    const Array index = t.ints(t.dims());
    try_op(tally, "ScatterElements", {x, index, t.floats(index.dims())},
           {{"axis", axis}, {"reduction", t.word({"none", "add", "mul", "max", "min"})}});
    try_op(tally, "ScatterND", {x, t.ints(t.dims()), t.floats(t.dims())});
    try_op(tally, "TensorScatter", {x, t.floats(t.dims()), t.small_list()},
           {{"axis", axis}, {"mode", t.word({"linear", "circular"})}});
    try_op(tally, "Expand", {x, small_sizes(t)});
    try_op(tally, "Tile", {x, small_sizes(t)});
    try_op(tally, "Shape", {x}, {{"start", t.number()}, {"end", t.number()}});
    try_op(tally, "OneHot", {t.floats(t.dims(2)), small_sizes(t), t.floats({2})}, {{"axis", axis}});
    try_op(tally, "NonZero", {x});
    try_op(tally, "Unique", {x}, {{"axis", axis}}, 4);
    try_op(tally, "Compress", {x, Array::of<bool>({2}, {true, true})}, {{"axis", axis}});
    try_op(tally, "Trilu", {x, Array::scalar(t.number())}, {{"upper", t.pick(2) == 1}});
    try_op(tally, "DepthToSpace", {t.floats({1, 4, 2, 1})}, {{"blocksize", t.number()}});
    try_op(tally, "SpaceToDepth", {t.floats({1, 1, 2, 4})}, {{"blocksize", t.number()}});
    try_op(tally, "Det", {x});
    try_op(tally, "ReverseSequence", {x, t.small_list()});
    try_op(tally, "CenterCropPad", {x, small_sizes(t)});
    try_op(tally, "AffineGrid", {t.floats({1, 2, 3}), small_sizes(t)}, {{"align_corners", t.pick(2) == 1}});
    try_op(tally, "Einsum", {x, t.floats(t.dims())},
           {{"equation", t.word({"ij,jk", "...i,i...", "i,j->", "ii,ij->ij"})}});
  }
  EXPECT_GT(tally.ran, 2000);
  EXPECT_GT(tally.refused, 2000);
}

TEST(SamplingKernels, ComputeOrRefuse) {
  Tally tally;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Trouble t(seed);
    const Array x = t.floats(t.dims());
    const Attrs attrs = {
        {"mode", t.word({"nearest", "linear", "cubic"})},
        {"coordinate_transformation_mode", t.word({"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                                   "align_corners", "asymmetric", "tf_crop_and_resize"})},
        {"nearest_mode", t.word({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})},
        {"antialias", t.pick(2) == 1},
        {"exclude_outside", t.pick(2) == 1},
        {"keep_aspect_ratio_policy", t.word({"stretch", "not_larger", "not_smaller"})}};
    Array sizes(DType::i64, {x.rank()}), scales(DType::f32, {x.rank()});
    for (std::int64_t& v : sizes.mutable_data<std::int64_t>()) v = static_cast<std::int64_t>(t.pick(9)) - 1;
    const float all[] = {0.3f, 0.5f, 1, 1.5f, 2, 1e-30f, NAN, -1, INFINITY};
    for (float& v : scales.mutable_data<float>()) v = all[t.pick(std::size(all))];
    try_op(tally, "Resize", {x, t.floats({2 * x.rank()}), {}, sizes}, attrs);
    try_op(tally, "Resize", {x, t.floats({2 * x.rank()}), scales}, attrs);
    Dims grid = t.dims();
    if (grid.size() > 2) grid.back() = static_cast<std::int64_t>(grid.size()) - 2;
    Dims image = t.dims();
    if (image.size() == grid.size() && !grid.empty()) image.front() = grid.front();
    try_op(tally, "GridSample", {t.floats(image), t.floats(grid)},
           {{"mode", t.word({"nearest", "linear", "cubic"})},
            {"padding_mode", t.word({"zeros", "border", "reflection"})},
            {"align_corners", t.pick(2) == 1}});
  }
  EXPECT_GT(tally.ran, 100);
  EXPECT_GT(tally.refused, 100);
}

}  // namespace
}  // namespace ingot::test
