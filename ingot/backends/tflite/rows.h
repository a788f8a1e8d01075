#pragma once
#include "ingot/backends/tflite/operators.h"

namespace ingot::backends::tflite {

// What the rows of the table are made of, by file.

/// Types that are moved about without being computed with.
inline constexpr std::initializer_list<DType> kMoved = {DType::f32, DType::i32, DType::i64,
                                                        DType::i8,  DType::u8,  DType::boolean};
Refused nothing(const Node& n);
Refused floats(const Node& n);
Refused arithmetic(const Node& n);
Refused booleans(const Node& n);
Refused moved(const Node& n);
Refused equated(const Node& n);

#define INGOT_TFLITE_EMIT(op) void emit_##op(NodeOut&);
#define INGOT_TFLITE_FAMILY(op) void emit_##op(NodeOut&, BuiltinOperator);
#define INGOT_TFLITE_REFUSE(op) Refused refuse_##op(const Node&);
#define INGOT_TFLITE_ROW(op) INGOT_TFLITE_EMIT(op) INGOT_TFLITE_REFUSE(op)

// emit_elementwise.cpp
INGOT_TFLITE_FAMILY(unary)
INGOT_TFLITE_FAMILY(binary)
INGOT_TFLITE_FAMILY(folded)
INGOT_TFLITE_REFUSE(folded)
INGOT_TFLITE_EMIT(identity)
INGOT_TFLITE_EMIT(reciprocal)
INGOT_TFLITE_ROW(clip)
INGOT_TFLITE_EMIT(leaky_relu)
INGOT_TFLITE_REFUSE(div)
INGOT_TFLITE_REFUSE(elu)
INGOT_TFLITE_ROW(cast)
INGOT_TFLITE_ROW(mod)
INGOT_TFLITE_REFUSE(pow)
INGOT_TFLITE_ROW(where)
INGOT_TFLITE_EMIT(is_nan)
INGOT_TFLITE_ROW(sign)
INGOT_TFLITE_ROW(prelu)
// emit_reduce.cpp
INGOT_TFLITE_FAMILY(softmax)
INGOT_TFLITE_REFUSE(softmax)
INGOT_TFLITE_FAMILY(reduce)
INGOT_TFLITE_REFUSE(reduce)
INGOT_TFLITE_FAMILY(arg)
INGOT_TFLITE_REFUSE(arg)
INGOT_TFLITE_ROW(top_k)
INGOT_TFLITE_EMIT(cum_sum)
INGOT_TFLITE_ROW(reverse_sequence)
// emit_shape.cpp
INGOT_TFLITE_ROW(shape)
INGOT_TFLITE_ROW(size)
INGOT_TFLITE_ROW(reshape)
INGOT_TFLITE_ROW(transpose)
INGOT_TFLITE_ROW(concat)
INGOT_TFLITE_ROW(split)
INGOT_TFLITE_ROW(tile)
INGOT_TFLITE_ROW(expand)
INGOT_TFLITE_ROW(range)
INGOT_TFLITE_ROW(fill)
// emit_gather.cpp
/// Whether no index of that input is negative, as it stands or because the source has no such indices.
bool counts_from_the_front(const Node& node, std::size_t input);
INGOT_TFLITE_ROW(gather)
INGOT_TFLITE_ROW(gather_elements)
INGOT_TFLITE_ROW(gather_nd)
INGOT_TFLITE_ROW(one_hot)
INGOT_TFLITE_ROW(non_zero)
// emit_scatter.cpp
/// Index tuples as int32, none below zero; they go along the axes of input 0 from `first_axis` on.
std::int32_t index_tuples(NodeOut& n, std::size_t input, std::size_t first_axis);
std::int32_t shape_of(Emitter& e, std::int32_t tensor, std::size_t rank);
INGOT_TFLITE_ROW(scatter_nd)
// emit_unique.cpp
INGOT_TFLITE_ROW(unique)
// emit_detection.cpp
INGOT_TFLITE_ROW(non_max_suppression)
// emit_slice.cpp
INGOT_TFLITE_ROW(slice)
INGOT_TFLITE_ROW(pad)
// emit_matmul.cpp
INGOT_TFLITE_ROW(gemm)
INGOT_TFLITE_ROW(matmul)
// emit_conv.cpp
INGOT_TFLITE_ROW(conv)
INGOT_TFLITE_ROW(conv_transpose)
// emit_pool.cpp
INGOT_TFLITE_ROW(pool)
INGOT_TFLITE_ROW(depth_to_space)
INGOT_TFLITE_ROW(space_to_depth)
INGOT_TFLITE_ROW(lrn)
// emit_resize.cpp
INGOT_TFLITE_ROW(resize)
// emit_control.cpp
INGOT_TFLITE_ROW(if)
INGOT_TFLITE_ROW(loop)
// emit_lstm.cpp
INGOT_TFLITE_ROW(lstm)
// emit_random.cpp
INGOT_TFLITE_FAMILY(random)
INGOT_TFLITE_REFUSE(random)
// emit_quantize.cpp
INGOT_TFLITE_ROW(quantize)
INGOT_TFLITE_ROW(dequantize)

#undef INGOT_TFLITE_EMIT
#undef INGOT_TFLITE_FAMILY
#undef INGOT_TFLITE_REFUSE
#undef INGOT_TFLITE_ROW

}  // namespace ingot::backends::tflite
