#pragma once
#include <string>
#include <string_view>

#include "ingot/base/dtype.h"

// How generated code multiplies matrices: in tiles that registers hold, of panels that caches hold.

namespace ingot::backends::cpp {

/// The left matrix lies in panels of `rows` rows, the right one in panels of `bytes` bytes of each row. The layout is
/// the same for all processors, so that weights can be laid out before the processor is known.
struct Geometry {
  std::int64_t rows = 8, bytes = 192;
  // Of what is packed at once: a panel of the right matrix, `depth` rows of it, stays in a first-level cache of 32 kB.
  std::int64_t depth = 128, width = 480, height = 256;

  std::int64_t columns(DType type) const { return bytes / (bits_of(type) / 8); }
};

/// Small panels for processors with little memory.
constexpr Geometry kSmallGeometry = {4, 48, 128, 12, 16};

/// Of convolutions of each channel alone: windows of more taps are gathered like others, and what lies behind a plane
/// is read with it.
constexpr std::int64_t kMostDepthwiseTaps = 128, kDepthwiseSlack = 64;

/// Ranks of values of rows that forests keep at once: at least those of 32 rows in as many columns as they may have.
constexpr std::int64_t kForestRanks = 12288;

/// Which processor the code is for: avx2, avx512, neon, scalar; empty: what the compiler is told.
struct MatrixTarget {
  std::string name;
  Geometry geometry;
  bool has_threads = false;  // work is handed to for_all()
};

/// for_all() and set_threads(), which can be left out of the code by defining INGOT_NO_THREADS.
std::string_view pool_text();

/// The text of tile, panels, pack_rows, pack_columns, product, convolution or depthwise or votes, with $T for the type and $N
/// for its suffix; empty: there is none.
std::string matrix_text(std::string_view function, const MatrixTarget& target, DType type);
/// The functions that it calls.
std::string_view matrix_needs(std::string_view function);

}  // namespace ingot::backends::cpp
