#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/ir/type.h"

namespace ingot {
class Value;
}

namespace ingot::train {

/// A loss by its name, with what some of them take.
struct LossOptions {
  std::string name = "cross_entropy";
  double label_smoothing = 0;                  // cross_entropy
  std::optional<std::int64_t> ignore_index{};  // cross_entropy, nll
  double delta = 1;                            // huber, smooth_l1: where the square ends
};

/// cross_entropy, nll, bce, bce_logits, mse, mae, huber, smooth_l1, hinge, kl, poisson, cosine.
const std::vector<std::string>& loss_names();

/// What the targets are for these predictions: class numbers, or real numbers in the predictions' shape.
Type target_type(const LossOptions& options, const Type& prediction);

/// Extends the prediction's graph by the loss: one number, the mean over the batch. Refuses unknown names.
Value* add_loss(const LossOptions& options, Value* prediction, Value* target);

}  // namespace ingot::train
