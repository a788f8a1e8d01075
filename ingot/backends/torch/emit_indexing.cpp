// What picks elements by their places, or puts them there.
#include <algorithm>

#include "ingot/backends/torch/operators.h"

namespace ingot::backends::torch {
namespace {

std::string long_text(const NodeOut& n, std::size_t i) {
  return n.elem(i) == DType::i64 ? n.in(i) : n.in(i) + ".to(" + n.type(DType::i64) + ")";
}

/// Places counted from the front.
std::string from_front(const NodeOut& n, std::size_t places, std::int64_t axis) {
  return "torch.remainder(" + long_text(n, places) + ", " + n.in(0) + ".size(" + text_of(axis) + "))";
}

/// ":, :, " before what stands for the axis.
std::string whole_axes(std::int64_t count) {
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) text += ":, ";
  return text;
}

}  // namespace

void write_gather(const NodeOut& n) {
  const std::int64_t axis = n.axis(0);
  const auto known = n.known(1);
  const bool is_one = known && known->size() == 1 && n.has_rank(1) && n.rank(1) == 0;
  n.set(n.in(0) + "[" + whole_axes(axis) + (is_one ? text_of(known->front()) : long_text(n, 1)) + "]");
}

void write_gather_elements(const NodeOut& n) {
  const std::int64_t axis = n.axis(0);
  n.set(NodeOut::call("torch.gather", {n.in(0), text_of(axis), from_front(n, 1, axis)}));
}

void write_gather_nd(const NodeOut& n) {
  n.set(n.helped("gather_nd", {n.in(0), long_text(n, 1), text_of(n.attr("batch_dims", 0))}));
}

void write_scatter_nd(const NodeOut& n) {
  n.set(n.helped("scatter_nd",
                 {n.in(0), long_text(n, 1), n.in(2), std::string(text_of_flag(n.word("reduction", "none") == "add"))}));
}

void write_one_hot(const NodeOut& n) {
  const std::int64_t given = n.attr("axis", -1), axis = given < 0 ? given + n.rank() + 1 : given;
  const std::string places = n.in(0) + ".to(" + n.type(DType::i64) + ")";
  n.set(n.helped("one_hot", {places, n.integer(1), n.in(2), text_of(axis)}));
}

void write_reverse_sequence(const NodeOut& n) {
  n.set(n.helped("reverse_sequence",
                 {n.in(0), n.in(1), text_of(n.attr("batch_axis", 1)), text_of(n.attr("time_axis", 0))}));
}

void write_scatter_elements(const NodeOut& n) {
  const std::int64_t axis = n.axis(0);
  const bool adds = n.word("reduction", "none") == "add";
  n.set(NodeOut::call(adds ? "torch.scatter_add" : "torch.scatter",
                      {n.in(0), text_of(axis), from_front(n, 1, axis), n.in(2)}));
}

void write_slice(const NodeOut& n) {
  const auto starts = n.known(1), ends = n.known(2);
  const auto axes = n.has(3) ? n.known(3) : std::optional<Ints>(Ints{});
  const auto steps = n.has(4) ? n.known(4) : std::optional<Ints>(Ints{});
  const bool is_known = starts && ends && axes && steps && n.has_rank() &&
                        std::ranges::all_of(*steps, [](std::int64_t s) { return s > 0; });
  if (!is_known) {
    return n.set(n.helped("slice_axes",
                          {n.in(0), n.ints(1), n.ints(2), n.has(3) ? n.ints(3) : "[]", n.has(4) ? n.ints(4) : "[]"}));
  }
  std::vector<std::string> parts(static_cast<std::size_t>(n.rank()), ":");
  std::size_t used = 0;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const std::int64_t a = n.has(3) ? axes->at(i) : static_cast<std::int64_t>(i);
    const auto axis = static_cast<std::size_t>(a < 0 ? a + n.rank() : a);
    const std::int64_t start = (*starts)[i], end = (*ends)[i], step = n.has(4) ? steps->at(i) : 1;
    std::string text = start == 0 || start <= -INT32_MAX ? ":" : text_of(start) + ":";
    if (end < INT32_MAX) text += text_of(end);
    if (step != 1) text += ":" + text_of(step);
    parts[axis] = text;
    if (text != ":") used = std::max(used, axis + 1);
  }
  parts.resize(used);
  n.set(used == 0 ? n.in(0) : n.in(0) + listed(parts));
}

void write_compress(const NodeOut& n) {
  const std::string where = n.in(1) + ".nonzero().squeeze(1)";
  if (!n.node.attributes.has("axis")) return n.set(n.in(0) + ".reshape([-1])[" + where + "]");
  n.set(NodeOut::call("torch.index_select", {n.in(0), text_of(n.axis(0)), where}));
}

void write_non_max_suppression(const NodeOut& n) {
  const auto number = [&](std::size_t i, std::string_view otherwise) {
    return n.has(i) ? n.number(i) : std::string(otherwise);
  };
  n.set(n.helped("non_max_suppression", {n.in(0), n.in(1), number(2, "0"), number(3, "0.0"), number(4, "-inf"),
                                         std::string(text_of_flag(n.flag("center_point_box")))}));
}

void write_grid_sample(const NodeOut& n) {
  const std::string mode = n.word("mode", "linear"), padding = n.word("padding_mode", "zeros");
  n.set(NodeOut::call("torch.grid_sampler", {n.in(0), n.in(1),
                                             mode == "linear"    ? "0"
                                             : mode == "nearest" ? "1"
                                                                 : "2",
                                             padding == "zeros"    ? "0"
                                             : padding == "border" ? "1"
                                                                   : "2",
                                             std::string(text_of_flag(n.flag("align_corners")))}));
}

}  // namespace ingot::backends::torch
