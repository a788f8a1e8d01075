// Forests of ai.onnx.ml as tensors.
#include "ingot/ops/ml/forest_tensors.h"
#include "ingot/ops/ml/post_transform.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {

Values rewrite_tree_ensemble(Rewriting& r) {
  enum Aggregate : std::int64_t { kAverage, kSum };
  enum Transform : std::int64_t { kNone, kSoftmax, kLogistic };
  const std::int64_t targets = r.attr("n_targets", 1), aggregate = r.attr("aggregate_function", kSum);
  const std::int64_t transform = r.attr("post_transform", kNone);
  if (r.elem() != DType::f32 || r.rank() != 2 || aggregate > kSum || transform > kLogistic || targets < 1) return {};
  const auto forest = ops::read_ensemble(r.node.attributes);
  if (!forest) return {};
  Value* scores = ops::forest_by_tensors(r.g, r.in(), *forest, targets);
  if (!scores) return {};
  if (aggregate == kAverage) scores = r.g.div(scores, static_cast<double>(forest->roots.size()));
  return {ops::post_transformed(r.g, scores,
                                transform == kSoftmax    ? "SOFTMAX"
                                : transform == kLogistic ? "LOGISTIC"
                                                         : "NONE")};
}

}  // namespace ingot::passes::legalize
