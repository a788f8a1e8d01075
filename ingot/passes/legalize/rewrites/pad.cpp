// Padding of some axes by amounts that are computed: those of the other axes are zeros.
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

}  // namespace ingot::passes::legalize
