// Scatter, ScatterElements, ScatterND: a copy of a tensor in which some elements or slices are replaced.
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/places.h"
#include "ingot/ops/tensor/scatter_loop.h"

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

/// How an update meets the element it is written to.
enum class Meet { replace, add, mul, max, min };

Meet meet_of(const KernelContext& c) {
  const std::string reduction = c.attr("reduction", "none");
  if (reduction == "none") return Meet::replace;
  if (reduction == "add") return Meet::add;
  if (reduction == "mul") return Meet::mul;
  if (reduction == "max") return Meet::max;
  if (reduction == "min") return Meet::min;
  c.fail("reduction '" + reduction + "' is not known");
}

template <class T> T met(const KernelContext& c, Meet meet, T x, T update) {
  constexpr bool kIsOrdered = std::is_arithmetic_v<T>;
  if constexpr (kIsOrdered) {
    // NaN, of either side, is the greatest and the least of all.
    if (meet == Meet::max) return x > update || x != x ? x : update;
    if (meet == Meet::min) return x < update || x != x ? x : update;
  }
  if constexpr (std::is_integral_v<T>) {  // which wrap around
    const auto a = static_cast<std::uint64_t>(x), b = static_cast<std::uint64_t>(update);
    return static_cast<T>(meet == Meet::add ? a + b : a * b);
  } else {
    if (!kIsOrdered && meet != Meet::add && meet != Meet::mul) c.fail("complex numbers have no order");
    return meet == Meet::add ? x + update : x * update;
  }
}

// Writes slices of the updates over a copy of the data, one after the other.
void write_slices(KernelContext& c, const Array& places, std::int64_t size) {
  const Array &x = c.in(0), &updates = c.in(2);
  if (updates.dtype() != x.dtype()) c.fail("data and updates differ in element type");
  const Meet meet = meet_of(c);
  WorkMeter meter(c.host().budget());
  std::int64_t from = 0;
  if (meet == Meet::replace) {
    Array& y = c.make(0, x.dtype(), x.dims());
    copy_elements(x, 0, y, 0, x.size());
    for (const std::int64_t place : places.data<std::int64_t>()) {
      copy_elements(updates, from, y, place, size);
      from += size;
      meter.did(size);
    }
    return;
  }
  if (x.dtype() == DType::string) c.fail("strings can only be replaced");
  // Of truth values, add and max are "or", mul and min are "and".
  const DType work = x.dtype() == DType::boolean ? DType::i32 : compute_dtype(x.dtype());
  const Array in = converted(x, work, c.host()), change = converted(updates, work, c.host());
  Array y = scratch(c, work, x.dims());
  copy_elements(in, 0, y, 0, in.size());
  dispatch(work, JoinTypes<ComputeNumbers, Complexes>{}, [&]<class T>() {
    const auto out = y.mutable_data<T>();
    const T* next = change.data<T>().data();
    for (const std::int64_t place : places.data<std::int64_t>()) {
      for (T& element : out.subspan(static_cast<std::size_t>(place), static_cast<std::size_t>(size)))
        element = met(c, meet, element, *next++);
      meter.did(size);
    }
  });
  put(c, 0, y, x.dtype());
}

void run_elements(KernelContext& c) {
  const Array &x = c.in(0), &indices = c.in(1);
  if (c.in(2).dims() != indices.dims()) c.fail("indices and updates differ in shape");
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
  write_slices(c, places_of_elements(c, x, indices, axis), 1);
}

void run_nd(KernelContext& c) {
  const Slices slices = slices_of_tuples(c, c.in(0), c.in(1), 0);
  if (c.in(2).dims() != slices.dims) c.fail("the updates do not have the shape that data and indices ask for");
  write_slices(c, slices.places, slices.size);
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
    .decompose = scatter_elements_by_loop,
    .kernel = run_elements,
    .gradient = gradient_scatter_elements,
};
constinit const OpDef defs::ScatterND = {
    .name = "ScatterND",
    .infer = infer_nd,
    .steps = kSteps,
    .decompose = scatter_nd_by_loop,
    .kernel = run_nd,
    .gradient = gradient_scatter_nd,
};

}  // namespace ingot::ops
