// Quantised numbers.
#include "ingot/backends/torch/operators.h"

namespace ingot::backends::torch {
namespace {

/// Numbers of an axis as they spread over all elements.
std::string along_axis(const NodeOut& n, std::size_t input, std::int64_t axis) {
  const std::string name = n.s.name(n.node.input(input));
  if (n.rank(input) != 1 || n.rank() == 1) return name;
  Ints sizes(static_cast<std::size_t>(n.rank()), 1);
  sizes[static_cast<std::size_t>(axis)] = -1;
  return name + ".reshape(" + text_of(sizes) + ")";
}

}  // namespace

Refused refuse_dequantize_linear(const Node& node) {
  const Value *x = node.input(0), *scale = node.input(1);
  if (!is_integer(x->type.elem) || bits_of(x->type.elem) > 32)
    return Refusal{Kind::element_type, "its numbers are scaled otherwise"};
  if (!x->type.shape || !scale->type.shape) return Refusal{Kind::unknown_size, "the rank is not known"};
  if (node.attributes.int_or("block_size", 0) || scale->type.shape->size() > 1 || x->type.shape->empty())
    return Refusal{Kind::attribute_value, "blocks"};
  return {};
}

void write_dequantize_linear(const NodeOut& n) {
  const std::int64_t given = n.attr("axis", 1), axis = given < 0 ? given + n.rank() : given;
  const DType to = n.node.output()->type.elem;
  const std::string wide = ".to(" + n.type(DType::i32) + ")", scale = along_axis(n, 1, axis);
  std::string x = n.in(0);
  if (n.has(2)) x = "(" + x + wide + " - " + along_axis(n, 2, axis) + wide + ")";
  n.set(x + ".to(" + n.type(to) + ") * " + (n.elem(1) == to ? scale : scale + ".to(" + n.type(to) + ")"));
}

void write_matmul_integer(const NodeOut& n) {
  const std::string wide = ".to(" + n.type(DType::i32) + ")";
  const auto centered = [&](std::size_t i) {
    const std::string x = n.in(i) + wide;
    if (!n.has(i + 2)) return x;
    // The zeros of rows stand in a list.
    const bool is_rows = i == 0 && n.has_rank(2) && n.rank(2) == 1 && n.has_rank(0) && n.rank(0) > 1;
    return "(" + x + " - " + n.in(i + 2) + (is_rows ? ".unsqueeze(-1)" : "") + wide + ")";
  };
  n.set(centered(0) + " @ " + centered(1));
}

}  // namespace ingot::backends::torch
