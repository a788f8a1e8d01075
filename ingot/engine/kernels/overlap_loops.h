#pragma once
#include <cstdint>

namespace ingot::engine {

/// Rows of the corners and areas of boxes, whose length is a multiple of kStep; those behind the last box meet nothing.
struct BoxRows {
  static constexpr std::int64_t kStep = 16;

  const float *y1, *x1, *y2, *x2, *area;
  std::int64_t size;
};

/// Whether a box of some area shares more of the area with one of the rows than `most`, or what cannot be told.
using OverlapLoop = bool (*)(const BoxRows& rows, float y1, float x1, float y2, float x2, float area, float most);
OverlapLoop overlap_loop();

}  // namespace ingot::engine
