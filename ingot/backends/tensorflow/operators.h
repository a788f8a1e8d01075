#pragma once
#include <span>
#include <string>
#include <string_view>

#include "ingot/backends/refusals.h"
#include "ingot/backends/tensorflow/emitter.h"

namespace ingot::backends::tensorflow {

/// One ONNX node on its way out.
class NodeOut {
 public:
  NodeOut(Emitter& emitter, const Node& n) : e(emitter), node(n) {}

  Emitter& e;
  const Node& node;

  bool has(std::size_t i) const { return node.input(i) != nullptr; }
  Ref in(std::size_t i = 0) const { return e.ref(node.input(i)); }
  Refs all_inputs() const;
  void set(Ref tensor, std::size_t i = 0) const { e.set(node.output(i), tensor); }
  const Shape& shape(std::size_t i = 0) const { return *node.input(i)->type.shape; }
  const Shape& out_shape(std::size_t i = 0) const { return *node.output(i)->type.shape; }
  std::size_t rank(std::size_t i = 0) const { return shape(i).size(); }
  DType elem(std::size_t i = 0) const { return node.input(i)->type.elem; }
  DType out_elem(std::size_t i = 0) const { return node.output(i)->type.elem; }
  const ingot::Tensor* constant(std::size_t i) const;
  Ints ints(std::size_t i) const;  // of a constant input
  /// An input of sizes or places: constants as int32, others in the type that they have.
  Ref index(std::size_t i) const;
  /// The same as int32, where the operator takes no other.
  Ref int32(std::size_t i) const;
  /// An input of one element, without dimensions.
  Ref scalar(std::size_t i) const;
  std::int64_t axis(std::int64_t fallback, std::size_t input = 0) const;
  std::int64_t attr(std::string_view name, std::int64_t fallback) const {
    return node.attributes.int_or(name, fallback);
  }
  std::int64_t attr(std::string_view name, int fallback) const { return node.attributes.int_or(name, fallback); }
  float attr(std::string_view name, float fallback) const { return node.attributes.float_or(name, fallback); }
  std::string attr(std::string_view name, const char* fallback) const {
    return node.attributes.string_or(name, fallback);
  }
  Ref cast(Ref tensor, DType to) const;
};

/// How one ONNX operator is said in TensorFlow.
struct Row {
  std::string_view op;
  void (*emit)(NodeOut&);
  /// TensorFlow's operator that must take the elements of input 0; empty: any elements do.
  std::string_view word = {};
  /// Why this node cannot be said that way. Null: it always can.
  Refused (*refuses)(const Node&, Dialect) = nullptr;
  bool is_in_tfjs = true;
  bool takes_sequences = false;
};

std::span<const Row> all_rows();
/// Null: no row for the operator.
const Row* row_of(const Node& node);
/// Why the node cannot be emitted as it stands.
Refused refusal(const Node& node, Dialect dialect);

// What the rows are made of, by file.
/// Whether TensorFlow's operator takes elements of this type as its first input.
bool takes(std::string_view op, DType elem);
/// Under known sizes, at most one of them -1.
Ref reshaped(Emitter& e, Ref tensor, const Ints& dims);
Ref transposed(Emitter& e, Ref tensor, const Ints& perm);
/// All sizes of a tensor at run time, int32.
Ref shape_of(Emitter& e, Ref tensor);
/// Elements [begin, begin + count) of a list.
Ref part_of_list(Emitter& e, Ref list, std::int64_t begin, std::int64_t count);
/// The last axis and `axis` change places.
Ints swapped_with_last(std::size_t rank, std::int64_t axis);

}  // namespace ingot::backends::tensorflow
