// Transpose: dimensions in another order.
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  const auto* perm = c.attr_ints("perm");
  if (!x) {
    if (perm) c.out_rank(0, static_cast<std::int64_t>(perm->size()));
    return;
  }
  Shape y;
  if (!perm) {
    y.assign(x->rbegin(), x->rend());
  } else {
    if (perm->size() != x->size())
      c.fail("perm has " + std::to_string(perm->size()) + " entries for rank " + std::to_string(x->size()));
    std::vector<bool> seen(x->size(), false);
    for (const std::int64_t axis : *perm) {
      const auto i = static_cast<std::size_t>(c.axis(axis, static_cast<std::int64_t>(x->size()), "perm"));
      c.require(!seen[i], "perm names a dimension twice");
      seen[i] = true;
      y.push_back((*x)[i]);
    }
  }
  if (y.size() <= 1)
    if (auto known = c.ints(0)) c.out_ints(0, std::move(*known));
  c.out_shape(0, std::move(y));
}

}  // namespace

constinit const OpDef defs::Transpose = {
    .name = "Transpose",
    .infer = infer,
};

}  // namespace ingot::ops
