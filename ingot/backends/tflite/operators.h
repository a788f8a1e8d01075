#pragma once
#include <span>
#include <string>
#include <string_view>

#include "ingot/backends/refusals.h"
#include "ingot/backends/tflite/emitter.h"

namespace ingot::backends::tflite {

/// One ONNX node on its way out.
class NodeOut {
 public:
  NodeOut(Emitter& emitter, const Node& n) : e(emitter), node(n) {}

  Emitter& e;
  const Node& node;

  bool has(std::size_t i) const { return node.input(i) != nullptr; }
  std::int32_t in(std::size_t i) const { return e.tensor(node.input(i)); }
  std::int32_t out(std::size_t i = 0) const { return e.tensor(node.output(i)); }
  const Shape& shape(std::size_t i = 0) const { return *node.input(i)->type.shape; }
  const Shape& out_shape(std::size_t i = 0) const { return *node.output(i)->type.shape; }
  std::size_t rank(std::size_t i = 0) const { return shape(i).size(); }
  DType elem(std::size_t i = 0) const { return node.input(i)->type.elem; }
  const ingot::Tensor* constant(std::size_t i) const;
  Ints ints(std::size_t i) const;  // of a constant input
  /// An index input as int32: TFLite's own sizes are.
  std::int32_t in_int32(std::size_t i) const;
  std::int64_t axis(std::int64_t fallback, std::size_t input = 0) const;
  std::int64_t attr(std::string_view name, std::int64_t fallback) const {
    return node.attributes.int_or(name, fallback);
  }
  std::int64_t attr(std::string_view name, int fallback) const { return node.attributes.int_or(name, fallback); }
  float attr(std::string_view name, float fallback) const { return node.attributes.float_or(name, fallback); }
  std::string attr(std::string_view name, const char* fallback) const {
    return node.attributes.string_or(name, fallback);
  }
};

/// How one ONNX operator is said in TFLite.
struct Row {
  std::string_view op;
  void (*emit)(NodeOut&);
  /// Why this node cannot be said that way. Null: it always can.
  Refused (*refuses)(const Node&) = nullptr;
};

std::span<const Row> all_rows();
/// Null: no row for the operator.
const Row* row_of(const Node& node);
/// Why the node cannot be emitted as it stands.
Refused refusal(const Node& node);

// What the rows are made of, by file.
Refused needs_types(const Node& node, std::initializer_list<DType> types, std::size_t input = 0);

/// A RESHAPE to known sizes, at most one of them -1.
void add_reshape(Emitter& e, std::int32_t from, std::int32_t to, const Ints& dims);
/// A dense copy of a tensor under other dimensions; those that are not known are read at run time.
std::int32_t reshaped(Emitter& e, std::int32_t tensor, DType elem, const Shape& shape);
std::int32_t transposed(Emitter& e, std::int32_t tensor, DType elem, const Shape& shape, const Ints& perm);

}  // namespace ingot::backends::tflite
