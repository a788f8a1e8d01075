// Range: start, start + delta, start + 2 * delta and so on, as far as below (or above) the limit.
#include <cmath>
#include <utility>

#include "ingot/ops/compute.h"
#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

constexpr std::int64_t kMostElements = 1024;

/// The only number of input i, when it is a constant.
std::optional<double> constant_number(const InferContext& c, std::size_t i) {
  const auto numbers = c.const_doubles(i);
  return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
}

/// How many numbers a range of constants has; the difference is taken in the range's own type.
Dim count_of(DType elem, double start, double limit, double delta) {
  double span = limit - start;
  if (elem != DType::f64) span = static_cast<double>(static_cast<float>(span));
  const double count = std::ceil(span / delta);
  if (!(count < 0x1p62)) return {};
  return count > 0 ? Dim(static_cast<std::int64_t>(count)) : Dim(0);
}

void infer(InferContext& c) {
  for (std::size_t i = 0; i < 3; ++i)
    if (const Shape* s = c.shape(i)) c.require(may_equal(product(*s), 1), "an input is not one number");
  const auto start = constant_number(c, 0), limit = constant_number(c, 1), delta = constant_number(c, 2);
  if (delta) c.require(*delta != 0, "delta is 0");
  if (is_float(c.elem(0)) && start && limit && delta) {
    const Dim count = count_of(c.elem(0), *start, *limit, *delta);
    c.out_shape(0, {count.is_unknown() ? c.data_dim(0, 0) : count});
    return;
  }
  const auto from = known_elements(c, 0), to = known_elements(c, 1), by = known_elements(c, 2);
  Dim count;
  if (from && to && by && from->size() == 1 && to->size() == 1 && by->size() == 1) {
    const Dim& step = by->front();
    if (step.as_int() == 0) c.fail("delta is 0");
    count = max(ceil_div(to->front() - from->front(), step), 0);
    if (count.is_known() && count.value() <= kMostElements) {
      Elements numbers;
      for (std::int64_t i = 0; i < count.value(); ++i)
        numbers.push_back(as_held(from->front() + step * Dim(i), c.elem(0)));
      c.out_ints(0, std::move(numbers));
    }
  }
  c.out_shape(0, {count.is_unknown() ? c.data_dim(0, 0) : count});
}

/// max(ceil((limit - start) / delta), 0) as int64, of rank 1.
Value* count(GraphBuilder& g, Value* start, Value* limit, Value* delta, DType elem) {
  Value* span = g.sub(limit, start);
  if (is_integer(elem)) {
    span = g.cast(span, DType::f64);
    delta = g.cast(delta, DType::f64);
  }
  Value* number = g.cast(g.op("Ceil", {g.div(span, delta)}), DType::i64);
  return g.op("Max", {g.reshape(number, {1}), g.ints({0})});
}

Values decompose(DecomposeContext& c) {
  const DType elem = c.elem(0);
  if (elem == DType::undefined || !c.has(1) || !c.has(2)) return {};
  if (elem == DType::f16 || elem == DType::bf16) {
    const std::int64_t stash = c.attr("stash_type", static_cast<std::int64_t>(DType::f32));
    if (stash != static_cast<std::int64_t>(DType::f32) && stash != static_cast<std::int64_t>(DType::f64)) return {};
    const auto wide = static_cast<DType>(stash);
    const auto cast = [&](std::size_t i) { return c.g.cast(c.in(i), wide); };
    return {c.g.cast(c.g.op("Range", {cast(0), cast(1), cast(2)}), elem)};
  }
  if (c.node.attributes.has("stash_type")) return {c.g.op("Range", {c.in(0), c.in(1), c.in(2)})};  // has no effect
  Value* n = count(c.g, c.in(0), c.in(1), c.in(2), elem);
  Value* ones = c.g.op("ConstantOfShape", {n}, {{"value", Tensor::of<std::int64_t>({1}, {1})}});
  Value* indices = c.g.op("CumSum", {ones, c.g.index(0)}, {{"exclusive", 1}});
  return {c.g.add(c.g.mul(c.g.cast(indices, elem), c.in(2)), c.in(0))};
}

/// How many steps there are from start to limit; exact for all integers.
template <std::signed_integral T> std::uint64_t integer_count(T start, T limit, T delta) {
  if (delta > 0 ? start >= limit : start <= limit) return 0;
  const auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(limit);
  const auto by = static_cast<std::uint64_t>(delta);
  return ((delta > 0 ? to - from : from - to) - 1) / (delta > 0 ? by : 0 - by) + 1;
}

template <class T> void run_in(KernelContext& c) {
  T given[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (c.in(i).size() != 1) c.fail("an input is not one number");
    given[i] = converted(c.in(i), dtype_of<T>, c.host()).template data<T>()[0];
  }
  const auto [start, limit, delta] = given;
  if (delta == 0) c.fail("delta is 0");
  std::int64_t count = 0;
  if constexpr (std::is_integral_v<T>) {
    const std::uint64_t steps = integer_count(start, limit, delta);
    if (!std::in_range<std::int64_t>(steps)) c.fail("the range is too long");
    count = static_cast<std::int64_t>(steps);
  } else {
    const Dim steps = count_of(c.in(0).dtype(), start, limit, delta);
    if (!steps.is_known()) c.fail("the range is too long");
    count = steps.value();
  }
  Array y = scratch(c, dtype_of<T>, {count});
  const auto out = y.mutable_data<T>();
  using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<T>(static_cast<Wide>(start) + static_cast<Wide>(i) * static_cast<Wide>(delta));
  put(c, 0, y, c.in(0).dtype());
}

// Floats are computed in double and rounded once.
void run(KernelContext& c) {
  const DType elem = c.in(0).dtype();
  if (is_float(elem)) return run_in<double>(c);
  dispatch(elem, SignedIntegers{}, [&]<class T>() { run_in<T>(c); });
}

}  // namespace

constinit const OpDef defs::Range = {
    .name = "Range",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
