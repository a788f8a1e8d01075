// SoftmaxCrossEntropyLoss of floats: the logarithm of the softmax a vector at a time, then what is picked of it.
#include "ingot/ops/nn/losses.h"

#include "ingot/base/budget.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/softmax_axes.h"
#include "ingot/ops/catalog.h"

namespace ingot::engine {
namespace {

class CrossEntropy final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& scores = c.in(0);
    if (scores.dtype() != DType::f32 || scores.rank() < 2) return ops::find(c.node)->kernel(c);
    auto& host = static_cast<FastHost&>(c.host());
    Array likely =
        c.wants(1) ? make_raw(c, 1, DType::f32, scores.dims()) : host.allocate_raw(DType::f32, scores.dims());
    softmax_along(scores, 1, true, likely, pool, host.budget());
    ops::put_loss(c, likely);
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_cross_entropy(PrepareContext& c) {
  if (c.elem(0) != DType::f32) return c.refuse("the scores are not known to be of type float");
  return std::make_unique<CrossEntropy>();
}

}  // namespace ingot::engine
