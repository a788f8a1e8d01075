// Scatter, ScatterElements, ScatterND: a copy of a tensor in which some elements or slices are replaced.
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

// Since 11, Scatter is called ScatterElements.
void up_to_elements(StepContext& c) {
  c.replace({c.g.op("ScatterElements", c.node.inputs(), {{"axis", c.node.attributes.int_or("axis", 0)}})});
}

Values decompose_scatter(DecomposeContext& c) {
  return {c.g.op("ScatterElements", {c.in(0), c.in(1), c.in(2)}, {{"axis", c.attr("axis", std::int64_t{0})}})};
}

void down_to_add_and_mul(StepContext& c) {
  const std::string reduction = c.node.attributes.string_or("reduction", "none");
  if (reduction == "max" || reduction == "min")
    c.cannot("reduction '" + reduction + "' exists since opset 18", "use --opset 18 or newer");
}

constexpr Step kScatterSteps[] = {{.since = 11, .up = up_to_elements}};
constexpr Step kSteps[] = {{.since = 18, .down = down_to_add_and_mul}};

void check_reduction(InferContext& c) {
  const std::string reduction = c.attr("reduction", "none");
  for (const char* known : {"none", "add", "mul", "max", "min"})
    if (reduction == known) return;
  c.fail("reduction '" + reduction + "' is not known");
}

void infer_elements(InferContext& c) {
  check_reduction(c);
  if (const auto rank = c.rank(0)) c.axis(c.attr("axis", std::int64_t{0}), *rank);
  for (std::size_t i = 1; i < 3; ++i)
    if (c.rank(0) && c.rank(i) && *c.rank(0) != *c.rank(i)) c.fail("data, indices and updates differ in rank");
  if (const Shape* indices = c.shape(1), *updates = c.shape(2); indices && updates) {
    for (std::size_t i = 0; i < indices->size(); ++i)
      if (i < updates->size() && !may_equal((*indices)[i], (*updates)[i]))
        c.fail("indices and updates differ: " + (*indices)[i].str() + " and " + (*updates)[i].str());
  }
  if (c.shape(0)) return c.out_shape_like(0, 0);
  for (std::size_t i = 1; i < 3; ++i)
    if (c.rank(i)) c.out_rank(0, *c.rank(i));
}

void infer_nd(InferContext& c) {
  check_reduction(c);
  const Shape *x = c.shape(0), *indices = c.shape(1), *updates = c.shape(2);
  if (indices && indices->empty()) c.fail("the indices are a scalar");
  if (x && indices && indices->back().is_known()) {
    const std::int64_t tuple = indices->back().value();
    if (tuple < 0 || tuple > static_cast<std::int64_t>(x->size()))
      c.fail("index tuples have " + std::to_string(tuple) + " entries, data has rank " + std::to_string(x->size()));
    const auto rank = static_cast<std::int64_t>(indices->size()) - 1 + static_cast<std::int64_t>(x->size()) - tuple;
    if (updates && static_cast<std::int64_t>(updates->size()) != rank)
      c.fail("updates have rank " + std::to_string(updates->size()) + ", not " + std::to_string(rank));
  }
  c.out_shape_like(0, 0);
}

/// What both operators do: write numbers at places, and read them there.
struct Access {
  std::function<Value*(Value* data, Value* updates, const char* reduction)> write;
  std::function<Value*(Value* data)> read;
};

// Places written twice are only defined with a reduction.
Values gradient_scatter(GradContext& c, const Access& at) {
  GraphBuilder& g = c.g;
  const std::string reduction = c.attr("reduction", "none");
  Value *data = c.x(0), *updates = c.x(2), *dy = c.dy();
  if (reduction == "add") return {dy, nullptr, at.read(dy)};
  if (reduction == "none") return {at.write(dy, c.zeros(updates), "none"), nullptr, at.read(dy)};
  if (reduction == "mul") {
    Value* factors = at.write(c.ones(data), updates, "mul");
    Value* weighted = at.read(g.mul(dy, c.y()));
    return {g.mul(dy, factors), nullptr, g.div(weighted, updates)};
  }
  // The largest or smallest: those that share it share the gradient.
  Value* data_wins = g.cast(c.equal(data, c.y()), c.elem());
  Value* update_wins = g.cast(c.equal(updates, at.read(c.y())), c.elem());
  Value* share = g.div(dy, at.write(data_wins, update_wins, "add"));
  Value* of_updates = at.read(share);
  return {g.mul(data_wins, share), nullptr, g.mul(update_wins, of_updates)};
}

Values gradient_scatter_elements(GradContext& c) {
  const std::int64_t axis = c.attr("axis", std::int64_t{0});
  Value* places = c.x(1);
  return gradient_scatter(
      c, {[&](Value* data, Value* updates, const char* reduction) {
            return c.g.op("ScatterElements", {data, places, updates}, {{"axis", axis}, {"reduction", reduction}});
          },
          [&](Value* data) {
            return c.g.op("GatherElements", {data, places}, {{"axis", axis}});
          }});
}

Values gradient_scatter_nd(GradContext& c) {
  Value* places = c.x(1);
  return gradient_scatter(c, {[&](Value* data, Value* updates, const char* reduction) {
                                return c.g.op("ScatterND", {data, places, updates}, {{"reduction", reduction}});
                              },
                              [&](Value* data) {
                                return c.g.op("GatherND", {data, places});
                              }});
}

}  // namespace

constinit const OpDef defs::Scatter = {
    .name = "Scatter",
    .infer = infer_elements,
    .steps = kScatterSteps,
    .decompose = decompose_scatter,
};
constinit const OpDef defs::ScatterElements = {
    .name = "ScatterElements",
    .infer = infer_elements,
    .steps = kSteps,
    .gradient = gradient_scatter_elements,
};
constinit const OpDef defs::ScatterND = {
    .name = "ScatterND",
    .infer = infer_nd,
    .steps = kSteps,
    .gradient = gradient_scatter_nd,
};

}  // namespace ingot::ops
