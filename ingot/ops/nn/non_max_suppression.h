#pragma once
#include <cstdint>

#include "ingot/ops/kernel.h"

namespace ingot::ops {

struct Rectangle {
  float y1, x1, y2, x2;

  float area() const { return (y2 - y1) * (x2 - x1); }
};

/// What a run of NonMaxSuppression asks for, checked.
struct Suppression {
  std::int64_t batch, classes, count;  // count: of boxes
  std::int64_t most;                   // boxes of a class
  float most_overlap;

  explicit Suppression(KernelContext& c);

  /// The scores of the k-th of batch * classes classes.
  const float* scores_of(std::int64_t k) const { return scores_ + k * count; }
  bool is_candidate(float score) const;
  /// The i-th box for the k-th class, from corners in either order, or from centre and size.
  Rectangle box(std::int64_t k, std::int64_t i) const;

 private:
  bool is_centred_, takes_all_;
  float least_score_;
  const float *corners_, *scores_;
};

}  // namespace ingot::ops
