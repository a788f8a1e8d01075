// The table of rewrites that targets pick from.
#include "ingot/passes/legalize/rewrites.h"

#include <algorithm>

namespace ingot::passes::legalize {
namespace {

constexpr Rewrite kRewrites[] = {
    {"arcs-by-series", "Acos", rewrite_acos},
    {"arcs-by-series", "Asin", rewrite_asin},
    {"arcs-by-series", "Atan", rewrite_atan},
    {"areas-by-logarithm", "Acosh", rewrite_acosh},
    {"areas-by-logarithm", "Asinh", rewrite_asinh},
    {"areas-by-logarithm", "Atanh", rewrite_atanh},
    {"batch-normalization-as-line", "BatchNormalization", rewrite_batch_normalization},
    {"bits-by-arithmetic", "BitShift", rewrite_bit_shift},
    {"bits-by-arithmetic", "BitwiseAnd", rewrite_bitwise_and},
    {"bits-by-arithmetic", "BitwiseOr", rewrite_bitwise_or},
    {"bits-by-arithmetic", "BitwiseXor", rewrite_bitwise_xor},
    {"conv-3d-in-groups", "Conv", rewrite_conv_in_groups},
    {"det-by-elimination", "Det", rewrite_det},
    {"empty-product-as-zeros", "MatMul", rewrite_empty_matmul},
    {"erf-by-polynomial", "Erf", rewrite_erf},
    {"eye-as-constant", "EyeLike", rewrite_eye_like},
    {"fmod-of-integers", "Mod", rewrite_mod},
    {"forest-by-tensors", "TreeEnsemble", rewrite_tree_ensemble, "ai.onnx.ml"},
    {"gather-in-rows", "Gather", rewrite_gather},
    {"gather-in-rows", "GatherElements", rewrite_gather_elements},
    {"gather-in-rows", "GatherND", rewrite_gather_nd},
    {"global-pool-by-reduction", "GlobalAveragePool", rewrite_global_average_pool},
    {"global-pool-by-reduction", "GlobalMaxPool", rewrite_global_max_pool},
    {"hyperbolic-by-exp", "Cosh", rewrite_cosh},
    {"hyperbolic-by-exp", "Sinh", rewrite_sinh},
    {"integer-products-in-float", "ConvInteger", rewrite_conv_integer},
    {"integer-products-in-float", "MatMulInteger", rewrite_matmul_integer},
    {"known-branch", "If", rewrite_known_if},
    {"last-extremum-reversed", "ArgMax", rewrite_arg_extremum},
    {"last-extremum-reversed", "ArgMin", rewrite_arg_extremum},
    {"loop-gathers-in-state", "Loop", rewrite_gathering_loop},
    {"max-pool-with-places", "MaxPool", rewrite_max_pool_with_places},
    {"pad-all-axes", "Pad", rewrite_pad},
    {"pool-3d-in-two", "AveragePool", rewrite_pool_in_two},
    {"pool-3d-in-two", "MaxPool", rewrite_pool_in_two},
    {"range-in-int32", "Range", rewrite_range},
    {"reductions-in-float", "ReduceL2", rewrite_float_reduction},
    {"reductions-in-float", "ReduceLogSum", rewrite_float_reduction},
    {"reductions-in-float", "ReduceLogSumExp", rewrite_float_reduction},
    {"resize-by-matrices", "Resize", rewrite_known_resize},
    {"resize-computed", "Resize", rewrite_computed_resize},
    {"slice-of-joined-axes", "Slice", rewrite_slice},
    {"small-floats-by-cast", "DequantizeLinear", rewrite_dequantize_from_float},
    {"small-floats-by-cast", "QuantizeLinear", rewrite_quantize_to_float},
    {"tan-by-quotient", "Tan", rewrite_tan},
    {"transpose-of-joined-axes", "Transpose", rewrite_transpose},
    {"unique-slices-by-comparison", "Unique", rewrite_unique},
    {"unrolled-loop", "Loop", rewrite_short_loop},
};
static_assert(std::ranges::is_sorted(kRewrites, {}, &Rewrite::name), "keep the table sorted");

}  // namespace

std::span<const Rewrite> shared_rewrites() { return kRewrites; }

}  // namespace ingot::passes::legalize
