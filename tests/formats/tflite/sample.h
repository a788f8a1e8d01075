#pragma once
#include <bit>
#include <cstring>
#include <span>

#include "ingot/base/error.h"
#include "ingot/formats/tflite/model.h"

namespace ingot::formats::tflite {

template <class T> Bytes bytes_from(std::initializer_list<T> values) {
  return Bytes::copy(std::as_bytes(std::span(values.begin(), values.size())));
}

/// x[1,4] -> FULLY_CONNECTED(w[2,4], b[2]) -> y[1,2]
inline Model sample_model() {
  const auto tensor = [](std::string name, std::vector<std::int64_t> shape, std::uint32_t buffer) {
    Tensor t;
    t.name = std::move(name);
    t.shape = std::move(shape);
    t.buffer = buffer;
    return t;
  };
  Model model;
  model.description = "sample";
  model.buffers = {Bytes(), bytes_from<float>({1, 2, 3, 4, 5, 6, 7, 8}), bytes_from<float>({9, 10}),
                   Bytes::own(std::string("1.14.0\0\0", 8))};
  SubGraph& graph = model.subgraphs.emplace_back();
  graph.name = "main";
  graph.tensors = {tensor("x", {1, 4}, 0), tensor("w", {2, 4}, 1), tensor("b", {2}, 2), tensor("y", {1, 2}, 0)};
  graph.inputs = {0};
  graph.outputs = {3};
  Operator& op = graph.operators.emplace_back();
  op.code.builtin = BuiltinOperator::FULLY_CONNECTED;
  op.inputs = {0, 1, 2};
  op.outputs = {3};
  op.options = Options(op.code.builtin).set("fused_activation_function", ActivationFunctionType::RELU6);
  model.metadata = {{"min_runtime_version", 3}};
  return model;
}

/// A model with something in every field that the format has.
inline Model full_model() {
  Model m = sample_model();
  m.subgraphs.push_back(m.subgraphs[0]);
  m.subgraphs[1].name = "body";
  m.subgraphs[1].debug_metadata_index = 5;
  std::vector<Tensor>& tensors = m.subgraphs[0].tensors;
  tensors[0].shape_signature = {-1, 4};
  tensors[0].has_rank = true;
  tensors[1].quantization = Quantization{{-1}, {1}, {0.5F, 0.25F}, {0, 1}, 0, {}};
  tensors[2].quantization = Quantization{.details = BlockwiseQuantization{1, kNoTensor, 32}};
  tensors[3].quantization = Quantization{.details = MultiAxisQuantization{1, 2, 4, {0, 1}}};
  Tensor& sparse = tensors.emplace_back();
  sparse.name = "sparse";
  sparse.shape = {2, 300};
  sparse.buffer = 2;
  sparse.sparsity = Sparsity{
      {0, 1},
      {},
      {{DimensionType::DENSE, 2, {}, {}},
       {DimensionType::SPARSE_CSR, 0, {SparseIndexType::UINT8, {0, 1, 2}}, {SparseIndexType::UINT16, {299, 256}}}}};
  Tensor& variant = tensors.emplace_back();
  variant.type = TensorType::VARIANT;
  variant.is_variable = true;
  variant.variant_tensors = {{{2, -1}, TensorType::INT8, true}};
  variant.quantization = Quantization{.details = CustomQuantization{Bytes::own(std::string("custom"))}};
  Tensor& external = tensors.emplace_back();
  external.external_buffer = 7;
  m.external_buffer_groups = {"weights.bin"};
  m.external_buffers = {{7, 0, std::uint64_t{1} << 40, 16, "raw"}};
  m.metadata_buffer = {3};
  m.signature_defs = {{"serving_default", {{"x", 0}}, {{"y", 3}}, "tag", 0}};
  const auto add = [&](OperatorCode code, Options options) -> Operator& {
    Operator& op = m.subgraphs[0].operators.emplace_back();
    op.code = std::move(code);
    op.options = std::move(options);
    op.inputs = {0, kNoTensor};
    op.outputs = {3};
    return op;
  };
  Operator& custom = add({BuiltinOperator::CUSTOM, "Mine", 3}, {});
  custom.custom_options = Bytes::own(std::string("\1\2\3"));
  custom.mutating_variable_inputs = {false, true};
  custom.intermediates = {1, 2};
  custom.debug_metadata_index = 9;
  add({BuiltinOperator::WHILE, "", 1},
      Options("WhileOptions").set("cond_subgraph_index", 1).set("body_subgraph_index", 1));
  add({BuiltinOperator::VAR_HANDLE, "", 1}, Options("VarHandleOptions").set("container", "c").set("shared_name", ""));
  add({BuiltinOperator::BUCKETIZE, "", 1},
      Options("BucketizeOptions").set("boundaries", std::vector<float>{0.5F, 1.5F}));
  add({BuiltinOperator::RANDOM_UNIFORM, "", 1}, Options("RandomOptions").set("seed", std::int64_t{1} << 40));
  add({BuiltinOperator::GELU, "", 2}, Options("GeluOptions").set("approximate", true));
  add({BuiltinOperator::GELU, "", 1}, Options::left_out(BuiltinOperator::GELU));
  add({BuiltinOperator::STABLEHLO_CONVOLUTION, "", 1},
      Options("StablehloConvolutionOptions")
          .set("window_strides", std::vector<std::int64_t>{1, std::int64_t{1} << 40})
          .set("window_reversal", std::vector<std::int64_t>{0, 1})
          .set("precision_config", std::vector<std::int64_t>{2}));
  add({BuiltinOperator::STABLEHLO_COMPOSITE, "", 1}, Options("StableHLOCompositeOptions")
                                                         .set("name", "odml.rms_norm")
                                                         .set("decomposition_subgraph_index", 1)
                                                         .set("composite_attributes", std::string("\0\1", 2)));
  add({BuiltinOperator::STABLEHLO_COMPARE, "", 1},
      Options("StablehloCompareOptions").set("comparison_direction", StablehloComparisonDirection::LT));
  return m;
}

/// The error that `work` ends with; Code::internal and "no error" if it does not.
template <class Work> Error error_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  return Error(Code::internal, "no error");
}

}  // namespace ingot::formats::tflite
