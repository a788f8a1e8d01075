#pragma once
#include "ingot/frontends/tflite/op.h"

// The functions that the table names, a group per file.
namespace ingot::frontends::tflite {

/// One to one, element by element; quantised inputs are computed as real numbers.
template <const ops::OpDef& def> void unary(Op& op) {
  Value* x = op.real(0);
  op.set_real(0, op.b.op(ops::Name(def), {x}));
}

template <const ops::OpDef& def> void binary(Op& op) {
  Value* x = op.real(0);
  Value* y = op.real(1);
  Value* z = op.b.op(ops::Name(def), {x, y});
  op.set_real(0, z);
}

/// With a fused activation.
template <const ops::OpDef& def> void arithmetic(Op& op) {
  Value* x = op.real(0);
  Value* y = op.real(1);
  Value* z = op.b.op(ops::Name(def), {x, y});
  op.set_real(0, op.activated(z));
}

// Convolutions.
void conv_2d(Op& op);
void depthwise_conv_2d(Op& op);
void conv_3d(Op& op);
void transpose_conv(Op& op);
void conv_3d_transpose(Op& op);
void transpose_conv_with_bias(Op& op);

// Poolings.
void max_pool_2d(Op& op);
void average_pool_2d(Op& op);
void l2_pool_2d(Op& op);
void max_pool_with_argmax(Op& op);
void max_unpool(Op& op);

// Elementwise operators that are not one to one.
void add_n(Op& op);
void squared_difference(Op& op);
void square(Op& op);
void add(Op& op);
/// A sum of strings, or of real numbers and integers that stand for such.
bool is_odd_sum(const Op& op);
void rsqrt(Op& op);
/// Of 16 bits.
bool is_wide_root(const Op& op);
void floor_div(Op& op);
void floor_mod(Op& op);
void right_shift(Op& op);
void atan2(Op& op);
void not_equal(Op& op);
void relu_6(Op& op);
void relu_n1_to_1(Op& op);
void relu_0_to_1(Op& op);
void leaky_relu(Op& op);
void prelu(Op& op);
void gelu(Op& op);
void softmax(Op& op);
void log_softmax(Op& op);
void cast(Op& op);
void identity(Op& op);
void select(Op& op);
void fake_quant(Op& op);
void bucketize(Op& op);
void l2_normalization(Op& op);
void quantize(Op& op);
/// To 32 bits, where QuantizeLinear ends at 16.
bool is_quantized_wide(const Op& op);
/// From 8 bits to 16.
bool is_widened(const Op& op);
void dequantize(Op& op);
void densify(Op& op);

// Operators that move elements or say where they are: shapes, joins, splits, paddings.
void reshape(Op& op);
void squeeze(Op& op);
void expand_dims(Op& op);
void transpose(Op& op);
void concatenation(Op& op);
void pack(Op& op);
void unpack(Op& op);
void split(Op& op);
void split_v(Op& op);
void shape_of(Op& op);
void rank_of(Op& op);
void fill(Op& op);
void zeros_like(Op& op);
void range(Op& op);
void tile(Op& op);
void broadcast_to(Op& op);
void broadcast_args(Op& op);
void pad(Op& op);
void mirror_pad(Op& op);
/// Of a MIRROR_PAD: the edge itself is repeated, which Pad does not know.
bool repeats_edge(const Op& op);
void depth_to_space(Op& op);
void space_to_depth(Op& op);
void space_to_batch(Op& op);
void batch_to_space(Op& op);
/// Where BATCH_TO_SPACE_ND ends what SPACE_TO_BATCH_ND and a convolution without padding began, one convolution with
/// dilation says it all. False: it does not.
bool dilated_conv(Op& op);
void reverse(Op& op);
void reverse_sequence(Op& op);
void dilate(Op& op);

// SLICE and STRIDED_SLICE.
void slice(Op& op);
void strided_slice(Op& op);

// Gathering, scattering, and what selects by value.
void gather(Op& op);
void gather_nd(Op& op);
void embedding_lookup(Op& op);
void embedding_lookup_sparse(Op& op);
void hashtable_lookup(Op& op);
void scatter_nd(Op& op);
void sparse_to_dense(Op& op);
void one_hot(Op& op);
void where(Op& op);
void unique(Op& op);
void matrix_diag(Op& op);
void matrix_set_diag(Op& op);
void dynamic_update_slice(Op& op);
void segment_sum(Op& op);
void unsorted_segment_sum(Op& op);
void unsorted_segment_prod(Op& op);
void unsorted_segment_max(Op& op);
void unsorted_segment_min(Op& op);

// Reductions, arg-extrema, top-k, running sums.
void reduce_any(Op& op);
void reduce_all(Op& op);
void reduce_sum(Op& op);
void reduce_prod(Op& op);
void reduce_max(Op& op);
void reduce_min(Op& op);
void mean(Op& op);
void arg_max(Op& op);
void arg_min(Op& op);
void top_k(Op& op);
void cumsum(Op& op);

// Products of matrices, and normalisation over channels.
void fully_connected(Op& op);
void batch_matmul(Op& op);
/// Of integers of 16 bits and 8.
bool has_two_widths(const Op& op);
void local_response_normalization(Op& op);

// Resizing, element for element as TFLite computes it.
void resize_bilinear(Op& op);
void resize_nearest(Op& op);

// IF, WHILE and subgraphs that are called.
void if_else(Op& op);
void while_loop(Op& op);
void composite(Op& op);

// Variables, lookup tables and the subgraph that fills them once.
void call_once(Op& op);
void var_handle(Op& op);
void read_variable(Op& op);
void assign_variable(Op& op);
void hashtable(Op& op);
void hashtable_import(Op& op);
void hashtable_find(Op& op);
void hashtable_size(Op& op);

// Recurrent layers: LSTM in all its forms, plain recurrent cells, SVDF.
void unidirectional_sequence_lstm(Op& op);
void bidirectional_sequence_lstm(Op& op);
void lstm(Op& op);
/// A layer over sequences that ONNX's LSTM is not.
bool is_unusual_lstm(const Op& op);
void rnn(Op& op);
void unidirectional_sequence_rnn(Op& op);
void bidirectional_sequence_rnn(Op& op);
void svdf(Op& op);

// Random numbers: distributions are the same, the numbers are not.
void random_uniform(Op& op);
void random_standard_normal(Op& op);
void multinomial(Op& op);

// Complex numbers: ONNX has them as pairs of floats in a last dimension, and only around Fourier transforms.
void rfft_2d(Op& op);
void real_part(Op& op);
void imaginary_part(Op& op);
void complex_abs(Op& op);
void bitcast(Op& op);

// Selecting boxes: non-maximum suppression and the detection post-processing of SSD models.
void non_max_suppression(Op& op);
void detection_post_process(Op& op);
void landmarks_to_transform_matrix(Op& op);
void transform_landmarks(Op& op);
void transform_tensor_bilinear(Op& op);

// The StableHLO operators that TFLite files may hold.
void hlo_clamp(Op& op);
void hlo_concatenate(Op& op);
void hlo_reshape(Op& op);
void hlo_broadcast_in_dim(Op& op);
void hlo_slice(Op& op);
void hlo_dynamic_slice(Op& op);
void hlo_transpose(Op& op);
void hlo_iota(Op& op);
void hlo_compare(Op& op);
void hlo_remainder(Op& op);
void hlo_and(Op& op);
void hlo_or(Op& op);
void hlo_cbrt(Op& op);
void hlo_shift_left(Op& op);
void hlo_pad(Op& op);
void hlo_dot_general(Op& op);
void hlo_reduce(Op& op);

}  // namespace ingot::frontends::tflite
