#pragma once
#include "ingot/engine/fast_kernel.h"

namespace ingot::engine {

std::unique_ptr<PreparedNode> prepare_add_at(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_attention(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_batch_normalization(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_block(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_byte_convolution(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_byte_max(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_byte_mean(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_byte_sum(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_cast(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_clip(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_concat(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_conv_integer(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_convolution(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_cross_entropy(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_cumulative(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_dequantize(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_double_convolution(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_double_gemm(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_double_matmul(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_dynamic_quantize(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_elementwise(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_fold(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_function(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_gather(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_gather_elements(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_gather_nd(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_global_average(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_global_pool(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_grid_sample(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_group_normalization(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_gru(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_hardmax(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_instance_normalization(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_layer_normalization(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_linear(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_lstm(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_matmul(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_matmul_integer(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_move(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_normalization_gradient(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_pad(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_place(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_plain_convolution(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_plain_max_pool(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_plain_pool(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_plain_transposed(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_pool(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_product(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_qlinear_conv(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_qlinear_matmul(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_quantize(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_resize(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_response_normalization(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_rms_normalization(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_roi_align(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_rotary(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_scatter(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_single(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_softmax(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_softmax_along(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_split(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_sum(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_suppression(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_text_machine(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_top_k(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_trained_normalization(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_transpose(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_depth_to_space(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_space_to_depth(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_spread(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_trees(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_trilu(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_typed(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_unblock(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_update(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_weight_gradient(PrepareContext& c);
std::unique_ptr<PreparedNode> prepare_where(PrepareContext& c);

/// Which matrix of x and which of y a product of a batch takes.
using Places = std::pair<std::int64_t, std::int64_t>;
/// For each product, in order: the batches of both operands are broadcast to `batch`.
std::vector<Places> broadcast_places(const Dims& batch, const Dims& x, const Dims& y, Budget& budget);

}  // namespace ingot::engine
