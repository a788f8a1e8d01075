// Padding: of some axes by amounts that are computed, and of more axes than a target has.
#include <functional>
#include <numeric>

#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {

Values rewrite_pad(Rewriting& r) {
  const Tensor* axes = r.in(3) ? ops::constant_of(r.in(3)) : nullptr;
  if (!axes || ops::constant_of(r.in(1)) || !r.rank()) return {};
  const auto rank = static_cast<std::int64_t>(r.rank()), count = axes->size();
  // Which amount each axis takes; the one behind the last is zero.
  std::vector<std::int64_t> which(static_cast<std::size_t>(2 * rank), 2 * count);
  const std::vector<std::int64_t> given = axes->to_ints();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t a = given[static_cast<std::size_t>(i)], axis = a < 0 ? a + rank : a;
    if (axis < 0 || axis >= rank) return {};
    which[static_cast<std::size_t>(axis)] = i;
    which[static_cast<std::size_t>(axis + rank)] = i + count;
  }
  GraphBuilder& g = r.g;
  Value* zero = g.ints({0});
  Value* amounts = g.concat({r.in(1), zero}, 0);
  Value* order = g.ints(which);
  Value* all = g.op("Gather", {amounts, order}, {{"axis", 0}});
  return {g.op("Pad", {r.in(0), all, r.in(2)}, {{"mode", r.node.attributes.string_or("mode", "constant")}})};
}

Values pad_within(Rewriting& r, std::size_t most_axes) {
  const Tensor *amounts = ops::constant_of(r.in(1)), *axes = r.in(3) ? ops::constant_of(r.in(3)) : nullptr;
  const auto dims = r.dims();
  if (!amounts || (r.in(3) && !axes) || !dims || dims->size() <= most_axes) return {};
  const std::size_t rank = dims->size();
  const std::vector<std::int64_t> given = amounts->to_ints();
  std::vector<std::int64_t> along(rank);
  std::iota(along.begin(), along.end(), 0);
  if (axes) along = axes->to_ints();
  if (given.size() != 2 * along.size()) return {};
  // Axis by axis: what lies before it is one axis, and what lies behind it.
  GraphBuilder& g = r.g;
  std::vector<std::int64_t> now = *dims;
  Value* x = r.in(0);
  for (std::size_t k = 0; k < along.size(); ++k) {
    const std::int64_t a = along[k] < 0 ? along[k] + static_cast<std::int64_t>(rank) : along[k];
    const std::int64_t before = given[k], after = given[k + along.size()];
    if (a < 0 || a >= static_cast<std::int64_t>(rank)) return {};
    if (!before && !after) continue;
    const auto at = now.begin() + a;
    const auto product = [](auto first, auto last) {
      return std::accumulate(first, last, std::int64_t{1}, std::multiplies<>());
    };
    x = g.reshape(x, {product(now.begin(), at), *at, product(at + 1, now.end())});
    Value* pads = g.ints({0, before, 0, 0, after, 0});
    x = g.op("Pad", {x, pads, r.in(2)}, {{"mode", r.node.attributes.string_or("mode", "constant")}});
    *at += before + after;
  }
  return {g.reshape(x, now)};
}

}  // namespace ingot::passes::legalize
