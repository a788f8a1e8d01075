// NonMaxSuppression: keeps the best of overlapping boxes; the data decides how many.
#include "ingot/ops/nn/non_max_suppression.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/ops/catalog.h"
#include "ingot/ops/compute.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/pace.h"

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

/// The area that two boxes share as part of the area they cover together.
float overlap(const Rectangle& a, const Rectangle& b) {
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1), width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(height > 0) || !(width > 0) || !(a.area() > 0) || !(b.area() > 0)) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

template <class T> T only_number(KernelContext& c, std::size_t i, T fallback) {
  if (!c.has(i)) return fallback;
  if (c.in(i).size() != 1) c.fail("input " + std::to_string(i) + " is not one number");
  return c.in(i).data<T>()[0];
}

void run(KernelContext& c) {
  const Suppression s(c);
  Array found = scratch(c, DType::i64, {s.batch, s.classes, s.most, 3}), order = scratch(c, DType::i64, {s.count});
  std::int64_t *row = found.mutable_data<std::int64_t>().data(),
               *candidates = order.mutable_data<std::int64_t>().data();
  std::int64_t total = 0;
  Pace pace(c.host().budget());
  for (std::int64_t k = 0; found.size() > 0 && k < s.batch * s.classes; ++k) {
    const float* score = s.scores_of(k);
    std::int64_t *end = candidates, *first = row + total * 3;
    for (std::int64_t i = 0; i < s.count; ++i)
      if (s.is_candidate(score[i])) *end++ = i;
    std::stable_sort(candidates, end, [&](std::int64_t a, std::int64_t b) { return score[a] > score[b]; });
    for (const std::int64_t* next = candidates; next != end && row + total * 3 < first + s.most * 3; ++next) {
      const Rectangle candidate = s.box(k, *next);
      bool is_kept = true;
      for (const std::int64_t* r = first; is_kept && r != row + total * 3; r += 3) {
        is_kept = overlap(candidate, s.box(k, r[2])) <= s.most_overlap;
        pace.step(1);
      }
      if (!is_kept) continue;
      const std::int64_t picked[] = {k / s.classes, k % s.classes, *next};
      std::copy_n(picked, 3, row + total * 3);
      ++total;
    }
    pace.step(s.count);
  }
  Array& y = c.make(0, DType::i64, {total, 3});
  std::copy_n(row, total * 3, y.mutable_data<std::int64_t>().data());
}

}  // namespace

Suppression::Suppression(KernelContext& c) {
  const Array &boxes = c.in(0), &scores = c.in(1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.dims()[2] != 4 || boxes.dims()[0] != scores.dims()[0] ||
      boxes.dims()[1] != scores.dims()[2])
    c.fail("boxes must be [batch, boxes, 4] and scores [batch, classes, boxes]");
  most_overlap = only_number(c, 3, 0.0f);
  if (!(most_overlap >= 0 && most_overlap <= 1)) c.fail("iou_threshold is not between 0 and 1");
  batch = scores.dims()[0];
  classes = scores.dims()[1];
  count = scores.dims()[2];
  most = std::clamp<std::int64_t>(only_number(c, 2, std::int64_t{0}), 0, count);
  is_centred_ = c.attr("center_point_box", std::int64_t{0}) != 0;
  takes_all_ = !c.has(4);
  least_score_ = only_number(c, 4, -std::numeric_limits<float>::infinity());
  corners_ = boxes.data<float>().data();
  scores_ = scores.data<float>().data();
}

bool Suppression::is_candidate(float score) const { return score > least_score_ || (takes_all_ && !std::isnan(score)); }

Rectangle Suppression::box(std::int64_t k, std::int64_t i) const {
  const float* b = corners_ + (k / classes * count + i) * 4;
  if (is_centred_) return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

constinit const OpDef defs::NonMaxSuppression = {
    .name = "NonMaxSuppression",
    .infer = infer,
    .kernel = run,
};

}  // namespace ingot::ops
