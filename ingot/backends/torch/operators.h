#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ingot/backends/refusals.h"
#include "ingot/backends/torch/script.h"

namespace ingot::backends::torch {

/// How an ONNX operator is said in PyTorch's: by a text, or by a function. In the text {0} is the first input, <0> may
/// be its number, and "nn:" stands before functions that Python has in torch.nn.functional.
struct Row {
  std::string_view op;
  std::string_view text{};
  void (*write)(const NodeOut&) = nullptr;
  Refused (*refuses)(const Node&) = nullptr;  // null: it is written whatever its attributes are
};

/// Sorted by name.
std::span<const Row> all_rows();
const Row* find_row(std::string_view op);

/// Whether a value may have this type: tensors of elements that PyTorch has, or that one of its types carries, lists of
/// them, and what may be one.
bool has_type(const Type& type);

/// Why PyTorch lacks a node as it stands; nothing: it has it.
Refused refusal(const Node& node);

/// The type that a node is computed in where PyTorch has no kernel for its own; undefined: in its own.
DType wide_type(const Node& node);

Refused refuse_bit_cast(const Node& node);           // emit_cast.cpp
Refused refuse_dequantize_linear(const Node& node);  // emit_quantize.cpp
Refused refuse_resize(const Node& node);             // emit_resize.cpp

// What the rows are made of, by file.
#define INGOT_TORCH(name) void write_##name(const NodeOut&);
// emit_elementwise.cpp, emit_cast.cpp
INGOT_TORCH(bit_cast)
INGOT_TORCH(bit_shift)
INGOT_TORCH(cast)
INGOT_TORCH(celu)
INGOT_TORCH(clip)
INGOT_TORCH(comparison)
INGOT_TORCH(div)
INGOT_TORCH(elu)
INGOT_TORCH(extremum)
INGOT_TORCH(hard_sigmoid)
INGOT_TORCH(is_inf)
INGOT_TORCH(leaky_relu)
INGOT_TORCH(mean)
INGOT_TORCH(mod)
INGOT_TORCH(pow)
INGOT_TORCH(prelu)
INGOT_TORCH(shrink)
INGOT_TORCH(sum)
// emit_reduce.cpp
INGOT_TORCH(arg_extremum)
INGOT_TORCH(cumulative)
INGOT_TORCH(reduce)
INGOT_TORCH(softmax)
INGOT_TORCH(top_k)
INGOT_TORCH(unique)
// emit_layers.cpp
INGOT_TORCH(average_pool)
INGOT_TORCH(batch_normalization)
INGOT_TORCH(conv)
INGOT_TORCH(conv_transpose)
INGOT_TORCH(dropout)
INGOT_TORCH(einsum)
INGOT_TORCH(gemm)
INGOT_TORCH(global_pool)
INGOT_TORCH(group_normalization)
INGOT_TORCH(instance_normalization)
INGOT_TORCH(layer_normalization)
INGOT_TORCH(lrn)
INGOT_TORCH(max_pool)
// emit_shape.cpp
INGOT_TORCH(concat)
INGOT_TORCH(constant_of_shape)
INGOT_TORCH(depth_to_space)
INGOT_TORCH(expand)
INGOT_TORCH(eye_like)
INGOT_TORCH(flatten)
INGOT_TORCH(pad)
INGOT_TORCH(range)
INGOT_TORCH(reshape)
INGOT_TORCH(shape)
INGOT_TORCH(space_to_depth)
INGOT_TORCH(split)
INGOT_TORCH(squeeze)
INGOT_TORCH(tile)
INGOT_TORCH(transpose)
INGOT_TORCH(trilu)
INGOT_TORCH(unsqueeze)
// emit_indexing.cpp
INGOT_TORCH(compress)
INGOT_TORCH(gather)
INGOT_TORCH(gather_elements)
INGOT_TORCH(gather_nd)
INGOT_TORCH(grid_sample)
INGOT_TORCH(non_max_suppression)
INGOT_TORCH(one_hot)
INGOT_TORCH(reverse_sequence)
INGOT_TORCH(scatter_elements)
INGOT_TORCH(scatter_nd)
INGOT_TORCH(slice)
// emit_quantize.cpp, emit_resize.cpp, emit_random.cpp
INGOT_TORCH(dequantize_linear)
INGOT_TORCH(matmul_integer)
INGOT_TORCH(resize)
INGOT_TORCH(bernoulli)
INGOT_TORCH(multinomial)
INGOT_TORCH(random)
// emit_sequence.cpp
INGOT_TORCH(concat_from_sequence)
INGOT_TORCH(optional)
INGOT_TORCH(optional_get_element)
INGOT_TORCH(optional_has_element)
INGOT_TORCH(sequence_at)
INGOT_TORCH(sequence_construct)
INGOT_TORCH(sequence_empty)
INGOT_TORCH(sequence_erase)
INGOT_TORCH(sequence_insert)
INGOT_TORCH(sequence_length)
INGOT_TORCH(split_to_sequence)
// emit_control.cpp
INGOT_TORCH(if)
INGOT_TORCH(loop)
#undef INGOT_TORCH

}  // namespace ingot::backends::torch
