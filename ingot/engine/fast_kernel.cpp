// The table of fast kernels.
#include "ingot/engine/fast_kernel.h"

#include "ingot/engine/domain.h"
#include "ingot/engine/kernels/kernels.h"

namespace ingot::engine {

Array make_raw(ops::KernelContext& c, std::size_t i, DType dtype, Dims dims) {
  Array made = static_cast<FastHost&>(c.host()).allocate_raw(dtype, std::move(dims));
  c.set(i, made);
  return made;
}

bool PrepareContext::all_floats() const {
  for (const Value* input : node.inputs())
    if (input && input->type.elem != DType::f32) return false;
  return true;
}

namespace {

/// Sorted by name; of several for one operator the first that takes a node has it.
constexpr FastKernel kKernels[] = {
    {"Add", "", "rows", prepare_typed},
    {"AddAt", kEngineDomain, "list", prepare_add_at},
    {"And", "", "rows", prepare_typed},
    {"ArgMax", "", "rows", prepare_place},
    {"ArgMin", "", "rows", prepare_place},
    {"Attention", kEngineDomain, "heads", prepare_attention},
    {"AveragePool", "", "planes", prepare_plain_pool},
    {"BatchNormalization", "", "channels", prepare_batch_normalization},
    {"Block", kEngineDomain, "blocks", prepare_block},
    {"Cast", "", "numbers", prepare_cast},
    {"Concat", "", "copies", prepare_concat},
    {"Conv", "", "oneDNN convolution", prepare_plain_convolution},
    {"Conv", kEngineDomain, "oneDNN convolution", prepare_convolution},
    {"ConvInteger", "", "integer gemm", prepare_conv_integer},
    {"ConvTranspose", "", "oneDNN convolution", prepare_plain_transposed},
    {"ConvWeights", kEngineDomain, "oneDNN convolution", prepare_weight_gradient},
    {"DequantizeLinear", "", "bytes", prepare_dequantize},
    {"Div", "", "rows", prepare_typed},
    {"DynamicQuantizeLinear", "", "bytes", prepare_dynamic_quantize},
    {"Elementwise", kEngineDomain, "tiles", prepare_elementwise},
    {"Equal", "", "rows", prepare_typed},
    {"Expand", "", "rows", prepare_move},
    {"GRU", "", "gru", prepare_gru},
    {"Gather", "", "table", prepare_gather},
    {"Gemm", "", "double gemm", prepare_double_gemm},
    {"GlobalAverage", kEngineDomain, "blocks", prepare_global_average},
    {"GlobalAveragePool", "", "planes", prepare_global_pool},
    {"GlobalLpPool", "", "planes", prepare_global_pool},
    {"GlobalMaxPool", "", "planes", prepare_global_pool},
    {"Greater", "", "rows", prepare_typed},
    {"GreaterOrEqual", "", "rows", prepare_typed},
    {"GroupNormalization", "", "channels", prepare_group_normalization},
    {"InstanceNormalization", "", "channels", prepare_instance_normalization},
    {"LRN", "", "channels", prepare_response_normalization},
    {"LSTM", "", "lstm", prepare_lstm},
    {"LayerNormalization", "", "rows", prepare_layer_normalization},
    {"Less", "", "rows", prepare_typed},
    {"LessOrEqual", "", "rows", prepare_typed},
    {"Linear", kEngineDomain, "gemm", prepare_linear},
    {"LogSoftmax", "", "strips", prepare_softmax_along},
    {"LpPool", "", "planes", prepare_plain_pool},
    {"MatMul", "", "gemm", prepare_matmul},
    {"MatMul", "", "double gemm", prepare_double_matmul},
    {"MatMulInteger", "", "integer gemm", prepare_matmul_integer},
    {"MaxPool", "", "planes", prepare_plain_pool},
    {"MaxPool", "", "planes", prepare_plain_max_pool},
    {"Mul", "", "rows", prepare_typed},
    {"NormalizationGradient", kEngineDomain, "channels", prepare_normalization_gradient},
    {"Or", "", "rows", prepare_typed},
    {"Pad", "", "maps", prepare_pad},
    {"Pool", kEngineDomain, "oneDNN pool", prepare_pool},
    {"Pow", "", "rows", prepare_typed},
    {"Product", kEngineDomain, "gemm", prepare_product},
    {"QLinearConv", "", "integer gemm", prepare_qlinear_conv},
    {"QLinearMatMul", "", "integer gemm", prepare_qlinear_matmul},
    {"QuantizeLinear", "", "bytes", prepare_quantize},
    {"RNN", "", "gru", prepare_gru},
    {"ReduceL2", "", "sums", prepare_sum},
    {"ReduceMax", "", "rows", prepare_extremum},
    {"ReduceMean", "", "sums", prepare_sum},
    {"ReduceMin", "", "rows", prepare_extremum},
    {"ReduceSum", "", "sums", prepare_sum},
    {"ReduceSumSquare", "", "sums", prepare_sum},
    {"Resize", "", "maps", prepare_resize},
    {"ScatterElements", "", "list", prepare_add_at},
    {"Slice", "", "rows", prepare_move},
    {"Softmax", "", "rows", prepare_softmax},
    {"Softmax", "", "strips", prepare_softmax_along},
    {"Split", "", "rows", prepare_split},
    {"Sub", "", "rows", prepare_typed},
    {"Tile", "", "rows", prepare_move},
    {"TrainedNormalization", kEngineDomain, "channels", prepare_trained_normalization},
    {"Transpose", "", "tiles", prepare_transpose},
    {"TreeEnsemble", "ai.onnx.ml", "trees", prepare_trees},
    {"Unblock", kEngineDomain, "blocks", prepare_unblock},
    {"Update", kEngineDomain, "tiles", prepare_update},
    {"Where", "", "rows", prepare_where},
    {"Xor", "", "rows", prepare_typed},
};

}  // namespace

std::span<const FastKernel> fast_kernels() { return kKernels; }

}  // namespace ingot::engine
