// Products of bytes by one instruction for four pairs of them: AVX-512 VNNI.
#include <hwy/base.h>

#include <cstring>

#include "ingot/base/error.h"
#include "ingot/engine/kernels/byte_tiles.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace ingot::engine {
namespace {

// Highway 1.0 has no such product, and its kind of CPU with it would make every kernel once more.
#define INGOT_QUADS __attribute__((target("avx512f,avx512bw,avx512vnni")))

/// R rows times P panels.
template <int R, int P> INGOT_QUADS void quad_tile(const ByteTiles& t, std::int64_t row, std::int64_t panel) {
  const std::uint8_t* rows = t.rows + row * t.row_stride;
  const std::int8_t* weights = t.panels + panel * t.panel_stride;
  __m512i sum[R][P];
  HWY_UNROLL(12)
  for (int r = 0; r < R; ++r) {
    HWY_UNROLL(4)
    for (int p = 0; p < P; ++p) sum[r][p] = _mm512_setzero_si512();
  }
  for (std::int64_t q = 0; q < t.quads; ++q) {
    __m512i w[P];
    HWY_UNROLL(4)
    for (int p = 0; p < P; ++p) w[p] = _mm512_loadu_si512(weights + p * t.panel_stride + q * 64);
    HWY_UNROLL(12)
    for (int r = 0; r < R; ++r) {
      std::int32_t quad;
      std::memcpy(&quad, rows + r * t.row_stride + 4 * q, sizeof(quad));
      const __m512i x = _mm512_set1_epi32(quad);
      HWY_UNROLL(4)
      for (int p = 0; p < P; ++p) sum[r][p] = _mm512_dpbusd_epi32(sum[r][p], x, w[p]);
    }
  }
  std::int32_t* to = t.sums + (row * t.panel_count + panel) * kByteColumns;
  HWY_UNROLL(12)
  for (int r = 0; r < R; ++r) {
    HWY_UNROLL(4)
    for (int p = 0; p < P; ++p) _mm512_storeu_si512(to + (r * t.panel_count + p) * kByteColumns, sum[r][p]);
  }
}

/// All rows times P panels, R rows at a time.
template <int R, int P> INGOT_QUADS void quad_tiles(const ByteTiles& t, std::int64_t panel) {
  std::int64_t row = 0;
  for (; row + R <= t.count; row += R) quad_tile<R, P>(t, row, panel);
  if constexpr (R > 4)
    for (; row + 4 <= t.count; row += 4) quad_tile<4, P>(t, row, panel);
  for (; row < t.count; ++row) quad_tile<1, P>(t, row, panel);
}

}  // namespace

bool has_quads() {
  static const bool kHas =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni");
  return kHas;
}

/// The tiles are as high as thirty-two registers allow.
INGOT_QUADS void multiply_quads(const ByteTiles& t) {
  for (std::int64_t panel = 0; panel < t.panel_count; panel += kBytePanels) switch (t.panel_count - panel) {
      case 1:
        quad_tiles<12, 1>(t, panel);
        break;
      case 2:
        quad_tiles<12, 2>(t, panel);
        break;
      case 3:
        quad_tiles<8, 3>(t, panel);
        break;
      default:
        quad_tiles<6, 4>(t, panel);
    }
}

}  // namespace ingot::engine

#else

namespace ingot::engine {

bool has_quads() { return false; }
void multiply_quads(const ByteTiles&) { throw Error(Code::internal, "this CPU has no products of four bytes"); }

}  // namespace ingot::engine

#endif
