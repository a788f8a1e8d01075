// Several operators of TFLite that mean one thing, or pass something on between them.
#include "ingot/ir/drop_unread.h"
#include "tests/frontends/tflite/one_op.h"

namespace ingot::frontends::tflite {
namespace {

namespace tfl = formats::tflite;
using tfl::BuiltinOperator;
using tfl::Options;

/// A graph of operators in a row, each of which reads what the one before it made and then constants.
class Row {
 public:
  Row(std::vector<std::int64_t> dims, tfl::TensorType type = FLOAT32) {
    model_.buffers.emplace_back();
    graph_ = &model_.subgraphs.emplace_back();
    last_ = tensor(std::move(dims), type);
    graph_->inputs = {last_};
  }

  void add(BuiltinOperator op, const Options& options, const std::vector<In>& constants, std::vector<std::int64_t> dims,
           tfl::TensorType type = FLOAT32) {
    tfl::Operator made;
    made.code.builtin = op;
    made.options = options;
    made.inputs = {last_};
    for (const In& in : constants) {
      made.inputs.push_back(tensor(in.dims, in.type));
      graph_->tensors.back().buffer = static_cast<std::uint32_t>(model_.buffers.size());
      model_.buffers.push_back(packed(in).bytes());
    }
    last_ = tensor(std::move(dims), type);
    made.outputs = {last_};
    graph_->operators.push_back(std::move(made));
  }

  Model imported() {
    graph_->outputs = {last_};
    Model model = import_model(model_).model;
    drop_unread(model);
    return model;
  }

 private:
  std::int32_t tensor(std::vector<std::int64_t> dims, tfl::TensorType type) {
    tfl::Tensor& t = graph_->tensors.emplace_back();
    t.name = "t" + std::to_string(graph_->tensors.size());
    t.type = type;
    t.shape = dims;
    for (std::int64_t& d : t.shape) d = d < 0 ? 1 : d;
    if (t.shape != dims) t.shape_signature = std::move(dims);
    t.has_rank = true;
    return static_cast<std::int32_t>(graph_->tensors.size() - 1);
  }

  tfl::Model model_;
  tfl::SubGraph* graph_;
  std::int32_t last_ = 0;
};

std::vector<double> run(const Model& model, Dims dims, const std::vector<float>& values) {
  const auto made =
      engine::Session(model).run({{model.graph->inputs()[0]->name(), Array::from(Tensor::of<float>(dims, values))}});
  return made.at(0).value.array()->to_doubles();
}

std::size_t count(const Model& model, std::string_view op) {
  std::size_t n = 0;
  for (const Node& node : model.graph->nodes()) n += node.is(op);
  return n;
}

std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(static_cast<int>(i * 5 % 13) - 6);
  return values;
}

const In kKernel = constant({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});

/// Dilation by 2 as SPACE_TO_BATCH_ND, a convolution and BATCH_TO_SPACE_ND, of an image that is given or open.
Model dilated(std::int64_t size, const std::vector<double>& crops) {
  const auto conv =
      Options(BuiltinOperator::CONV_2D).set("padding", tfl::Padding::VALID).set("stride_h", 1).set("stride_w", 1);
  const std::int64_t half = size < 0 ? -1 : (size + 4) / 2, small = size < 0 ? -1 : half - 2;
  Row row({1, size, size, 1});
  row.add(BuiltinOperator::SPACE_TO_BATCH_ND, Options(BuiltinOperator::SPACE_TO_BATCH_ND),
          {numbers({2, 2}), constant({2, 2}, {2, 2, 2, 2}, INT32)}, {4, half, half, 1});
  row.add(BuiltinOperator::CONV_2D, conv, {kKernel}, {4, small, small, 1});
  row.add(BuiltinOperator::BATCH_TO_SPACE_ND, Options(BuiltinOperator::BATCH_TO_SPACE_ND),
          {numbers({2, 2}), constant({2, 2}, crops, INT32)}, {1, size, size, 1});
  return row.imported();
}

TEST(TflitePatterns, DilationByBlocksIsAConvolution) {
  const Model model = dilated(6, {0, 0, 0, 0});
  EXPECT_EQ(count(model, "Conv"), 1U);
  EXPECT_EQ(count(model, "Reshape"), 0U);
  const std::vector<float> x = counted(36);
  std::vector<double> wanted;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      double sum = 0;
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
          const int r = i + 2 * a - 2, c = j + 2 * b - 2;
          if (r >= 0 && r < 6 && c >= 0 && c < 6) sum += static_cast<float>(3 * a + b + 1) * x[static_cast<std::size_t>(6 * r + c)];
        }
      wanted.push_back(sum);
    }
  EXPECT_THAT(run(model, {1, 6, 6, 1}, x), near(wanted));
  // The same where the image's size is open.
  EXPECT_THAT(run(dilated(-1, {0, 0, 0, 0}), {1, 6, 6, 1}, x), near(wanted));
}

TEST(TflitePatterns, BlocksOfAnImageOfOpenSize) {
  Row there({1, -1, -1, 1});
  there.add(BuiltinOperator::SPACE_TO_BATCH_ND, Options(BuiltinOperator::SPACE_TO_BATCH_ND),
            {numbers({2, 2}), constant({2, 2}, {0, 0, 0, 0}, INT32)}, {4, -1, -1, 1});
  there.add(BuiltinOperator::BATCH_TO_SPACE_ND, Options(BuiltinOperator::BATCH_TO_SPACE_ND),
            {numbers({2, 2}), constant({2, 2}, {0, 0, 0, 0}, INT32)}, {1, -1, -1, 1});
  const std::vector<float> x = counted(24);
  EXPECT_THAT(run(there.imported(), {1, 4, 6, 1}, x), near(std::vector<double>(x.begin(), x.end())));
}

TEST(TflitePatterns, ComplexNumbersAreReshapedBetweenTransformAndSize) {
  Row row({2, 1, 4});
  row.add(BuiltinOperator::RFFT2D, Options(BuiltinOperator::RFFT2D), {numbers({1, 4})}, {2, 1, 3},
          tfl::TensorType::COMPLEX64);
  row.add(BuiltinOperator::RESHAPE, Options(BuiltinOperator::RESHAPE), {numbers({2, 3})}, {2, 3},
          tfl::TensorType::COMPLEX64);
  row.add(BuiltinOperator::COMPLEX_ABS, Options(BuiltinOperator::COMPLEX_ABS), {}, {2, 3});
  EXPECT_THAT(run(row.imported(), {2, 1, 4}, {1, 0, 0, 0, 1, 1, 1, 1}), near({1, 1, 1, 4, 0, 0}));
}

TEST(TflitePatterns, TheSizeOfATransposedConvolutionMayBeAnInput) {
  const auto options =
      Options(BuiltinOperator::TRANSPOSE_CONV).set("padding", tfl::Padding::SAME).set("stride_h", 2).set("stride_w", 2);
  const In x{{1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  for (const double size : {5.0, 6.0}) {
    const In fixed = constant({4}, {1, size, size, 1}, INT32), open{{4}, {1, size, size, 1}, INT32};
    const In out{{1, static_cast<std::int64_t>(size), static_cast<std::int64_t>(size), 1}};
    EXPECT_THAT(values_of("TRANSPOSE_CONV", options, {open, kKernel, x}, {{1, 6, 6, 1}}),
                near(values_of("TRANSPOSE_CONV", options, {fixed, kKernel, x}, out)))
        << size;
  }
}

}  // namespace
}  // namespace ingot::frontends::tflite
