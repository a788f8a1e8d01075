#pragma once
#include <cstdint>

namespace ingot::engine {

constexpr std::int64_t kTileRows = 6;  // of a product that are held in registers at once

/// Where the sums of a tile go, and what happens to them on the way: tile_end.inc does it.
struct TileEnd {
  float* c;
  std::int64_t c_stride;
  std::int64_t columns;    // of the tile that exist
  bool is_first, is_last;  // of the parts whose sum is c
  const float* bias;       // at the tile's first column, or null
  const float* residual;   // at the tile's first element, or null
  bool has_limits;
  float low, high;
};

}  // namespace ingot::engine
