// Rules of operators that only move elements or rename axes.
#include <algorithm>

#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/optimize/rules.h"

namespace ingot::passes {
namespace {

using Ints = std::vector<std::int64_t>;

bool keeps_shape(RuleContext& c) { return is_same_type(c.node.input(0), c.node.output()) && pass_through(c.node); }

std::optional<Ints> ints_of(const Value* value) {
  const Tensor* tensor = ops::constant_of(value);
  if (!tensor || !is_integer(tensor->dtype()) || tensor->rank() > 1) return std::nullopt;
  return tensor->to_ints();
}

bool slices_all(RuleContext& c) {
  const Node& node = c.node;
  if (node.input(4)) {
    const auto steps = ints_of(node.input(4));
    if (!steps || std::ranges::any_of(*steps, [](std::int64_t s) { return s != 1; })) return false;
  }
  return keeps_shape(c);
}

bool pads_nothing(RuleContext& c) {
  const auto pads = ints_of(c.node.input(1));
  return pads && std::ranges::all_of(*pads, [](std::int64_t p) { return p == 0; }) && pass_through(c.node);
}

bool has_one_part(RuleContext& c) {
  const std::size_t count = c.node.is("Concat") ? c.node.input_count() : c.node.output_count();
  return count == 1 && is_same_type(c.node.input(0), c.node.output()) && pass_through(c.node);
}

bool is_view(const Node& node) {
  for (const char* op : {"Reshape", "Squeeze", "Unsqueeze", "Flatten"})
    if (node.is(op)) return true;
  return false;
}

/// The dimensions as Reshape takes them: at most one that is no number. Nothing: it cannot be said.
std::optional<Ints> reshape_dims(const Value* value) {
  if (!value->type.shape) return std::nullopt;
  Ints dims;
  for (const Dim& d : *value->type.shape) dims.push_back(d.is_known() ? d.value() : -1);
  const bool is_open = std::ranges::count(dims, -1) > 0;
  // With a zero beside it, -1 would say nothing; a zero alone would mean "as before".
  if (std::ranges::count(dims, -1) > 1 || (is_open && std::ranges::count(dims, 0) > 0)) return std::nullopt;
  return dims;
}

Value* reshaped(Node& node, Value* x, const Ints& dims) {
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  const bool has_zero = std::ranges::count(dims, 0) > 0;
  Value* y = has_zero ? g.op("Reshape", {x, g.ints(dims)}, {{"allowzero", 1}}) : g.reshape(x, dims);
  y->type = node.output()->type;
  return y;
}

/// One view of a view.
bool join_views(RuleContext& c) {
  Node& node = c.node;
  const Node* inner = node.input(0) ? node.input(0)->producer() : nullptr;
  if (!inner || !is_view(*inner) || &inner->graph() != &node.graph() || !inner->input(0)) return false;
  const auto dims = reshape_dims(node.output());
  if (!dims) return false;
  replace_node(node, {reshaped(node, inner->input(0), *dims)});
  return true;
}

std::optional<Ints> perm_of(const Node& transpose) {
  const auto& shape = transpose.input(0) ? transpose.input(0)->type.shape : std::nullopt;
  if (!shape) return std::nullopt;
  Ints reversed;
  for (std::int64_t i = std::ssize(*shape); i-- > 0;) reversed.push_back(i);
  Ints perm = transpose.attributes.ints_or("perm", reversed);
  return perm.size() == shape->size() ? std::optional(std::move(perm)) : std::nullopt;
}

bool keeps_order(RuleContext& c) {
  const auto perm = perm_of(c.node);
  return perm && std::ranges::is_sorted(*perm) && pass_through(c.node);
}

bool join_transposes(RuleContext& c) {
  const Node* inner = maker(c.node.input(0), "Transpose");
  const auto outer_perm = perm_of(c.node);
  const auto inner_perm = inner ? perm_of(*inner) : std::nullopt;
  if (!outer_perm || !inner_perm) return false;
  Ints joined;
  for (const std::int64_t axis : *outer_perm) joined.push_back((*inner_perm)[static_cast<std::size_t>(axis)]);
  c.node.attributes.set({"perm", AttrValue(joined)});
  c.node.set_input(0, inner->input(0));
  return true;
}

/// Only axes of one element move: no element does.
bool transpose_as_view(RuleContext& c) {
  const auto perm = perm_of(c.node);
  if (!perm || std::ranges::is_sorted(*perm)) return false;
  const Shape& shape = *c.node.input(0)->type.shape;
  std::int64_t last = -1;
  for (const std::int64_t axis : *perm) {
    const Dim& d = shape[static_cast<std::size_t>(axis)];
    if (d.is_known() && d.value() == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  const auto dims = reshape_dims(c.node.output());
  if (!dims) return false;
  replace_node(c.node, {reshaped(c.node, c.node.input(0), *dims)});
  return true;
}

/// Parts that are themselves joined along the same axis, and by nobody else read.
bool join_concats(RuleContext& c) {
  Node& node = c.node;
  const auto& shape = node.output()->type.shape;
  if (!shape) return false;
  const auto axis_of = [&](const Node& n) {
    const std::int64_t axis = n.attributes.int_or("axis", 0);
    return axis < 0 ? axis + std::ssize(*shape) : axis;
  };
  Values parts;
  bool changes = false;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const Node* inner = node.input(i) ? own_maker(node.input(i), "Concat", node) : nullptr;
    if (!inner || axis_of(*inner) != axis_of(node)) {
      parts.push_back(node.input(i));
      continue;
    }
    changes = true;
    for (Value* part : inner->inputs()) parts.push_back(part);
  }
  if (!changes) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) node.set_input(i, parts[i]);
  return true;
}

/// What a Slice of steps 1 takes, axis by axis.
struct Cut {
  std::int64_t axis, begin, end;
};

std::optional<std::vector<Cut>> cuts_of(const Node& slice) {
  const auto& shape = slice.input(0) ? slice.input(0)->type.shape : std::nullopt;
  const auto begins = ints_of(slice.input(1)), ends = ints_of(slice.input(2));
  if (!shape || !begins || !ends || begins->size() != ends->size()) return std::nullopt;
  const auto axes = slice.input(3) ? ints_of(slice.input(3)) : std::nullopt,
             steps = slice.input(4) ? ints_of(slice.input(4)) : std::nullopt;
  if ((slice.input(3) && (!axes || axes->size() != begins->size())) || (slice.input(4) && !steps)) return std::nullopt;
  if (steps && std::ranges::any_of(*steps, [](std::int64_t s) { return s != 1; })) return std::nullopt;
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < begins->size(); ++i) {
    const std::int64_t axis = axes ? (*axes)[i] : static_cast<std::int64_t>(i);
    cuts.push_back({axis < 0 ? axis + std::ssize(*shape) : axis, (*begins)[i], (*ends)[i]});
  }
  return cuts;
}

/// Both in elements from the front; nothing: the size is not known.
std::optional<Cut> from_front(const Cut& cut, const Dim& size) {
  if (!size.is_known()) return std::nullopt;
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size.value() : at, 0, size.value());
  };
  const std::int64_t begin = place(cut.begin);
  return Cut{cut.axis, begin, std::max(begin, place(cut.end))};
}

bool join_slices(RuleContext& c) {
  Node& node = c.node;
  const Node* inner = own_maker(node.input(0), "Slice", node);
  const auto outer_cuts = cuts_of(node);
  auto all = inner ? cuts_of(*inner) : std::nullopt;
  if (!outer_cuts || !all) return false;
  const Shape &first = *inner->input(0)->type.shape, &second = *node.input(0)->type.shape;
  for (const Cut& cut : *outer_cuts) {
    const auto same = std::ranges::find(*all, cut.axis, &Cut::axis);
    if (same == all->end()) {
      all->push_back(cut);
      continue;
    }
    const auto axis = static_cast<std::size_t>(cut.axis);
    const auto before = from_front(*same, first[axis]), then = from_front(cut, second[axis]);
    if (!before || !then) return false;
    *same = {cut.axis, before->begin + then->begin, before->begin + then->end};
  }
  Ints begins, ends, axes;
  for (const Cut& cut : *all) {
    begins.push_back(cut.begin);
    ends.push_back(cut.end);
    axes.push_back(cut.axis);
  }
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  replace_node(node, {g.op("Slice", {inner->input(0), g.ints(begins), g.ints(ends), g.ints(axes)})});
  return true;
}

/// Axes that are reduced away and put back.
bool keep_reduced_axes(RuleContext& c) {
  Node& node = c.node;
  const Value* given = node.input(0);
  const Node* inner = given ? given->producer() : nullptr;
  const auto& shape = node.output()->type.shape;
  if (!inner || !inner->op.starts_with("Reduce") || !inner->domain.empty() || !shape || !inner->input(0)) return false;
  if (inner->attributes.int_or("keepdims", 1) != 0 || &inner->graph() != &node.graph() || !is_read_only_by(given, node))
    return false;
  const auto reduced = ints_of(inner->input(1)), added = ints_of(node.input(1));
  if (!reduced || !added || reduced->empty() || reduced->size() != added->size()) return false;
  const auto in_order = [&](Ints axes) {
    for (std::int64_t& axis : axes) axis += axis < 0 ? std::ssize(*shape) : 0;
    std::ranges::sort(axes);
    return axes;
  };
  if (in_order(*reduced) != in_order(*added)) return false;
  GraphBuilder g(node.graph(), &node);
  g.name_after(node);
  Value* kept = g.node(inner->op, "", {inner->input(0), inner->input(1)}, {{"keepdims", 1}}, 1)->output(0);
  kept->type = node.output()->type;
  replace_node(node, {kept});
  return true;
}

constexpr Rule kRules[] = {
    {"moves of nothing", "Concat", OptimizeLevel::basic, has_one_part},
    {"moves of nothing", "Expand", OptimizeLevel::basic, keeps_shape},
    {"moves of nothing", "Flatten", OptimizeLevel::basic, keeps_shape},
    {"moves of nothing", "Pad", OptimizeLevel::basic, pads_nothing},
    {"moves of nothing", "Reshape", OptimizeLevel::basic, keeps_shape},
    {"moves of nothing", "Slice", OptimizeLevel::basic, slices_all},
    {"moves of nothing", "Split", OptimizeLevel::basic, has_one_part},
    {"moves of nothing", "Squeeze", OptimizeLevel::basic, keeps_shape},
    {"moves of nothing", "Tile", OptimizeLevel::basic, keeps_shape},
    {"moves of nothing", "Transpose", OptimizeLevel::basic, keeps_order},
    {"moves of nothing", "Unsqueeze", OptimizeLevel::basic, keeps_shape},
    {"views of views", "Flatten", OptimizeLevel::basic, join_views},
    {"views of views", "Reshape", OptimizeLevel::basic, join_views},
    {"views of views", "Squeeze", OptimizeLevel::basic, join_views},
    {"views of views", "Unsqueeze", OptimizeLevel::basic, join_views},
    {"transposes of transposes", "Transpose", OptimizeLevel::basic, join_transposes},
    {"transposes as views", "Transpose", OptimizeLevel::basic, transpose_as_view},
    {"parts of parts", "Concat", OptimizeLevel::basic, join_concats},
    {"parts of parts", "Slice", OptimizeLevel::basic, join_slices},
    {"axes that are kept", "Unsqueeze", OptimizeLevel::basic, keep_reduced_axes},
};

}  // namespace

std::span<const Rule> shape_rules() { return kRules; }

}  // namespace ingot::passes
