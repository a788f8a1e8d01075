// Models that contradict themselves: each is refused with its code and its place.
#include "ingot/formats/tflite/check.h"

#include "ingot/formats/tflite/string_tensor.h"
#include "tests/formats/tflite/sample.h"

namespace ingot::formats::tflite {
namespace {

using ::testing::HasSubstr;

/// The error of the sample model after a change.
template <class Change> Error refused(Change&& change) {
  Model model = sample_model();
  change(model);
  return error_of([&] { check(model); });
}

Tensor& weights(Model& m) { return m.subgraphs[0].tensors[1]; }
Operator& only_operator(Model& m) { return m.subgraphs[0].operators[0]; }

TEST(TfliteCheck, TheSampleIsSound) {
  EXPECT_EQ(refused([](Model&) {}).message(), "no error");
}

TEST(TfliteCheck, IndicesMustLeadSomewhere) {
  const Error input = refused([](Model& m) { only_operator(m).inputs[1] = 4; });
  EXPECT_EQ(input.code(), Code::bad_reference);
  EXPECT_EQ(input.message(),
            "subgraph 0: operator 0 (FULLY_CONNECTED): input 1: tensor 4 does not exist (there are 4)");
  EXPECT_EQ(refused([](Model& m) { only_operator(m).inputs[1] = -2; }).code(), Code::bad_reference);
  EXPECT_EQ(refused([](Model& m) { only_operator(m).inputs[2] = kNoTensor; }).message(), "no error");
  EXPECT_EQ(refused([](Model& m) { only_operator(m).outputs[0] = INT32_MAX; }).code(), Code::bad_reference);
  EXPECT_EQ(refused([](Model& m) { only_operator(m).intermediates = {INT32_MIN}; }).code(), Code::bad_reference);
  EXPECT_EQ(refused([](Model& m) { m.subgraphs[0].inputs[0] = kNoTensor; }).code(), Code::bad_reference);
  EXPECT_EQ(refused([](Model& m) { m.subgraphs[0].outputs[0] = 99; }).code(), Code::bad_reference);
  EXPECT_EQ(refused([](Model& m) { weights(m).buffer = 4; }).message(),
            "subgraph 0: tensor 1 ('w'): buffer 4 does not exist (there are 4)");
  EXPECT_EQ(refused([](Model& m) { m.metadata[0].buffer = 4; }).code(), Code::bad_reference);
  EXPECT_EQ(refused([](Model& m) { m.metadata_buffer = {-1}; }).code(), Code::bad_reference);
  EXPECT_EQ(refused([](Model& m) { weights(m).external_buffer = 1; }).code(), Code::bad_reference);
  EXPECT_EQ(refused([](Model& m) { m.external_buffers = {{.id = 1}}; }).code(), Code::bad_reference);
  EXPECT_EQ(refused([](Model& m) { m.subgraphs.clear(); }).code(), Code::bad_reference);
}

TEST(TfliteCheck, SignaturesMustLeadSomewhere) {
  const SignatureDef good{"serving_default", {{"x", 0}}, {{"y", 3}}, "", 0};
  EXPECT_EQ(refused([&](Model& m) { m.signature_defs = {good}; }).message(), "no error");
  EXPECT_EQ(refused([&](Model& m) { (m.signature_defs = {good})[0].subgraph_index = 1; }).code(), Code::bad_reference);
  EXPECT_THAT(refused([&](Model& m) { (m.signature_defs = {good})[0].outputs[0].tensor_index = 4; }).message(),
              HasSubstr("signature 'serving_default': 'y': tensor 4"));
}

TEST(TfliteCheck, ShapesMustFitTheirData) {
  EXPECT_EQ(refused([](Model& m) {
              weights(m).shape = {2, 5};
            }).message(),
            "subgraph 0: tensor 1 ('w'): it needs 40 bytes by its shape and type but has 32");
  EXPECT_EQ(refused([](Model& m) { weights(m).type = TensorType::FLOAT64; }).code(), Code::bad_tensor);
  EXPECT_EQ(refused([](Model& m) { weights(m).shape = {2, -1}; }).code(), Code::bad_tensor);
  EXPECT_EQ(refused([](Model& m) { weights(m).shape = {2, -2}; }).code(), Code::bad_tensor);
  EXPECT_EQ(refused([](Model& m) { m.subgraphs[0].tensors[0].shape = {-2}; }).code(), Code::bad_tensor);
  EXPECT_EQ(refused([](Model& m) { m.subgraphs[0].tensors[0].shape.assign(65, 1); }).code(), Code::bad_tensor);
  EXPECT_THAT(refused([](Model& m) { m.subgraphs[0].tensors[0].shape.assign(4, INT32_MAX); }).message(),
              HasSubstr("too large"));
  EXPECT_EQ(refused([](Model& m) { m.subgraphs[0].tensors[0].shape_signature = {-1}; }).code(), Code::bad_tensor);
  EXPECT_EQ(refused([](Model& m) { m.subgraphs[0].tensors[0].shape_signature = {-1, -2}; }).code(), Code::bad_tensor);
  EXPECT_EQ(refused([](Model& m) { m.subgraphs[0].tensors[0].shape_signature = {-1, 4}; }).message(), "no error");
}

TEST(TfliteCheck, SubByteConstantsArePacked) {
  const auto packed = [](std::vector<std::int64_t> shape, TensorType type, std::size_t size) {
    return refused([&](Model& m) {
             weights(m).shape = shape;
             weights(m).type = type;
             m.buffers[1] = Bytes::own(std::string(size, '\1'));
           })
        .message();
  };
  EXPECT_EQ(packed({3}, TensorType::INT4, 2), "no error");
  EXPECT_EQ(packed({5}, TensorType::INT2, 2), "no error");
  EXPECT_THAT(packed({4}, TensorType::INT4, 3), HasSubstr("needs 2 bytes"));
}

TEST(TfliteCheck, QuantizationMustFitTheTensor) {
  const auto quantized = [](Quantization q) {
    return refused([&](Model& m) { weights(m).quantization = std::move(q); });
  };
  EXPECT_EQ(quantized({.scale = {1, 2}, .zero_point = {0, 0}}).message(), "no error");
  EXPECT_THAT(quantized({.scale = {1, 2, 3}}).message(), HasSubstr("3 scales for 2 channels"));
  EXPECT_EQ(quantized({.scale = {1, 2}, .zero_point = {0}}).code(), Code::bad_tensor);
  EXPECT_EQ(quantized({.scale = {1, 2}, .quantized_dimension = 2}).code(), Code::bad_reference);
  EXPECT_EQ(quantized({.scale = {1, 2}, .quantized_dimension = -1}).code(), Code::bad_reference);
  EXPECT_EQ(quantized({.details = BlockwiseQuantization{2, kNoTensor, 2}}).message(), "no error");
  EXPECT_EQ(quantized({.details = BlockwiseQuantization{4, kNoTensor, 2}}).code(), Code::bad_reference);
  EXPECT_EQ(quantized({.details = BlockwiseQuantization{2, 9, 2}}).code(), Code::bad_reference);
  EXPECT_EQ(quantized({.details = BlockwiseQuantization{2, kNoTensor, 0}}).code(), Code::bad_tensor);
  EXPECT_EQ(quantized({.details = MultiAxisQuantization{2, kNoTensor, 0, {0, 2}}}).code(), Code::bad_reference);
}

TEST(TfliteCheck, AVectorsScalesLieAlongItsOnlyDimension) {
  Model m = sample_model();
  Tensor& bias = m.subgraphs[0].tensors[2];
  bias.quantization = Quantization{.scale = {1, 2}, .quantized_dimension = 3};  // as some real files have it
  EXPECT_EQ(error_of([&] { check(m); }).message(), "no error");
  EXPECT_EQ(quantized_axis(bias), 0U);
}

TEST(TfliteCheck, OptionsMustBelongToTheOperator) {
  const Error error = refused([](Model& m) { only_operator(m).options = Options(BuiltinOperator::CONV_2D); });
  EXPECT_EQ(error.code(), Code::bad_options);
  EXPECT_THAT(error.message(), HasSubstr("Conv2DOptions instead of FullyConnectedOptions"));
}

TEST(TfliteCheck, StringsMustLieInTheirData) {
  const std::vector<std::string> texts = {"one", "", "three"};
  EXPECT_THAT(string_elements(string_data(texts)), ::testing::ElementsAre("one", "", "three"));
  const auto strings = [](Bytes data, std::int64_t count) {
    return refused([&](Model& m) {
             weights(m).type = TensorType::STRING;
             weights(m).shape = {count};
             m.buffers[1] = data;
           })
        .message();
  };
  EXPECT_EQ(strings(string_data(texts), 3), "no error");
  EXPECT_THAT(strings(string_data(texts), 2), HasSubstr("3 strings"));
  EXPECT_THAT(strings(bytes_from<std::int32_t>({-1}), 3), HasSubstr("end before"));
  EXPECT_THAT(strings(bytes_from<std::int32_t>({INT32_MAX, 0}), 3), HasSubstr("end before"));
  EXPECT_THAT(strings(bytes_from<std::int32_t>({1, 12, 99}), 1), HasSubstr("outside"));
  EXPECT_THAT(strings(bytes_from<std::int32_t>({1, 12, -1}), 1), HasSubstr("outside"));
  EXPECT_THAT(strings(bytes_from<std::int32_t>({1, 0, 12}), 1), HasSubstr("outside"));
}

Model loop_over(std::vector<std::pair<int, int>> bodies) {
  Model m = sample_model();
  for (std::size_t i = 1; i < bodies.size(); ++i) m.subgraphs.emplace_back();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].first < 0) continue;
    Operator& loop = m.subgraphs[i].operators.emplace_back();
    loop.code.builtin = BuiltinOperator::WHILE;
    loop.options = Options(loop.code.builtin)
                       .set("cond_subgraph_index", bodies[i].first)
                       .set("body_subgraph_index", bodies[i].second);
  }
  return m;
}

TEST(TfliteCheck, SubgraphsMustNotCallEachOtherInACircle) {
  const auto code = [](std::vector<std::pair<int, int>> bodies) {
    return error_of([&] { check(loop_over(std::move(bodies))); }).code();
  };
  EXPECT_EQ(code({{1, 2}, {-1, -1}, {-1, -1}}), Code::internal);
  EXPECT_EQ(code({{1, 2}, {2, 3}, {3, 3}, {-1, -1}}), Code::internal);
  EXPECT_EQ(code({{0, 0}}), Code::recursive_subgraphs);
  EXPECT_EQ(code({{1, 1}, {1, 1}}), Code::recursive_subgraphs);
  EXPECT_EQ(code({{1, 1}, {2, 2}, {0, 0}}), Code::recursive_subgraphs);
  EXPECT_EQ(code({{-1, -1}, {2, 2}, {1, 1}}), Code::recursive_subgraphs);
  EXPECT_EQ(code({{1, 2}, {-1, -1}}), Code::bad_reference);
}

TEST(TfliteCheck, AMillionCallsAreWalkedInTime) {
  std::vector<std::pair<int, int>> chain;
  for (int i = 0; i < 20000; ++i) chain.emplace_back(i + 1, i + 1);
  chain.emplace_back(-1, -1);
  EXPECT_EQ(error_of([&] { check(loop_over(std::move(chain))); }).message(), "no error");
}

/// A 4 x 4 matrix in blocks of 2 x 2: rows of blocks dense, columns of blocks compressed; block (0, 1) and (1, 0).
Model sparse_model() {
  Model m = sample_model();
  Tensor& w = weights(m);
  w.shape = {4, 4};
  w.sparsity = Sparsity{.traversal_order = {0, 1, 2, 3},
                        .block_map = {0, 1},
                        .dim_metadata = {{.dense_size = 2},
                                         {.format = DimensionType::SPARSE_CSR,
                                          .array_segments = {SparseIndexType::UINT8, {0, 1, 2}},
                                          .array_indices = {SparseIndexType::UINT16, {1, 0}}},
                                         {.dense_size = 2},
                                         {.dense_size = 2}}};
  return m;
}

template <class Change> std::string sparse(Change&& change) {
  Model m = sparse_model();
  change(*weights(m).sparsity);
  return error_of([&] { check(m); }).message();
}

TEST(TfliteCheck, SparsityMustDescribeTheTensor) {
  EXPECT_EQ(sparse([](Sparsity&) {}), "no error");
  EXPECT_THAT(sparse([](Sparsity& s) { s.traversal_order = {0, 1, 2, 2}; }), HasSubstr("permutation"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.traversal_order = {2, 1, 0, 3}; }), HasSubstr("permutation"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.traversal_order = {0, 1, 2, INT32_MIN}; }), HasSubstr("permutation"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.traversal_order.pop_back(); }), HasSubstr("levels"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.dim_metadata.pop_back(); }), HasSubstr("levels"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.block_map[0] = 2; }), HasSubstr("block dimension"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.dim_metadata[2].dense_size = 3; }), HasSubstr("do not divide"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.dim_metadata[2].dense_size = 0; }), HasSubstr("do not divide"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.dim_metadata[2].dense_size = -2; }), HasSubstr("do not divide"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.dim_metadata[0].dense_size = 3; }), HasSubstr("dense level of 3"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.dim_metadata[1].array_segments.values = {0, 1}; }), HasSubstr("segments"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.dim_metadata[1].array_segments.values = {}; }), HasSubstr("segments"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.dim_metadata[1].array_segments.values = {0, 3, 2}; }), HasSubstr("cover"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.dim_metadata[1].array_segments.values = {-1, 1, 2}; }), HasSubstr("cover"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.dim_metadata[1].array_indices.values = {1, 2}; }), HasSubstr("index 2"));
  EXPECT_THAT(sparse([](Sparsity& s) { s.dim_metadata[1].array_indices.values = {-1, 0}; }), HasSubstr("index -1"));
  EXPECT_THAT(sparse([](Sparsity& s) {
                s.dim_metadata[1].array_segments.values = {0, 0, 1};
                s.dim_metadata[1].array_indices.values = {0};
              }),
              HasSubstr("do not fit"));
}

}  // namespace
}  // namespace ingot::formats::tflite
