// Transpose: dimensions in another order.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

/// Of 0, 1, ...: ONNX counts no dimensions from the end here.
void require_permutation(const InferContext& c, const std::vector<std::int64_t>& perm) {
  std::vector<bool> seen(perm.size(), false);
  for (const std::int64_t axis : perm) {
    const auto i = static_cast<std::size_t>(c.axis(axis, std::ssize(perm), "perm"));
    c.require(axis >= 0, "perm counts a dimension from the end");
    c.require(!seen[i], "perm names a dimension twice");
    seen[i] = true;
  }
}

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  const auto* perm = c.attr_ints("perm");
  if (perm) require_permutation(c, *perm);
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
    for (const std::int64_t axis : *perm) y.push_back((*x)[static_cast<std::size_t>(axis)]);
  }
  if (y.size() <= 1)
    if (auto known = c.ints(0)) c.out_ints(0, std::move(*known));
  c.out_shape(0, std::move(y));
}

void run(KernelContext& c) {
  const Array& x = c.in(0);
  std::vector<std::int64_t> perm = c.attr_ints("perm");
  if (perm.empty())
    for (std::int64_t axis = x.rank(); axis-- > 0;) perm.push_back(axis);
  if (static_cast<std::int64_t>(perm.size()) != x.rank()) c.fail("perm does not have one entry per dimension");
  const Dims dense = strides_of(x.dims());
  Walk walk{{}, {{}}};
  std::vector<bool> seen(perm.size(), false);
  for (const std::int64_t entry : perm) {
    const auto axis = static_cast<std::size_t>(c.axis(entry, x.rank()));
    if (seen[axis]) c.fail("perm names a dimension twice");
    seen[axis] = true;
    walk.dims.push_back(x.dims()[axis]);
    walk.strides[0].push_back(dense[axis]);
  }
  Array& y = c.make(0, x.dtype(), walk.dims);
  join_axes(walk);
  gather_walk(walk, x, 0, y, c.host().budget());
}

Values gradient_transpose(GradContext& c) {
  const auto* perm = c.node.attributes.get<std::vector<std::int64_t>>("perm");
  if (!perm) return {c.g.op("Transpose", {c.dy()})};
  std::vector<std::int64_t> back(perm->size(), -1);
  for (std::size_t i = 0; i < perm->size(); ++i) {
    const auto to = static_cast<std::size_t>((*perm)[i]);
    if (to >= back.size() || back[to] >= 0) c.fail("attribute 'perm' is no permutation");
    back[to] = static_cast<std::int64_t>(i);
  }
  return {c.g.transpose(c.dy(), back)};
}

}  // namespace

constinit const OpDef defs::Transpose = {
    .name = "Transpose",
    .infer = infer,
    .kernel = run,
    .gradient = gradient_transpose,
};

}  // namespace ingot::ops
