// How each operator carries a batch that the model fixes.
#include "ingot/passes/batch_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/batch_reshape.h"

namespace ingot::passes {
namespace {

using Ints = std::vector<std::int64_t>;

const Shape* shape_of(const Value* v) { return v && v->type.is_tensor() && v->type.shape ? &*v->type.shape : nullptr; }

/// The only dimension that has the batch in it.
std::optional<std::size_t> place_in(const Shape* shape, const BatchAxis& axis) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; shape && i < shape->size(); ++i)
    if (axis.is_in((*shape)[i])) {
      if (found) return std::nullopt;
      found = i;
    }
  return found;
}

std::optional<Ints> vector_of(const Value* v) {
  const Tensor* tensor = ops::constant_of(v);
  if (!tensor || tensor->dims().size() != 1) return std::nullopt;
  return tensor->to_ints();
}

BatchPatch patch_of(const Node& node, std::size_t input) {
  return {.output = node.output()->name(), .op = node.op, .input = input};
}

void reshape_patches(const Node& node, const BatchAxis& axis, std::vector<BatchPatch>& patches) {
  const Shape* shape = shape_of(node.input(0));
  const bool copies = node.attributes.int_or("allowzero", 0) == 0;
  auto target = vector_of(node.input(1));
  if (!target || target->empty()) return;
  const bool has_rest = std::ranges::find(*target, -1) != target->end();
  BatchPatch patch = patch_of(node, 1);
  const auto place = place_in(shape, axis);
  const bool is_lost = !shape || (!place && !shape->empty() && !shape->front().is_known());
  if (is_lost && node.input(0)) {  // rows usually stay first, and running both tells
    if (has_rest || target->front() != axis.old) return;
    target->front() = -1;
  } else {
    const auto at = place ? batch_entry(*shape, *place, *target, copies, axis) : std::nullopt;
    // Where other sizes are not known, rows that stand first stay first.
    const bool stays_first = place && *place == 0 && target->front() == axis.old;
    if (!at && !stays_first) return;
    patch.at = at.value_or(0);
    std::int64_t& entry = (*target)[patch.at];
    if (entry == -1 || (entry == 0 && copies)) return;  // it follows by itself
    const bool is_plain = patch.at == *place && same((*shape)[*place], axis.batch) && entry == axis.old && copies;
    if (has_rest && !is_plain) patch.factor = entry / axis.old;
    entry = has_rest ? (is_plain ? 0 : entry) : -1;
  }
  patch.values = *target;
  patches.push_back(std::move(patch));
}

/// The rows of a constant are alike: one does for all.
bool has_equal_slices(const Tensor& tensor, std::size_t axis) {
  const Dims& dims = tensor.dims();
  if (tensor.dtype() == DType::string) return false;
  std::size_t stride = 1;
  for (std::size_t i = axis + 1; i < dims.size(); ++i) stride *= static_cast<std::size_t>(dims[i]);
  const auto count = static_cast<std::size_t>(dims[axis]);
  const std::vector<double> values = tensor.to_doubles();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t first = i - (i / stride % count) * stride;
    if (values[i] != values[first] && !(std::isnan(values[i]) && std::isnan(values[first]))) return false;
  }
  return true;
}

/// A constant that has a slice for each example, all alike, and is stretched where it has only one. `at` counts from
/// the end, as broadcasting does.
bool shrink(const Node& node, std::size_t input, std::size_t at_from_end, std::int64_t size,
            std::vector<BatchPatch>& patches) {
  const Tensor* constant = ops::constant_of(node.input(input));
  if (!constant || size == 1 || constant->dims().size() < at_from_end) return false;
  const std::size_t at = constant->dims().size() - at_from_end;
  if (constant->dims()[at] != size || !has_equal_slices(*constant, at)) return false;
  patches.push_back(patch_of(node, input));
  patches.back().rank = constant->dims().size();
  patches.back().at = at;
  patches.back().shrinks = true;
  return true;
}

std::int64_t old_size(const Dim& dim, const BatchAxis& axis) {
  const Dim size = dim.substitute([&](std::string_view name) -> std::optional<Dim> {
    return name == axis.batch.str() ? std::optional<Dim>(axis.old) : std::nullopt;
  });
  return size.as_int().value_or(-1);
}

/// What is broadcast: its constants of the old batch.
void broadcast_patches(const Node& node, const BatchAxis& axis, std::vector<BatchPatch>& patches) {
  for (std::size_t input = 0; input < node.input_count(); ++input) {
    if (!ops::constant_of(node.input(input))) continue;
    for (std::size_t other = 0; other < node.input_count(); ++other) {
      const Shape* shape = other == input ? nullptr : shape_of(node.input(other));
      const auto place = place_in(shape, axis);
      if (place && shrink(node, input, shape->size() - *place, old_size((*shape)[*place], axis), patches)) break;
    }
  }
}

/// 1 leaves the size of the data.
void expand_patches(const Node& node, const BatchAxis& axis, std::vector<BatchPatch>& patches) {
  const Shape* shape = shape_of(node.input(0));
  const auto place = place_in(shape, axis);
  auto target = vector_of(node.input(1));
  if (!place && node.input(1) && node.input(1)->known_ints) {
    const std::vector<Dim>& sizes = *node.input(1)->known_ints;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (axis.is_in(sizes[i]) && shrink(node, 0, sizes.size() - i, old_size(sizes[i], axis), patches)) return;
  }
  if (!place || !target || axis.old == 1) return;
  const std::size_t from_end = shape->size() - *place;
  if (target->size() < from_end || (*target)[target->size() - from_end] != axis.old) return;
  (*target)[target->size() - from_end] = 1;
  patches.push_back(patch_of(node, 1));
  patches.back().values = *target;
}

void resize_patches(const Node& node, const BatchAxis& axis, std::vector<BatchPatch>& patches) {
  const Shape* shape = shape_of(node.input(0));
  const auto place = place_in(shape, axis);
  const auto sizes = vector_of(node.input(3));
  if (!place || !sizes || node.attributes.has("axes") || sizes->size() != shape->size()) return;
  if ((*sizes)[*place] != axis.old) return;
  patches.push_back(patch_of(node, 3));
  patches.back().values = *sizes;
  patches.back().at = *place;
  patches.back().factor = 1;
}

/// A slice of the whole batch.
void slice_patches(const Node& node, const BatchAxis& axis, std::vector<BatchPatch>& patches) {
  const Shape* shape = shape_of(node.input(0));
  const auto place = place_in(shape, axis);
  const auto starts = vector_of(node.input(1));
  auto ends = vector_of(node.input(2));
  if (!place || !starts || !ends || starts->size() != ends->size()) return;
  const auto axes = vector_of(node.input(3));
  for (std::size_t i = 0; i < ends->size(); ++i) {
    const std::int64_t along = axes && i < axes->size() ? (*axes)[i] : static_cast<std::int64_t>(i);
    const auto rank = static_cast<std::int64_t>(shape->size());
    if ((along < 0 ? along + rank : along) != static_cast<std::int64_t>(*place)) continue;
    if ((*starts)[i] != 0 || (*ends)[i] != axis.old) continue;
    (*ends)[i] = std::numeric_limits<std::int64_t>::max();
    patches.push_back(patch_of(node, 2));
    patches.back().values = *ends;
  }
}

/// A tensor that is the same for all examples and has to be there for each.
void repeat(const Node& node, std::size_t input, std::size_t at, const BatchAxis& axis,
            std::vector<BatchPatch>& patches) {
  const Shape* shape = shape_of(node.input(input));
  if (!shape || at >= shape->size()) return;
  if (!shrink(node, input, shape->size() - at, axis.old, patches) && (axis.old != 1 || !same((*shape)[at], Dim(1))))
    return;
  patches.push_back(patch_of(node, input));
  patches.back().rank = shape->size();
  patches.back().at = at;
}

void concat_patches(const Node& node, const BatchAxis& axis, std::vector<BatchPatch>& patches) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < node.input_count() && !place; ++i) place = place_in(shape_of(node.input(i)), axis);
  const std::int64_t along = node.attributes.int_or("axis", 0);
  if (!place || along == static_cast<std::int64_t>(*place)) return;
  for (std::size_t i = 0; i < node.input_count(); ++i) repeat(node, i, *place, axis, patches);
}

void recurrent_patches(const Node& node, const BatchAxis& axis, std::vector<BatchPatch>& patches) {
  const std::size_t place = node.attributes.int_or("layout", 0) == 0 ? 1 : 0;
  const Shape* shape = shape_of(node.input(0));
  if (!shape || place >= shape->size() || !axis.is_in((*shape)[place])) return;
  if (node.input(4)) repeat(node, 4, 0, axis, patches);
  for (const std::size_t state : {std::size_t{5}, std::size_t{6}})
    if (node.input(state)) repeat(node, state, place, axis, patches);
}

bool is_broadcast(const Node& node) {
  if (node.is("Gemm")) return node.attributes.int_or("transA", 0) == 0;
  return std::ranges::any_of(std::initializer_list<const char*>{"Add", "Sub", "Mul", "Div", "Pow", "Where", "Min", "Max",
                                                                "And", "Or", "Equal", "Less", "Greater"},
                             [&](const char* op) { return node.is(op); });
}

}  // namespace

bool BatchAxis::is_in(const Dim& dim) const {
  std::vector<std::string> names;
  dim.collect_symbols(names);
  return std::ranges::find(names, batch.str()) != names.end();
}

std::string BatchPatch::what() const {
  if (shrinks) return "input " + std::to_string(input) + " is one for all examples";
  return "input " + std::to_string(input) + (values.empty() ? " is repeated for each example" : " follows it");
}

std::vector<BatchPatch> batch_patches(const Node& node, const BatchAxis& axis) {
  std::vector<BatchPatch> patches;
  if (!node.output()) return patches;
  if (node.is("Reshape")) reshape_patches(node, axis, patches);
  if (node.is("Expand")) expand_patches(node, axis, patches);
  if (node.is("Resize")) resize_patches(node, axis, patches);
  if (node.is("Slice")) slice_patches(node, axis, patches);
  if (node.is("Concat")) concat_patches(node, axis, patches);
  if (is_broadcast(node)) broadcast_patches(node, axis, patches);
  if (node.is("LSTM") || node.is("GRU") || node.is("RNN")) recurrent_patches(node, axis, patches);
  return patches;
}

std::vector<Node*> apply(const BatchPatch& patch, Node& node, Value* batched, const Dim& batch) {
  Graph& graph = node.graph();
  GraphBuilder g(graph, &node, false);
  g.name_after(patch.output);
  std::vector<Node*> added;
  const auto op = [&](const char* name, const Values& inputs, const Attrs& attrs = {}) {
    added.push_back(g.node(name, "", inputs, attrs, 1));
    return added.back()->output();
  };
  const auto entry = [&](std::int64_t factor) {
    if (batch.is_known()) return g.ints({factor * batch.value()});
    Value* size = op("Gather", {op("Shape", {batched}), g.ints({0})}, {{"axis", 0}});
    return factor == 1 ? size : op("Mul", {size, g.ints({factor})});
  };
  const auto vector_with = [&](Ints values, std::int64_t factor) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(patch.at);
    Values parts;
    if (at != values.begin()) parts.push_back(g.ints(Ints(values.begin(), at)));
    parts.push_back(entry(factor));
    if (at + 1 != values.end()) parts.push_back(g.ints(Ints(at + 1, values.end())));
    return parts.size() == 1 ? parts.front() : op("Concat", parts, {{"axis", 0}});
  };
  if (patch.shrinks) {
    node.set_input(patch.input, op("Gather", {node.input(patch.input), g.ints({0})},
                                   {{"axis", static_cast<std::int64_t>(patch.at)}}));
  } else if (patch.values.empty()) {
    Value* sizes = vector_with(Ints(patch.rank, 1), 1);
    node.set_input(patch.input, op("Expand", {node.input(patch.input), sizes}));
  } else {
    node.set_input(patch.input, patch.factor ? vector_with(patch.values, patch.factor) : g.ints(patch.values));
  }
  return added;
}

}  // namespace ingot::passes
