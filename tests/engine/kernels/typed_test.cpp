// Kernels for numbers of every type: arithmetic, tests, casts, reductions, places and picks, beside reference kernels.
#include "ingot/base/error.h"
#include "tests/engine/kernels/same_numbers.h"

namespace ingot::engine {
namespace {

constexpr DType kNumbers[] = {DType::f32, DType::f64, DType::i8,  DType::i16, DType::i32,
                              DType::i64, DType::u8,  DType::u16, DType::u32, DType::u64};
constexpr DType kCommon[] = {DType::f32, DType::f64, DType::i32, DType::i64};

bool is_unsigned(DType type) { return is_integer(type) && !is_signed_integer(type); }
std::int64_t least_of(DType type) { return is_unsigned(type) ? 0 : -50; }

TEST(Typed, TwoOperandsAreBroadcastInEveryType) {
  Random random(1);
  for (const DType type : kNumbers)
    for (const char* op :
         {"Add", "Sub", "Mul", "Div", "Max", "Min", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
      if (type == DType::f32 && std::string_view(op) < "Equal") continue;  // other kernels have them
      const std::int64_t n = 1 + random.below(70), m = 1 + random.below(5);
      const Dims shapes[] = {{m, n}, {n}, {m, 1}, {1, 1}};
      const Array a = whole_numbers(random, type, shapes[random.below(2) ? 0 : 3], least_of(type), 100);
      const Array b = whole_numbers(random, type, shapes[random.below(4)], 1, 40);
      const OneNode made(op, random.below(2) || std::string_view(op) == "Div" ? std::vector{a, b} : std::vector{b, a});
      SCOPED_TRACE(std::string(op) + " of type " + std::to_string(static_cast<int>(type)));
      expect_same_numbers(made.model, made.inputs);
    }
}

TEST(Typed, TheEndsOfTheRangeWrapAround) {
  const Array least = Array::of<std::int32_t>({4}, {INT32_MIN, INT32_MIN, INT32_MAX, -7});
  const Array other = Array::of<std::int32_t>({4}, {-1, INT32_MAX, -1, 2});
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Mod"}) {
    const OneNode made(op, {least, other});
    expect_same_numbers(made.model, made.inputs);
  }
  const OneNode negative("Neg", {least}), magnitude("Abs", {least});
  expect_same_numbers(negative.model, negative.inputs);
  expect_same_numbers(magnitude.model, magnitude.inputs);
}

TEST(Typed, IntegersAreNotDividedByZero) {
  for (const char* op : {"Div", "Mod"}) {
    const OneNode made(op, {Array::of<std::int64_t>({2}, {1, 2}), Array::of<std::int64_t>({2}, {1, 0})});
    EXPECT_THROW(Session(made.model).run(made.inputs), Error);
  }
}

TEST(Typed, RemaindersBitsAndShifts) {
  Random random(2);
  for (const DType type : kNumbers) {
    if (!is_integer(type)) continue;
    const Array a = whole_numbers(random, type, {3, 41}, least_of(type), 100);
    Array b = whole_numbers(random, type, {41}, 1, 20);
    for (const std::int64_t fmod : {0, 1}) {
      const OneNode made("Mod", {a, b}, {{"fmod", fmod}});
      expect_same_numbers(made.model, made.inputs);
    }
    for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
      const OneNode made(op, {a, b});
      expect_same_numbers(made.model, made.inputs);
    }
    if (!is_unsigned(type)) continue;
    const Array by = whole_numbers(random, type, {41}, 0, 70);
    for (const char* direction : {"LEFT", "RIGHT"}) {
      const OneNode made("BitShift", {a, by}, {{"direction", direction}});
      expect_same_numbers(made.model, made.inputs);
    }
  }
}

TEST(Typed, OneOperand) {
  Random random(3);
  for (const DType type : kNumbers) {
    const Array a = whole_numbers(random, type, {77}, least_of(type), 50);
    for (const char* op : {"Abs", "Sign"}) {
      const OneNode made(op, {a});
      expect_same_numbers(made.model, made.inputs);
    }
    const OneNode clipped("Clip", {a, whole_numbers(random, type, {}, 3, 4), whole_numbers(random, type, {}, 20, 21)});
    expect_same_numbers(clipped.model, clipped.inputs);
    if (!is_integer(type)) continue;
    const OneNode made("BitwiseNot", {a});
    expect_same_numbers(made.model, made.inputs);
  }
  const OneNode made("Not", {whole_numbers(random, DType::boolean, {99}, 0, 2)});
  expect_same_numbers(made.model, made.inputs);
}

TEST(Typed, CastsBetweenAllTypes) {
  Random random(4);
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> odd = {0,      -0.0,         0.5,          -0.5,          1.5,          127.5,          128,
                             255.9,  256,          -129,         32768,         65535.5,      65504,          65519,
                             65520,  2147483647.0, 2147483648.0, -2147483649.0, 4294967296.0, 1e10,           -1e10,
                             9.3e18, -9.3e18,      1.9e19,       1e39,          -1e39,        kInf,           -kInf,
                             kNaN,   1e-8,         6e-8,         2049,          2051,         1.0009765625001};
  for (int i = 0; i < 200; ++i) odd.push_back(std::ldexp(static_cast<double>(random.below(1 << 30)) - (1 << 29), -20));
  const Array doubles = Array::of<double>({static_cast<std::int64_t>(odd.size())}, odd);
  SessionOptions slow;
  slow.is_fast = false;
  for (const DType from : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8, DType::i32, DType::i64,
                           DType::u8, DType::u32, DType::boolean}) {
    const OneNode first("Cast", {doubles}, {{"to", static_cast<std::int64_t>(from)}});
    const Array x = *Session(first.model, slow).run(first.inputs).front().value.array();
    for (const DType to : {DType::f32, DType::f64, DType::f16, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8,
                           DType::u16, DType::u32, DType::u64, DType::boolean}) {
      if (from == to) continue;
      SCOPED_TRACE(std::to_string(static_cast<int>(from)) + " to " + std::to_string(static_cast<int>(to)));
      const OneNode made("Cast", {x}, {{"to", static_cast<std::int64_t>(to)}});
      const Array fast = *Session(made.model).run(made.inputs).front().value.array();
      const Array reference = *Session(made.model, slow).run(made.inputs).front().value.array();
      ASSERT_EQ(fast.dtype(), to);
      const auto a = numbers_of(fast), b = numbers_of(reference);
      for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
            << odd[i] << ": " << a[i] << ", not " << b[i];
    }
  }
}

TEST(Typed, ChoicesOfEverySizeAndShape) {
  Random random(5);
  for (const DType type : {DType::u8, DType::i16, DType::f32, DType::i64})
    for (int i = 0; i < 8; ++i) {
      const Dims shapes[] = {{5, 37}, {37}, {5, 1}, {}};
      const Array test = whole_numbers(random, DType::boolean, shapes[random.below(4)], 0, 2);
      const OneNode made("Where", {test, whole_numbers(random, type, shapes[random.below(4)], 0, 50),
                                   whole_numbers(random, type, shapes[random.below(4)], 50, 99)});
      expect_same_numbers(made.model, made.inputs);
    }
}

TEST(Typed, ReductionsOverAnyAxes) {
  Random random(6);
  for (const DType type : kCommon)
    for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                           "ReduceSumSquare", "ReduceLogSum"})
      for (int i = 0; i < 6; ++i) {
        const Dims dims = {1 + random.below(4), 1 + random.below(50), 1 + random.below(3), 1 + random.below(40)};
        std::vector<std::int64_t> axes;
        for (std::int64_t axis = 0; axis < 4; ++axis)
          if (random.below(2)) axes.push_back(axis);
        const std::int64_t low = std::string_view(op) == "ReduceLogSum" ? 1 : -3;
        const OneNode made(
            op, {whole_numbers(random, type, dims, low, 4), Array::of<std::int64_t>({std::ssize(axes)}, axes)},
            {{"keepdims", random.below(2)}});
        SCOPED_TRACE(std::string(op) + " of type " + std::to_string(static_cast<int>(type)));
        expect_same_numbers(made.model, made.inputs, type == DType::f64 ? 1e-12 : 1e-6);
      }
}

TEST(Typed, LongRowsAndNaN) {
  Random random(7);
  Array x = Array::from(random.floats({200000}));
  const Array axes = Array::of<std::int64_t>({1}, {0});
  for (const bool has_nan : {false, true}) {
    if (has_nan) x.mutable_data<float>()[77777] = std::numeric_limits<float>::quiet_NaN();
    for (const char* op : {"ReduceMax", "ReduceMin", "ReduceL1", "ReduceSum", "ReduceLogSumExp"}) {
      const OneNode made(op, {x, axes});
      expect_same_numbers(made.model, made.inputs, 1e-5);
    }
  }
}

TEST(Typed, SumsOfExponentials) {
  Random random(8);
  for (std::int64_t i = 0; i < 8; ++i) {
    std::vector<std::int64_t> axes;
    for (std::int64_t axis = 0; axis < 3; ++axis)
      if (i >> axis & 1) axes.push_back(axis);
    const OneNode made("ReduceLogSumExp", {Array::from(random.floats({7, 300, 11}, -90, 90)),
                                           Array::of<std::int64_t>({std::ssize(axes)}, axes)});
    expect_same_numbers(made.model, made.inputs, 2e-6);
  }
}

TEST(Typed, PlacesOfTheBest) {
  Random random(9);
  for (const DType type : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u8, DType::i8})
    for (const char* op : {"ArgMax", "ArgMin"})
      for (const std::int64_t takes_last : {0, 1})
        for (std::int64_t axis = 0; axis < 3; ++axis) {
          Array x = whole_numbers(random, type, {3, 1 + random.below(300), 1 + random.below(300)}, 0, 20);
          if (type == DType::f32 && random.below(2))
            x.mutable_data<float>()[static_cast<std::size_t>(random.below(x.size()))] = NAN;
          const OneNode made(op, {x},
                             {{"axis", axis}, {"select_last_index", takes_last}, {"keepdims", random.below(2)}});
          expect_same_numbers(made.model, made.inputs);
        }
}

TEST(Typed, TheBestInOrder) {
  Random random(10);
  for (const DType type : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u8})
    for (const std::int64_t largest : {0, 1})
      for (int i = 0; i < 6; ++i) {
        Dims dims = {1 + random.below(3), 1 + random.below(900), 1 + random.below(20)};
        const std::int64_t axis = random.below(3);
        // Few different numbers, so that many are equal.
        Array x = whole_numbers(random, type, dims, least_of(type), random.below(2) ? 100 : -least_of(type) + 2);
        if (type == DType::f32) {
          const auto numbers = x.mutable_data<float>();
          numbers[static_cast<std::size_t>(random.below(x.size()))] = NAN;
          numbers[static_cast<std::size_t>(random.below(x.size()))] = -0.0f;
        }
        const std::int64_t size = dims[static_cast<std::size_t>(axis)];
        const Array k = Array::of<std::int64_t>({1}, {random.below(size + 1)});
        const OneNode made("TopK", {x, k}, {{"axis", axis}, {"largest", largest}}, 2);
        expect_same_numbers(made.model, made.inputs);
      }
}

TEST(Typed, SumsUpToEach) {
  Random random(11);
  for (const DType type : kCommon)
    for (std::int64_t i = 0; i < 12; ++i) {
      const Array x = whole_numbers(random, type, {3, 1 + random.below(30), 1 + random.below(60)}, -9, 9);
      const OneNode made("CumSum", {x, Array::scalar<std::int64_t>(i % 3)},
                         {{"exclusive", i / 3 % 2}, {"reverse", i / 6}});
      expect_same_numbers(made.model, made.inputs);
    }
}

TEST(Typed, PickedAndScatteredElements) {
  Random random(12);
  for (const DType type : {DType::f32, DType::f64, DType::i32, DType::i64, DType::u8})
    for (std::int64_t axis = 0; axis < 3; ++axis)
      for (const char* reduction : {"none", "add", "mul", "max", "min"}) {
        const Dims dims = {4, 1 + random.below(20), 5 + random.below(20)}, part = {3, 1 + dims[1] / 2, dims[2] - 2};
        const std::int64_t size = dims[static_cast<std::size_t>(axis)];
        const Array x = whole_numbers(random, type, dims, 0, 100);
        const Array at = whole_numbers(random, random.below(2) ? DType::i64 : DType::i32, part, -size, size);
        const OneNode picked("GatherElements", {x, at}, {{"axis", axis}});
        expect_same_numbers(picked.model, picked.inputs);
        if (type == DType::u8 && std::string_view(reduction) != "none") continue;
        const Array updates = whole_numbers(random, type, part, 0, 9);
        const OneNode made("ScatterElements", {x, at, updates}, {{"axis", axis}, {"reduction", reduction}});
        expect_same_numbers(made.model, made.inputs);
        const Array tuples = whole_numbers(random, DType::i64, {6, 2}, 0, std::min<std::int64_t>(4, dims[1]));
        const OneNode slices("ScatterND", {x, tuples, whole_numbers(random, type, {6, dims[2]}, 0, 9)},
                             {{"reduction", reduction}});
        expect_same_numbers(slices.model, slices.inputs);
        const OneNode of_slices("GatherND", {x, tuples});
        expect_same_numbers(of_slices.model, of_slices.inputs);
      }
}

TEST(Typed, IndicesOutOfRangeAreRefused) {
  const Array x = Array::of<float>({2, 2}, {1, 2, 3, 4});
  const OneNode made("GatherElements", {x, Array::of<std::int64_t>({1, 1}, {2})});
  EXPECT_THROW(Session(made.model).run(made.inputs), Error);
  const OneNode scattered("ScatterElements", {x, Array::of<std::int64_t>({1, 1}, {-3}), Array::of<float>({1, 1}, {1})});
  EXPECT_THROW(Session(scattered.model).run(scattered.inputs), Error);
}

}  // namespace
}  // namespace ingot::engine
