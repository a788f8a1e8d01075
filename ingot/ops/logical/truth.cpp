// And, Or, Xor and Not of truth values.
#include <functional>

#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/math/legacy_broadcast.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

bool is_false(const Dim& truth) { return truth.as_int() == 0; }
bool is_true(const Dim& truth) { return truth.as_int() == 1; }

Dim both(std::span<const Dim> x) {
  if (is_false(x[0]) || is_false(x[1])) return 0;
  return is_true(x[0]) && is_true(x[1]) ? Dim(1) : Dim();
}
Dim either(std::span<const Dim> x) {
  if (is_true(x[0]) || is_true(x[1])) return 1;
  return is_false(x[0]) && is_false(x[1]) ? Dim(0) : Dim();
}
Dim differing(std::span<const Dim> x) {
  return x[0].is_known() && x[1].is_known() ? Dim(x[0].value() != x[1].value()) : Dim();
}
Dim opposite(std::span<const Dim> x) { return x[0].is_known() ? Dim(x[0].value() == 0) : Dim(); }

template <class Op> void run(KernelContext& c) {
  map_binary(c, Types<bool>{}, [](bool x, bool y) -> bool { return Op()(x, y); });
}

void run_not(KernelContext& c) {
  map_unary(c, Types<bool>{}, [](bool x) { return !x; });
}

}  // namespace

constinit const OpDef defs::And = {
    .name = "And",
    .infer = infer_predicate<both>,
    .steps = kLegacyBroadcastCommuting,
    .kernel = run<std::logical_and<>>,
};
constinit const OpDef defs::Not = {
    .name = "Not",
    .infer = infer_unary<opposite>,
    .kernel = run_not,
};
constinit const OpDef defs::Or = {
    .name = "Or",
    .infer = infer_predicate<either>,
    .steps = kLegacyBroadcastCommuting,
    .kernel = run<std::logical_or<>>,
};
constinit const OpDef defs::Xor = {
    .name = "Xor",
    .infer = infer_predicate<differing>,
    .steps = kLegacyBroadcastCommuting,
    .kernel = run<std::not_equal_to<>>,
};

}  // namespace ingot::ops
