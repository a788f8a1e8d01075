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

std::span<const FastKernel> fast_kernels() {
  static constexpr FastKernel kKernels[] = {
      {"AddAt", kEngineDomain, "list", prepare_add_at},
      {"Attention", kEngineDomain, "heads", prepare_attention},
      {"Block", kEngineDomain, "blocks", prepare_block},
      {"Concat", "", "copies", prepare_concat},
      {"Conv", "", "oneDNN convolution", prepare_plain_convolution},
      {"Conv", kEngineDomain, "oneDNN convolution", prepare_convolution},
      {"ConvInteger", "", "integer gemm", prepare_conv_integer},
      {"ConvTranspose", "", "oneDNN convolution", prepare_plain_transposed},
      {"ConvWeights", kEngineDomain, "oneDNN convolution", prepare_weight_gradient},
      {"DequantizeLinear", "", "bytes", prepare_dequantize},
      {"DynamicQuantizeLinear", "", "bytes", prepare_dynamic_quantize},
      {"Elementwise", kEngineDomain, "tiles", prepare_elementwise},
      {"Gather", "", "table", prepare_gather},
      {"GlobalAverage", kEngineDomain, "blocks", prepare_global_average},
      {"LSTM", "", "lstm", prepare_lstm},
      {"LayerNormalization", "", "rows", prepare_layer_normalization},
      {"Linear", kEngineDomain, "gemm", prepare_linear},
      {"MatMul", "", "gemm", prepare_matmul},
      {"MatMulInteger", "", "integer gemm", prepare_matmul_integer},
      {"MaxPool", "", "planes", prepare_plain_max_pool},
      {"NormalizationGradient", kEngineDomain, "channels", prepare_normalization_gradient},
      {"Pool", kEngineDomain, "oneDNN pool", prepare_pool},
      {"Product", kEngineDomain, "gemm", prepare_product},
      {"QLinearConv", "", "integer gemm", prepare_qlinear_conv},
      {"QLinearMatMul", "", "integer gemm", prepare_qlinear_matmul},
      {"QuantizeLinear", "", "bytes", prepare_quantize},
      {"ReduceMean", "", "sums", prepare_sum},
      {"ReduceSum", "", "sums", prepare_sum},
      {"ReduceSumSquare", "", "sums", prepare_sum},
      {"ScatterElements", "", "list", prepare_add_at},
      {"Softmax", "", "rows", prepare_softmax},
      {"TrainedNormalization", kEngineDomain, "channels", prepare_trained_normalization},
      {"Transpose", "", "tiles", prepare_transpose},
      {"TreeEnsemble", "ai.onnx.ml", "trees", prepare_trees},
      {"Unblock", kEngineDomain, "blocks", prepare_unblock},
      {"Update", kEngineDomain, "tiles", prepare_update},
  };
  return kKernels;
}

}  // namespace ingot::engine
