// Equal, Greater, GreaterOrEqual, Less and LessOrEqual: two operands, broadcast, to truth values.
#include <functional>

#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/math/legacy_broadcast.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

Dim equal(std::span<const Dim> x) {
  if (same(x[0], x[1])) return 1;
  return may_equal(x[0], x[1]) ? Dim() : Dim(0);
}

Dim is_less(const Dim& a, const Dim& b) {
  if ((b - a).is_at_least(1)) return 1;
  return (a - b).is_at_least(0) ? Dim(0) : Dim();
}

Dim negated(const Dim& truth) { return truth.is_known() ? Dim(truth.value() == 0) : Dim(); }

Dim less(std::span<const Dim> x) { return is_less(x[0], x[1]); }
Dim greater(std::span<const Dim> x) { return is_less(x[1], x[0]); }
Dim less_or_equal(std::span<const Dim> x) { return negated(is_less(x[1], x[0])); }
Dim greater_or_equal(std::span<const Dim> x) { return negated(is_less(x[0], x[1])); }

Values decompose_greater_or_equal(DecomposeContext& c) {
  return {c.g.op("Or", {c.g.op("Greater", {c.in(0), c.in(1)}), c.g.op("Equal", {c.in(0), c.in(1)})})};
}
Values decompose_less_or_equal(DecomposeContext& c) {
  return {c.g.op("Or", {c.g.op("Less", {c.in(0), c.in(1)}), c.g.op("Equal", {c.in(0), c.in(1)})})};
}

/// NaN compares as false.
template <class Test> void run(KernelContext& c) {
  map_binary(c, ComputeNumbers{}, []<class T>(T x, T y) -> bool { return Test()(x, y); });
}

void run_equal(KernelContext& c) {
  map_binary(c, JoinTypes<ComputeNumbers, Types<bool, std::string>>{},
             []<class T>(const T& x, const T& y) -> bool { return x == y; });
}

}  // namespace

constinit const OpDef defs::Equal = {
    .name = "Equal",
    .infer = infer_predicate<equal>,
    .steps = kLegacyBroadcastCommuting,
    .kernel = run_equal,
};
constinit const OpDef defs::Greater = {
    .name = "Greater",
    .infer = infer_predicate<greater>,
    .steps = kLegacyBroadcast,
    .kernel = run<std::greater<>>,
};
constinit const OpDef defs::GreaterOrEqual = {
    .name = "GreaterOrEqual",
    .infer = infer_predicate<greater_or_equal>,
    .decompose = decompose_greater_or_equal,
    .kernel = run<std::greater_equal<>>,
};
constinit const OpDef defs::Less = {
    .name = "Less",
    .infer = infer_predicate<less>,
    .steps = kLegacyBroadcast,
    .kernel = run<std::less<>>,
};
constinit const OpDef defs::LessOrEqual = {
    .name = "LessOrEqual",
    .infer = infer_predicate<less_or_equal>,
    .decompose = decompose_less_or_equal,
    .kernel = run<std::less_equal<>>,
};

}  // namespace ingot::ops
