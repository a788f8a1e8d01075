// Shapes: views, parts, padding, and tensors of a given shape.
#include <algorithm>
#include <functional>

#include "ingot/backends/torch/operators.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::torch {

void write_concat(const NodeOut& n) {
  n.set(NodeOut::call("torch.cat", {listed(n.all_inputs()), text_of(n.attr("axis", 0))}));
}

void write_constant_of_shape(const NodeOut& n) {
  const Tensor* value = n.node.attributes.get<Tensor>("value");
  const Tensor one = value ? *value : Tensor::scalar(0.0, DType::f32);
  // TorchScript's numbers are no truth values.
  const std::string filled = one.dtype() == DType::boolean ? text_of(one.to_ints().at(0)) : literal(one);
  n.set(NodeOut::call("torch.full", {n.ints(0), filled, "dtype=" + n.type(one.dtype())}));
}

void write_depth_to_space(const NodeOut& n) {
  const bool is_crd = n.word("mode", "DCR") == "CRD";
  n.set(n.helped("depth_to_space", {n.in(0), text_of(n.attr("blocksize", 1)), std::string(text_of_flag(is_crd))}));
}

void write_space_to_depth(const NodeOut& n) {
  n.set(n.helped("space_to_depth", {n.in(0), text_of(n.attr("blocksize", 1))}));
}

void write_expand(const NodeOut& n) { n.set(n.helped("spread", {n.in(0), n.ints(1)})); }

void write_eye_like(const NodeOut& n) {
  const std::string type = n.type(n.node.output()->type.elem), x = n.in(0);
  const std::int64_t k = n.attr("k", 0);
  if (k == 0) return n.set("torch.eye(" + x + ".size(0), " + x + ".size(1), dtype=" + type + ")");
  n.set(n.helped("diagonal", {x, text_of(k)}) + ".to(" + type + ")");
}

void write_flatten(const NodeOut& n) {
  const std::int64_t axis = n.axis(1);
  const std::string x = n.in(0);
  if (axis == 0) return n.set(x + ".reshape([1, -1])");
  if (axis == 1 && n.rank() > 1) return n.set("torch.flatten(" + x + ", 1)");
  if (axis == n.rank()) return n.set(x + ".reshape([-1, 1])");
  n.set("torch.flatten(torch.flatten(" + x + ", " + text_of(axis) + "), 0, " + text_of(axis - 1) + ")");
}

void write_pad(const NodeOut& n) {
  const std::string mode = n.word("mode", "constant");
  const auto pads = n.known(1), axes_given = n.has(3) ? n.known(3) : std::optional<Ints>(Ints{});
  const bool is_constant = mode == "constant";
  std::string filled = !is_constant || !n.has(2) ? "0" : n.number(2);
  // TorchScript takes no truth for a number.
  if (filled == "True" || filled == "False") filled = filled == "True" ? "1" : "0";
  if (!pads || !axes_given || !is_constant) {
    const std::string axes = n.has(3) ? n.ints(3) : n.helped("all_axes", {n.in(0)});
    const std::string ends = n.ints(1);
    if (!is_constant) return n.set(n.helped("pad_by_place", {n.in(0), ends, axes, quoted(mode)}));
    return n.set(
        NodeOut::call("torch.constant_pad_nd", {n.in(0), n.helped("pad_ends", {n.in(0), ends, axes}), filled}));
  }
  Ints axes = *axes_given;
  if (!n.has(3))
    for (std::int64_t a = 0; a < n.rank(); ++a) axes.push_back(a);
  Ints before(static_cast<std::size_t>(n.rank()), 0), after = before;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto a = static_cast<std::size_t>(axes[i] < 0 ? axes[i] + n.rank() : axes[i]);
    before[a] = (*pads)[i];
    after[a] = (*pads)[i + axes.size()];
  }
  std::size_t first = 0;  // axes in front that stay as they are need no word
  while (first < before.size() && before[first] == 0 && after[first] == 0) ++first;
  Ints ends;
  for (std::size_t a = before.size(); a-- > first;) {
    ends.push_back(before[a]);
    ends.push_back(after[a]);
  }
  if (ends.empty()) return n.set(n.in(0));
  n.set(NodeOut::call("torch.constant_pad_nd", {n.in(0), text_of(ends), filled}));
}

void write_range(const NodeOut& n) {
  n.set(NodeOut::call("torch.arange", {n.number(0), n.number(1), n.number(2), "dtype=" + n.type(n.elem())}));
}

void write_reshape(const NodeOut& n) {
  const bool allows_zero = n.flag("allowzero");
  const auto shape = n.known(1);
  if (!shape) return n.set(n.helped("reshape", {n.in(0), n.ints(1), std::string(text_of_flag(allows_zero))}));
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < shape->size(); ++i)
    sizes.push_back((*shape)[i] == 0 && !allows_zero ? n.in(0) + ".size(" + std::to_string(i) + ")"
                                                     : text_of((*shape)[i]));
  n.set(n.in(0) + ".reshape(" + listed(sizes) + ")");
}

void write_shape(const NodeOut& n) {
  const std::int64_t start = n.attr("start", 0), end = n.attr("end", INT64_MAX);
  const std::string type = ", dtype=" + n.type(DType::i64) + ")", whole = "torch.tensor(" + n.in(0) + ".shape";
  if (start == 0 && end == INT64_MAX) return n.set(whole + type);
  n.set(whole + "[" + text_of(start) + ":" + (end == INT64_MAX ? std::string() : text_of(end)) + "]" + type);
}

void write_split(const NodeOut& n) {
  const std::string axis = text_of(n.axis(0)), x = n.in(0);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n.node.output_count(); ++i) names.push_back(n.out(i));
  std::string parts;
  if (n.has(1)) {
    parts = x + ".split(" + n.ints(1) + ", " + axis + ")";
  } else {
    const auto count = static_cast<std::int64_t>(names.size());
    const auto& shape = n.node.input(0)->type.shape;
    const auto size = shape ? (*shape)[static_cast<std::size_t>(n.axis(0))].as_int() : std::nullopt;
    parts = x + ".split(" +
            (size ? text_of((*size + count - 1) / count)
                  : "(" + x + ".size(" + axis + ") + " + text_of(count - 1) + ") // " + text_of(count)) +
            ", " + axis + ")";
  }
  n.s.line(names.size() == 1 ? names[0] + " = " + parts + "[0]" : joined(names) + " = " + parts);
}

void write_squeeze(const NodeOut& n) {
  if (!n.has(1)) return n.set(n.in(0) + ".squeeze()");
  const auto axes_known = n.known(1);
  if (!axes_known || !n.has_rank()) return n.set(n.helped("squeeze_axes", {n.in(0), n.ints(1)}));
  Ints axes = *axes_known;
  for (std::int64_t& a : axes) a = a < 0 ? a + n.rank() : a;
  std::ranges::sort(axes, std::greater<>());
  std::string made = n.in(0);
  for (const std::int64_t a : axes) made += ".squeeze(" + text_of(a) + ")";
  n.set(made);
}

void write_tile(const NodeOut& n) { n.set(n.in(0) + ".repeat(" + n.ints(1) + ")"); }

void write_transpose(const NodeOut& n) {
  Ints order = n.node.attributes.ints_or("perm", {});
  if (order.empty())
    for (std::int64_t a = n.rank(); a-- > 0;) order.push_back(a);
  if (order.empty()) return n.set(n.in(0));
  if (order == Ints{1, 0}) return n.set(n.in(0) + ".t()");
  n.set(n.in(0) + ".permute(" + text_of(order) + ")");
}

void write_trilu(const NodeOut& n) {
  const bool is_upper = n.flag("upper", true);
  n.set(NodeOut::call(is_upper ? "torch.triu" : "torch.tril", {n.in(0), n.has(1) ? n.integer(1) : std::string("0")}));
}

void write_unsqueeze(const NodeOut& n) {
  const auto axes_known = n.known(1);
  const auto count = axes_known ? static_cast<std::int64_t>(axes_known->size()) : 0;
  if (!axes_known || (!n.has_rank() && count > 1)) return n.set(n.helped("unsqueeze_axes", {n.in(0), n.ints(1)}));
  Ints axes = *axes_known;
  if (n.has_rank())
    for (std::int64_t& a : axes) a = a < 0 ? a + n.rank() + count : a;
  std::ranges::sort(axes);
  std::string made = n.in(0);
  for (const std::int64_t a : axes) made += ".unsqueeze(" + text_of(a) + ")";
  n.set(made);
}

}  // namespace ingot::backends::torch
