// ScatterND and ScatterElements with a reduction as a loop over the updates.
#include "ingot/ops/tensor/scatter_loop.h"

#include "ingot/ops/infer.h"
#include "ingot/ops/nn/sizes.h"

namespace ingot::ops {
namespace {

/// (i, go on, data) -> (go on, data with update i).
GraphPtr updating_body(Graph& parent, const Type& data_type, Value* tuples, Value* updates,
                       const std::string& reduction) {
  auto body = std::make_unique<Graph>(&parent);
  body->name = "update";
  Value* i = body->add_input(parent.fresh_name("i"), Type::tensor(DType::i64, Shape()));
  Value* goes_on = body->add_input(parent.fresh_name("goes_on"), Type::tensor(DType::boolean, Shape()));
  Value* data = body->add_input(parent.fresh_name("data"), data_type);
  GraphBuilder g(*body);
  Value* row = g.reshape(i, {1});
  Value* tuple = g.op("Gather", {tuples, row});
  Value* now = g.op("GatherND", {data, tuple});
  Value* flat = g.op("Gather", {updates, row});
  Value* update = g.op("Reshape", {flat, g.shape(now)});
  Value* met = reduction == "add"   ? g.add(now, update)
               : reduction == "mul" ? g.mul(now, update)
               : reduction == "max" ? g.op("Max", {now, update})
                                    : g.op("Min", {now, update});
  body->add_output(g.op("Identity", {goes_on}));
  body->add_output(g.op("ScatterND", {data, tuple, met}));
  return body;
}

/// Truth values in integers: add and max are "or", mul and min are "and".
Values of_truth_values(DecomposeContext& c, Name type, const std::string& reduction, const Attrs& others) {
  Attrs attrs = others;
  attrs.emplace_back("reduction", reduction == "add" || reduction == "max" ? "max" : "min");
  Value* data = c.g.cast(c.in(0), DType::i32);
  Value* updates = c.g.cast(c.in(2), DType::i32);
  return {c.g.cast(c.g.op(type, {data, c.in(1), updates}, attrs), DType::boolean)};
}

bool is_covered(const DecomposeContext& c, const std::string& reduction) {
  const bool is_known =
      reduction == "none" || reduction == "add" || reduction == "mul" || reduction == "max" || reduction == "min";
  return is_known && c.in(0) && c.in(1) && c.in(2) && c.elem(0) != DType::undefined && c.elem(0) != DType::string;
}

}  // namespace

Values scatter_nd_by_loop(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::string reduction = c.attr("reduction", "none");
  const auto rank = c.rank(1);
  if (reduction == "none" || !is_covered(c, reduction) || !rank || *rank < 1) return {};
  if (c.elem(0) == DType::boolean) return of_truth_values(c, "ScatterND", reduction, {});
  Value* tuples = g.op("Flatten", {c.in(1)}, {{"axis", *rank - 1}});
  Value* updates = g.op("Flatten", {c.in(2)}, {{"axis", *rank - 1}});
  Value* count = g.squeeze(size_along(g, tuples, 0), {0});
  Node* loop = g.node("Loop", "", {count, nullptr, c.in(0)}, {}, 1);
  loop->attributes.append(
      Attribute("body", AttrValue(updating_body(g.graph(), c.in(0)->type, tuples, updates, reduction))));
  InferSession session;
  infer_node(*loop, session);
  return loop->outputs();
}

Values scatter_elements_by_loop(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::string reduction = c.attr("reduction", "none");
  const auto rank = c.rank(0);
  std::int64_t axis = c.attr("axis", std::int64_t{0});
  if (!is_covered(c, reduction) || !rank || axis < -*rank || axis >= *rank) return {};
  if (c.elem(0) == DType::boolean && reduction != "none")
    return of_truth_values(c, "ScatterElements", reduction, {{"axis", axis}});
  if (axis < 0) axis += *rank;
  // Where each update goes in the row of all elements: a dimension after the other, as digits of a number.
  Value *place = nullptr, *given = g.cast(c.in(1), DType::i64);
  Value *zero = g.index(0), *one = g.index(1);
  for (std::int64_t k = 0; k < *rank; ++k) {
    Value* size = g.squeeze(size_along(g, c.in(0), k), {0});
    Value* digit = nullptr;
    if (k == axis) {
      Value *is_from_end = g.op("Less", {given, zero}), *from_front = g.add(given, size);
      digit = g.where(is_from_end, from_front, given);
    } else {
      Value* count = g.squeeze(size_along(g, c.in(1), k), {0});
      std::vector<std::int64_t> dims(static_cast<std::size_t>(*rank), 1);
      dims[static_cast<std::size_t>(k)] = -1;
      digit = g.reshape(g.op("Range", {zero, count, one}), dims);
    }
    place = place ? g.add(g.mul(place, size), digit) : digit;
  }
  Value* shape = g.shape(c.in(0));
  Value* row = g.reshape(c.in(0), {-1});
  Value* tuples = g.reshape(place, {-1, 1});
  Value* updates = g.reshape(c.in(2), {-1});
  Value* made = g.op("ScatterND", {row, tuples, updates}, {{"reduction", reduction}});
  return {g.op("Reshape", {made, shape})};
}

}  // namespace ingot::ops
