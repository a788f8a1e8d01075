// post_transform: what the scores of a model go through at the end.
#include "ingot/ops/ml/post_transform.h"

namespace ingot::ops {

void check_post_transform(const InferContext& c) {
  const std::string text = c.attr("post_transform", "NONE");
  for (const char* known : {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"})
    if (text == known) return;
  c.fail("attribute 'post_transform' is '" + text + "'");
}

Value* post_transformed(GraphBuilder& g, Value* scores, std::string_view transform) {
  if (transform == "NONE") return scores;
  if (transform == "LOGISTIC") return g.op("Sigmoid", {scores});
  if (transform == "SOFTMAX") return g.op("Softmax", {scores}, {{"axis", -1}});
  return nullptr;
}

}  // namespace ingot::ops
