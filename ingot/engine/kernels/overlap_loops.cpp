// Which boxes meet a box, a vector of them at a time, for the CPU that runs it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/overlap_loops.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/overlap_loops.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The operations of the reference kernel, in its order.
bool overlaps_any(const BoxRows& rows, float y1, float x1, float y2, float x2, float area, float most) {
  const hn::CappedTag<float, BoxRows::kStep> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d), top = hn::Set(d, y1), left = hn::Set(d, x1), bottom = hn::Set(d, y2),
             right = hn::Set(d, x2);
  for (std::int64_t i = 0; i < rows.size; i += lanes) {
    const auto height = hn::Sub(hn::Min(bottom, hn::LoadU(d, rows.y2 + i)), hn::Max(top, hn::LoadU(d, rows.y1 + i)));
    const auto width = hn::Sub(hn::Min(right, hn::LoadU(d, rows.x2 + i)), hn::Max(left, hn::LoadU(d, rows.x1 + i)));
    const auto meets = hn::And(hn::Gt(height, zero), hn::Gt(width, zero));
    if (hn::AllFalse(d, meets)) continue;
    const auto shared = hn::Mul(height, width);
    const auto all = hn::Sub(hn::Add(hn::Set(d, area), hn::LoadU(d, rows.area + i)), shared);
    const auto fits = hn::Le(hn::Div(shared, all), hn::Set(d, most));
    if (!hn::AllFalse(d, hn::AndNot(fits, meets))) return true;
  }
  return false;
}

OverlapLoop find_overlap() { return overlaps_any; }

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(find_overlap);

}  // namespace

OverlapLoop overlap_loop() { return HWY_DYNAMIC_DISPATCH(find_overlap)(); }

}  // namespace ingot::engine
#endif
