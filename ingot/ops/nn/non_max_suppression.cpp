// NonMaxSuppression: keeps the best of overlapping boxes; the data decides how many.
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  require_rank(c, 0, 3, "the list of boxes");
  require_rank(c, 1, 3, "the list of scores");
  agree(c, c.dim(0, 0), c.dim(1, 0), "the batch size");
  agree(c, c.dim(0, 1), c.dim(1, 2), "the number of boxes");
  agree(c, c.dim(0, 2), 4, "the size of a box");
  c.out_shape(0, {c.data_dim(0, 0), 3});
}

}  // namespace

constinit const OpDef defs::NonMaxSuppression = {
    .name = "NonMaxSuppression",
    .infer = infer,
};

}  // namespace ingot::ops
