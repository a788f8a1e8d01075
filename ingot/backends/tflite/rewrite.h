#pragma once
#include <string>
#include <vector>

#include "ingot/ops/builder.h"

namespace ingot::backends::tflite {

/// A node that TFLite does not have as it stands, while it is said in other operators of ONNX.
struct Rewriting {
  Node& node;
  GraphBuilder& g;
  std::vector<std::string>& notes;

  Value* in(std::size_t i = 0) const { return node.input(i); }
  DType elem(std::size_t i = 0) const { return node.input(i) ? node.input(i)->type.elem : DType::undefined; }
  std::size_t rank(std::size_t i = 0) const {
    return node.input(i) && node.input(i)->type.shape ? node.input(i)->type.shape->size() : 0;
  }
  std::int64_t attr(std::string_view name, std::int64_t fallback) const {
    return node.attributes.int_or(name, fallback);
  }
  /// All sizes of an input; nothing where one is not known.
  std::optional<std::vector<std::int64_t>> dims(std::size_t i = 0) const;
  std::optional<std::vector<std::int64_t>> out_dims(std::size_t i = 0) const;
  /// Attribute axis, counted from the front.
  std::int64_t axis(std::int64_t fallback, std::size_t rank) const;
};

/// Rewrites a node as TFLite wants it, where that is another form than the operator's own decomposition.
bool rewrite_node(Node& node, std::vector<std::string>& notes);
/// Whether there is a rewrite for the operator, which may be of ai.onnx.ml.
bool has_rewrite(std::string_view op);

/// Replaces sequences whose members are known by those; returns the number of nodes that changed.
std::size_t resolve_sequences(Graph& graph);

// By file; {}: not for this node.
#define INGOT_TFLITE_REWRITE(name) Values rewrite_##name(Rewriting&);
// rewrite_math.cpp
INGOT_TFLITE_REWRITE(acos)
INGOT_TFLITE_REWRITE(acosh)
INGOT_TFLITE_REWRITE(arg_extremum)
INGOT_TFLITE_REWRITE(asin)
INGOT_TFLITE_REWRITE(asinh)
INGOT_TFLITE_REWRITE(atan)
INGOT_TFLITE_REWRITE(atanh)
INGOT_TFLITE_REWRITE(batch_normalization)
INGOT_TFLITE_REWRITE(cosh)
INGOT_TFLITE_REWRITE(erf)
INGOT_TFLITE_REWRITE(eye_like)
INGOT_TFLITE_REWRITE(mod)
INGOT_TFLITE_REWRITE(sinh)
INGOT_TFLITE_REWRITE(tan)
// rewrite_bits.cpp
INGOT_TFLITE_REWRITE(bit_shift)
INGOT_TFLITE_REWRITE(bitwise_and)
INGOT_TFLITE_REWRITE(bitwise_or)
INGOT_TFLITE_REWRITE(bitwise_xor)
// rewrite_gather.cpp
INGOT_TFLITE_REWRITE(gather)
INGOT_TFLITE_REWRITE(gather_elements)
INGOT_TFLITE_REWRITE(gather_nd)
INGOT_TFLITE_REWRITE(slice)
INGOT_TFLITE_REWRITE(transpose)
// rewrite_reduce.cpp
INGOT_TFLITE_REWRITE(float_reduction)
INGOT_TFLITE_REWRITE(range)
// rewrite_resize.cpp
INGOT_TFLITE_REWRITE(resize)
// rewrite_resize_computed.cpp
INGOT_TFLITE_REWRITE(resize_computed)
// rewrite_pad.cpp
INGOT_TFLITE_REWRITE(pad)
// rewrite_matrix.cpp
INGOT_TFLITE_REWRITE(det)
INGOT_TFLITE_REWRITE(matmul)
// rewrite_unique.cpp
INGOT_TFLITE_REWRITE(unique)
// rewrite_window.cpp
INGOT_TFLITE_REWRITE(conv)
INGOT_TFLITE_REWRITE(global_average_pool)
INGOT_TFLITE_REWRITE(global_max_pool)
INGOT_TFLITE_REWRITE(max_pool)
INGOT_TFLITE_REWRITE(average_pool)
// rewrite_products.cpp
INGOT_TFLITE_REWRITE(conv_integer)
INGOT_TFLITE_REWRITE(matmul_integer)
// rewrite_control.cpp
INGOT_TFLITE_REWRITE(if)
INGOT_TFLITE_REWRITE(loop)
// rewrite_trees.cpp
INGOT_TFLITE_REWRITE(tree_ensemble)
#undef INGOT_TFLITE_REWRITE

}  // namespace ingot::backends::tflite
