#pragma once
#include "ingot/backends/tensorflow/operators.h"

namespace ingot::backends::tensorflow {

/// Places are written out as constants where there are no more than these; else a run counts them.
inline constexpr std::int64_t kMostPlaces = 1 << 22;
bool has_few_places(const Shape& shape);

/// TensorFlow's name of an operator, in the table of rows.
struct Word {
  char text[40]{};
  template <std::size_t n> consteval Word(const char (&name)[n]) {  // NOLINT: "Exp" is a word
    for (std::size_t i = 0; i < n; ++i) text[i] = name[i];
  }
};

// What the rows of the table are made of, by file.
#define INGOT_TF_EMIT(op) void emit_##op(NodeOut&);
#define INGOT_TF_FAMILY(op) void emit_##op(NodeOut&, const char* word);
#define INGOT_TF_REFUSE(op) Refused refuse_##op(const Node&, Dialect);
#define INGOT_TF_ROW(op) INGOT_TF_EMIT(op) INGOT_TF_REFUSE(op)

// emit_elementwise.cpp
INGOT_TF_FAMILY(plain)
INGOT_TF_FAMILY(folded)
INGOT_TF_EMIT(identity)
INGOT_TF_EMIT(div)
INGOT_TF_ROW(mod)
INGOT_TF_EMIT(pow)
INGOT_TF_EMIT(clip)
INGOT_TF_EMIT(leaky_relu)
INGOT_TF_ROW(prelu)
INGOT_TF_REFUSE(elu)
INGOT_TF_REFUSE(selu)
INGOT_TF_EMIT(where)
INGOT_TF_EMIT(is_inf)
INGOT_TF_EMIT(bit_shift)
INGOT_TF_EMIT(abs)
// emit_cast.cpp
INGOT_TF_ROW(cast)
INGOT_TF_EMIT(bit_cast)
// emit_reduce.cpp
INGOT_TF_FAMILY(softmax)
INGOT_TF_REFUSE(softmax)
INGOT_TF_FAMILY(reduce)
INGOT_TF_REFUSE(reduce)
INGOT_TF_FAMILY(arg)
INGOT_TF_REFUSE(arg)
INGOT_TF_ROW(top_k)
INGOT_TF_EMIT(cum_sum)
INGOT_TF_EMIT(reverse_sequence)
// emit_shape.cpp
INGOT_TF_ROW(shape)
INGOT_TF_EMIT(size)
INGOT_TF_ROW(reshape)
INGOT_TF_ROW(flatten)
INGOT_TF_ROW(squeeze)
INGOT_TF_ROW(unsqueeze)
INGOT_TF_ROW(transpose)
INGOT_TF_ROW(concat)
INGOT_TF_ROW(split)
INGOT_TF_EMIT(tile)
INGOT_TF_EMIT(expand)
INGOT_TF_EMIT(range)
INGOT_TF_EMIT(fill)
INGOT_TF_ROW(eye_like)
// emit_slice.cpp
INGOT_TF_ROW(slice)
INGOT_TF_ROW(pad)
// emit_gather.cpp
INGOT_TF_ROW(gather)
INGOT_TF_ROW(gather_elements)
INGOT_TF_ROW(gather_nd)
INGOT_TF_ROW(scatter_nd)
INGOT_TF_ROW(one_hot)
INGOT_TF_ROW(non_zero)
// emit_matmul.cpp
INGOT_TF_ROW(gemm)
INGOT_TF_ROW(matmul)
INGOT_TF_EMIT(det)
// emit_conv.cpp
INGOT_TF_ROW(conv)
INGOT_TF_ROW(conv_transpose)
// emit_pool.cpp
INGOT_TF_ROW(pool)
INGOT_TF_ROW(depth_to_space)
INGOT_TF_ROW(space_to_depth)
INGOT_TF_ROW(lrn)
// emit_resize.cpp
INGOT_TF_ROW(resize)
// emit_control.cpp
INGOT_TF_ROW(if)
INGOT_TF_ROW(loop)
// emit_sequence.cpp
INGOT_TF_EMIT(sequence_at)
INGOT_TF_EMIT(sequence_construct)
INGOT_TF_EMIT(sequence_empty)
INGOT_TF_ROW(sequence_insert)
INGOT_TF_EMIT(sequence_length)
INGOT_TF_ROW(concat_from_sequence)
INGOT_TF_ROW(split_to_sequence)
// emit_random.cpp
INGOT_TF_FAMILY(random)
INGOT_TF_REFUSE(random)
// emit_quantize.cpp
INGOT_TF_ROW(quantize)
INGOT_TF_ROW(dequantize)
// emit_unique.cpp
INGOT_TF_ROW(unique)
// emit_detection.cpp
INGOT_TF_ROW(non_max_suppression)
// emit_text.cpp
INGOT_TF_EMIT(string_concat)
INGOT_TF_EMIT(regex_full_match)
INGOT_TF_ROW(string_normalizer)
INGOT_TF_EMIT(string_split)
// emit_table.cpp
INGOT_TF_ROW(label_encoder)

#undef INGOT_TF_EMIT
#undef INGOT_TF_FAMILY
#undef INGOT_TF_REFUSE
#undef INGOT_TF_ROW

}  // namespace ingot::backends::tensorflow
