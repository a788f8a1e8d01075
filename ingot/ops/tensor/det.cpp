// Det: determinants of square matrices.
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() >= 2, "the input is not a matrix");
  const Dim &rows = (*x)[x->size() - 2], &columns = x->back();
  if (!may_equal(rows, columns)) c.fail("the matrices are " + rows.str() + " by " + columns.str() + ", not square");
  c.out_shape(0, {x->begin(), x->end() - 2});
}

}  // namespace

constinit const OpDef defs::Det = {
    .name = "Det",
    .infer = infer,
};

}  // namespace ingot::ops
