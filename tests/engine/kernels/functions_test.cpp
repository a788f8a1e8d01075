// Functions of floats and doubles, normalisations, rotations and parts of matrices, beside reference kernels.
#include "tests/engine/kernels/same_numbers.h"

namespace ingot::engine {
namespace {

Array doubles(Random& random, Dims dims, double low, double high) {
  Array made(DType::f64, std::move(dims));
  for (double& x : made.mutable_data<double>())
    x = low + (high - low) * static_cast<double>(random.below(1 << 30)) / (1 << 30);
  return made;
}

Array as_floats(const Array& x) {
  Array made(DType::f32, x.dims());
  std::ranges::transform(x.data<double>(), made.mutable_data<float>().begin(),
                         [](double v) { return static_cast<float>(v); });
  return made;
}

TEST(Functions, AgreeOnEveryRange) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Random random(1);
  for (const char* op : {"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Exp", "Log", "Mish",
                         "Sigmoid", "Sin", "Sinh", "Softsign", "Sqrt", "Tan", "Tanh"})
    for (const double wide : {1e-6, 0.9, 1.0, 5.0, 60.0, 1000.0, 1e7}) {
      Array x = doubles(random, {203}, -wide, wide);
      const double odd[] = {0, -0.0, 1, -1, kInf, -kInf, std::nan(""), 1e30, -1e30, 5e-324, 88.8, -104, 710, -746};
      std::ranges::copy(odd, x.mutable_data<double>().begin() + random.below(100));
      SCOPED_TRACE(std::string(op) + " up to " + std::to_string(wide));
      const OneNode in_double(op, {x}), in_float(op, {as_floats(x)});
      expect_same_numbers(in_double.model, in_double.inputs, 4e-15);
      expect_same_numbers(in_float.model, in_float.inputs, 2e-6);
    }
}

TEST(Functions, NormalisationsOverTheLastAxes) {
  Random random(2);
  for (std::int64_t axis = 0; axis < 3; ++axis)
    for (const bool has_bias : {false, true}) {
      const Dims dims = {3, 1 + random.below(9), 1 + random.below(40)}, last(dims.begin() + axis, dims.end());
      const Array x = Array::from(random.floats(dims, -4, 4)), scale = Array::from(random.floats(last));
      std::vector<Array> inputs = {x, scale};
      if (has_bias) inputs.push_back(Array::from(random.floats(last)));
      const OneNode layers("LayerNormalization", inputs, {{"axis", random.below(2) ? axis : axis - 3}});
      expect_same_numbers(layers.model, layers.inputs, 3e-5);
      const OneNode squares("RMSNormalization", {x, scale}, {{"axis", axis}});
      expect_same_numbers(squares.model, squares.inputs, 3e-6);
    }
}

TEST(Functions, PairsAreTurned) {
  Random random(3);
  for (std::int64_t i = 0; i < 16; ++i) {
    const bool is_packed = i & 1, is_looked_up = i & 2;
    const std::int64_t batch = 2, heads = 3, length = 5, half = 1 + random.below(20), more = i & 8 ? 3 : 0;
    const std::int64_t size = 2 * half + more;
    const Dims dims = is_packed ? Dims{batch, length, heads * size} : Dims{batch, heads, length, size};
    const Dims cache = is_looked_up ? Dims{9, half} : Dims{batch, length, half};
    std::vector<Array> inputs = {Array::from(random.floats(dims)), Array::from(random.floats(cache)),
                                 Array::from(random.floats(cache))};
    if (is_looked_up) inputs.push_back(whole_numbers(random, DType::i64, {batch, length}, 0, 9));
    Attrs attrs = {{"interleaved", std::int64_t{(i & 4) != 0}}};
    if (is_packed) attrs.emplace_back("num_heads", heads);
    if (more) attrs.emplace_back("rotary_embedding_dim", 2 * half);
    const OneNode made("RotaryEmbedding", inputs, attrs);
    expect_same_numbers(made.model, made.inputs, 1e-6);
  }
}

TEST(Functions, TrianglesOfMatrices) {
  Random random(4);
  for (const DType type : {DType::u8, DType::f32, DType::i64})
    for (const std::int64_t upper : {0, 1})
      for (const std::int64_t k : {-100L, -3L, -1L, 0L, 1L, 4L, 100L}) {
        const Array x = whole_numbers(random, type, {2, 1 + random.below(9), 1 + random.below(9)}, 1, 9);
        const OneNode made("Trilu", {x, Array::scalar<std::int64_t>(k)}, {{"upper", upper}});
        expect_same_numbers(made.model, made.inputs);
      }
}

TEST(Functions, OneWhereTheLargestIs) {
  Random random(5);
  for (std::int64_t axis = -3; axis < 3; ++axis) {
    const OneNode made("Hardmax", {whole_numbers(random, DType::f32, {3, 70, 1 + random.below(300)}, -5, 5)},
                       {{"axis", axis}});
    expect_same_numbers(made.model, made.inputs);
  }
}

TEST(Functions, ManyOperands) {
  Random random(6);
  for (const char* op : {"Sum", "Mean", "Max", "Min"})
    for (const DType type : {DType::f32, DType::f64, DType::i32}) {
      if (type == DType::i32 && (std::string_view(op) == "Sum" || std::string_view(op) == "Mean")) continue;
      std::vector<Array> inputs;
      for (std::int64_t i = 0; i < 2 + random.below(4); ++i)
        inputs.push_back(whole_numbers(random, type, random.below(2) ? Dims{4, 33} : Dims{33}, -90, 90));
      const OneNode made(op, inputs);
      if (inputs.size() > 2) expect_same_numbers(made.model, made.inputs, 1e-6);
    }
}

TEST(Functions, PoolsOfEveryWindow) {
  Random random(7);
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"})
    for (int i = 0; i < 20; ++i) {
      const std::int64_t rank = 1 + random.below(3), kernel = 1 + random.below(3);
      Dims dims = {1 + random.below(2), 2};
      std::vector<std::int64_t> shape, strides, dilations, pads(static_cast<std::size_t>(2 * rank));
      for (std::int64_t k = 0; k < rank; ++k) {
        dims.push_back(7 + random.below(20));
        shape.push_back(kernel);
        strides.push_back(1 + random.below(3));
        dilations.push_back(1 + random.below(2));
      }
      for (std::int64_t& pad : pads) pad = random.below(kernel);
      Attrs attrs = {{"kernel_shape", shape},
                     {"strides", strides},
                     {"dilations", dilations},
                     {"pads", pads},
                     {"ceil_mode", random.below(2)}};
      if (std::string_view(op) == "AveragePool") attrs.emplace_back("count_include_pad", random.below(2));
      if (std::string_view(op) == "LpPool") attrs.emplace_back("p", 1 + random.below(3));
      const OneNode made(op, {Array::from(random.floats(dims, -3, 3))}, attrs);
      SCOPED_TRACE(op);
      expect_same_numbers(made.model, made.inputs, 1e-5);
    }
}

TEST(Functions, BlocksHaveScalesOfTheirOwn) {
  Random random(8);
  for (const DType type : {DType::u8, DType::i8, DType::i16})
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      const std::int64_t block = 1 + random.below(7);
      const Dims dims = {1 + random.below(9), 1 + random.below(30), 1 + random.below(40)};
      Dims less = dims;
      std::int64_t& size = less[static_cast<std::size_t>(axis)];
      size = (size + block - 1) / block;
      const Array scales = Array::from(random.floats(less, 0.01f, 0.1f)),
                  zeros = whole_numbers(random, type, less, 0, 9);
      const Attrs attrs = {{"axis", axis}, {"block_size", block}};
      const OneNode down("QuantizeLinear", {Array::from(random.floats(dims, -2, 2)), scales, zeros}, attrs);
      expect_same_numbers(down.model, down.inputs);
      const OneNode up("DequantizeLinear", {whole_numbers(random, type, dims, 0, 100), scales, zeros}, attrs);
      expect_same_numbers(up.model, up.inputs, 1e-6);
    }
}

TEST(Functions, HalvesAreMovedAsTheyAre) {
  Model model = empty_model();
  Value* x = model.graph->add_input("a", Type::tensor(DType::f16, Shape{3, 5}));
  GraphBuilder g(*model.graph);
  model.graph->add_output(g.transpose(x, {1, 0}));
  const auto kernels = Session(model, {.threads = 1}).kernels();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].op, "Transpose");
}

}  // namespace
}  // namespace ingot::engine
