// The text of functions that multiply matrices.
#include "ingot/backends/cpp/matrix.h"

#include <fmt/format.h>

#include "ingot/backends/cpp/convolution_text.h"
#include "ingot/backends/cpp/forest_text.h"

namespace ingot::backends::cpp {
namespace {

// What registers hold: ROWS rows of three vectors.
constexpr std::string_view kOwnVectors = R"(#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define ROWS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#define ROWS(F) F(0) F(1) F(2) F(3)
#elif defined(__aarch64__)
#define VECTOR_BYTES 16
#define ROWS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
#elif defined(__SSE2__) || defined(__ARM_NEON)
#define VECTOR_BYTES 16
#define ROWS(F) F(0) F(1) F(2) F(3)
#else
#define VECTOR_BYTES 0
#define ROWS(F) F(0) F(1) F(2) F(3)
#endif
)";

// For small panels, which have no room for long vectors.
constexpr std::string_view kShortVectors = R"(#if defined(__SSE2__) || defined(__ARM_NEON)
#define VECTOR_BYTES 16
#else
#define VECTOR_BYTES 0
#endif
#define ROWS(F) F(0) F(1) F(2) F(3)
)";

constexpr std::string_view kVectors = R"(#if VECTOR_BYTES
typedef $T vector_$N __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof($T)), may_alias));
typedef $T part_$N __attribute__((vector_size(16), aligned(sizeof($T)), may_alias));
typedef $T side_$N __attribute__((vector_size($MR * sizeof($T)), aligned(sizeof($T)), may_alias));
#else
typedef $T vector_$N, part_$N, side_$N;
#endif
#define ONE(i) +1
enum { lanes_$N = sizeof(vector_$N) / sizeof($T), high_$N = ROWS(ONE) };
#undef ONE
#undef ROWS
#undef VECTOR_BYTES
)";

constexpr std::string_view kTile = R"(#if VECTOR_BYTES
typedef $I mask_$N __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof($T)), may_alias));
#define CHOOSE(test, a, b) (vector_$N)(((mask_$N)(test) & (mask_$N)(a)) | (~(mask_$N)(test) & (mask_$N)(b)))
#else
#define CHOOSE(test, a, b) ((test) ? (a) : (b))
#endif
// Results below and above a range become its ends.
#define HOLD(s)                     \
  if (range) {                      \
    s = CHOOSE(s < low, low, s);    \
    s = CHOOSE(s > high, high, s);  \
  }
#define ENDS                                   \
  vector_$N low = {0}, high = {0};             \
  if (range) {                                 \
    low += range[0];                           \
    high += range[1];                          \
  }

// Rows of c in three vectors: the product of k columns of a panel of a and k rows of a panel of b.
#define ZERO(i) vector_$N s##i##0 = {0}, s##i##1 = {0}, s##i##2 = {0};
#define STEP(i)          \
  s##i##0 += a[i] * b0; \
  s##i##1 += a[i] * b1; \
  s##i##2 += a[i] * b2;
#define OUT(i)                                  \
  if (i < rows) {                               \
    $T* y = c + i * c_row;                      \
    const $T d = bias ? bias[i] : 0;            \
    if (adds) {                                 \
      s##i##0 += *(vector_$N*)y;                \
      s##i##1 += *(vector_$N*)(y + lanes_$N);   \
      s##i##2 += *(vector_$N*)(y + 2 * lanes_$N); \
    }                                           \
    s##i##0 += d;                               \
    s##i##1 += d;                               \
    s##i##2 += d;                               \
    HOLD(s##i##0)                               \
    HOLD(s##i##1)                               \
    HOLD(s##i##2)                               \
    *(vector_$N*)y = s##i##0;                   \
    *(vector_$N*)(y + lanes_$N) = s##i##1;      \
    *(vector_$N*)(y + 2 * lanes_$N) = s##i##2;  \
  }
$Astatic void wide_tile_$N(int64_t rows, int64_t k, const $T* a, const $T* b, $T* c, int64_t c_row, const $T* bias,
                      bool adds, const $T* range) {
  ENDS
  ROWS(ZERO)
  for (int64_t t = 0; t < k; ++t, a += $MR, b += $NR) {
    const vector_$N b0 = *(const vector_$N*)b, b1 = *(const vector_$N*)(b + lanes_$N),
                b2 = *(const vector_$N*)(b + 2 * lanes_$N);
    ROWS(STEP)
  }
  ROWS(OUT)
}
#undef ZERO
#undef STEP
#undef OUT

// The same in one vector.
#define ZERO(i) vector_$N s##i = {0};
#define STEP(i) s##i += a[i] * b0;
#define OUT(i)                           \
  if (i < rows) {                        \
    vector_$N* y = (vector_$N*)(c + i * c_row); \
    const $T d = bias ? bias[i] : 0;     \
    if (adds) {                          \
      s##i += *y;                        \
    }                                    \
    s##i += d;                           \
    HOLD(s##i)                           \
    *y = s##i;                           \
  }
$Astatic void tile_$N(int64_t rows, int64_t k, const $T* a, const $T* b, $T* c, int64_t c_row, const $T* bias,
                      bool adds, const $T* range) {
  ENDS
  ROWS(ZERO)
  for (int64_t t = 0; t < k; ++t, a += $MR, b += $NR) {
    const vector_$N b0 = *(const vector_$N*)b;
    ROWS(STEP)
  }
  ROWS(OUT)
}
#undef ZERO
#undef STEP
#undef OUT
#undef CHOOSE
#undef HOLD
#undef ENDS
#undef ROWS
#undef VECTOR_BYTES
)";

constexpr std::string_view kTiles =
    R"(// One column of c, all rows of a panel side by side: a tile would be empty but for it.
$Astatic void column_$N(int64_t rows, int64_t k, const $T* a, const $T* b, $T* c, int64_t c_row, const $T* bias, bool adds,
                      const $T* range) {
  side_$N s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
  int64_t t = 0;
  for (; t + 4 <= k; t += 4, a += 4 * $MR, b += 4 * $NR) {
    s0 += *(const side_$N*)a * b[0];
    s1 += *(const side_$N*)(a + $MR) * b[$NR];
    s2 += *(const side_$N*)(a + 2 * $MR) * b[2 * $NR];
    s3 += *(const side_$N*)(a + 3 * $MR) * b[3 * $NR];
  }
  for (; t < k; ++t, a += $MR, b += $NR) s0 += *(const side_$N*)a * b[0];
  $T sums[$MR];
  *(side_$N*)sums = (s0 + s1) + (s2 + s3);
  for (int64_t r = 0; r < rows; ++r) {
    const $T sum = sums[r] + (bias ? bias[r] : 0) + (adds ? c[r * c_row] : 0);
    c[r * c_row] = range && sum < range[0] ? range[0] : range && sum > range[1] ? range[1] : sum;
  }
}

// The product of one panel of each matrix, or what of it is wanted.
$Astatic void tiles_$N(int64_t rows, int64_t columns, int64_t k, const $T* a, const $T* b, $T* c, int64_t c_row, const $T* bias,
                     bool adds, const $T* range) {
  for (int64_t few = columns % lanes_$N <= 2 ? columns % lanes_$N : 0; few > 0; --few, --columns)
    column_$N(rows, k, a, b + columns - 1, c + columns - 1, c_row, bias, adds, range);
  for (int64_t i = 0; i < rows; i += high_$N) {
    const int64_t high = rows - i < high_$N ? rows - i : (int64_t)high_$N;
    const $T* const d = bias ? bias + i : NULL;
    int64_t j = 0;
    for (; j + 3 * lanes_$N <= columns; j += 3 * lanes_$N)
      wide_tile_$N(high, k, a + i, b + j, c + i * c_row + j, c_row, d, adds, range);
    for (; j + lanes_$N <= columns; j += lanes_$N) tile_$N(high, k, a + i, b + j, c + i * c_row + j, c_row, d, adds, range);
    if (j < columns) {
      $T rest[high_$N * lanes_$N] = {0};
      for (int64_t r = 0; adds && r < high; ++r)
        for (int64_t q = 0; q < columns - j; ++q) rest[r * lanes_$N + q] = c[(i + r) * c_row + j + q];
      tile_$N(high, k, a + i, b + j, rest, lanes_$N, d, adds, range);
      for (int64_t r = 0; r < high; ++r)
        for (int64_t q = 0; q < columns - j; ++q) c[(i + r) * c_row + j + q] = rest[r * lanes_$N + q];
    }
  }
}
)";

// The next panel of weights begins in another page, where no processor looks by itself.
constexpr std::string_view kFetch = R"(// Asks for numbers that are read soon.
static inline void fetch_$N(const $T* from, int64_t count) {
#ifdef __GNUC__
  for (int64_t i = 0; i < count; i += 64 / (int64_t)sizeof($T)) __builtin_prefetch(from + i);
#else
  (void)from;
  (void)count;
#endif
}
)";

constexpr std::string_view kPanels =
    R"(// The same for all panels, which begin a_step and b_step numbers apart; one panel of b stays in the cache meanwhile.
static void panels_$N(int64_t m, int64_t n, int64_t k, const $T* a, int64_t a_step, const $T* b, int64_t b_step, $T* c,
                      int64_t c_row, const $T* bias, bool adds, const $T* range) {
  for (int64_t j = 0; j < n; j += $NR)
    for (int64_t i = 0; i < m; i += $MR) {
      if (j == 0 && i + $MR < m) fetch_$N(a + (i / $MR + 1) * a_step, k * $MR);
      tiles_$N(m - i < $MR ? m - i : $MR, n - j < $NR ? n - j : $NR, k, a + i / $MR * a_step, b + j / $NR * b_step,
               c + i * c_row + j, c_row, bias ? bias + i : NULL, adds, range);
    }
}
)";

// The same by threads: a task is one panel of b and some of a.
constexpr std::string_view kSharedPanels = R"(typedef struct {
  int64_t m, n, k, a_step, b_step, c_row;
  const $T *a, *b, *bias, *range;
  $T* c;
  bool adds;
} panels_job_$N;

static void panels_task_$N(void* what, int64_t task) {
  const panels_job_$N* p = (const panels_job_$N*)what;
  const int64_t blocks = (p->m + 8 * $MR - 1) / (8 * $MR), j = task / blocks * $NR, first = task % blocks * 8 * $MR;
  for (int64_t i = first; i < p->m && i < first + 8 * $MR; i += $MR) {
    if (j == 0 && i + $MR < p->m) fetch_$N(p->a + (i / $MR + 1) * p->a_step, p->k * $MR);
    tiles_$N(p->m - i < $MR ? p->m - i : $MR, p->n - j < $NR ? p->n - j : $NR, p->k, p->a + i / $MR * p->a_step,
             p->b + j / $NR * p->b_step, p->c + i * p->c_row + j, p->c_row, p->bias ? p->bias + i : NULL, p->adds, p->range);
  }
}

static void panels_$N(int64_t m, int64_t n, int64_t k, const $T* a, int64_t a_step, const $T* b, int64_t b_step, $T* c,
                      int64_t c_row, const $T* bias, bool adds, const $T* range) {
  panels_job_$N job = {m, n, k, a_step, b_step, c_row, a, b, bias, range, c, adds};
  for_all((n + $NR - 1) / $NR * ((m + 8 * $MR - 1) / (8 * $MR)), panels_task_$N, &job);
}
)";

constexpr std::string_view kCopy = R"(// Numbers one after the other.
$Astatic inline void copy_$N($T* to, const $T* from, int64_t count) {
  const int64_t few = sizeof(part_$N) / sizeof($T);
  int64_t i = 0;
  for (; i + lanes_$N <= count; i += lanes_$N) *(vector_$N*)(to + i) = *(const vector_$N*)(from + i);
  if (i < count && count >= lanes_$N) {
    i = count - lanes_$N;  // some of them again
    *(vector_$N*)(to + i) = *(const vector_$N*)(from + i);
    return;
  }
  for (; i + few <= count; i += few) *(part_$N*)(to + i) = *(const part_$N*)(from + i);
  for (; i < count; ++i) to[i] = from[i];
}
)";

constexpr std::string_view kPackRows = R"(// The matrix a of m rows and k columns in panels.
static void pack_rows_$N(int64_t m, int64_t k, const $T* a, int64_t a_row, int64_t a_column, $T* to) {
  for (int64_t i = 0; i < m; i += $MR, to += k * $MR)
    for (int64_t r = 0; r < $MR; ++r) {
      if (i + r >= m)
        for (int64_t t = 0; t < k; ++t) to[t * $MR + r] = 0;
      else
        for (int64_t t = 0; t < k; ++t) to[t * $MR + r] = a[(i + r) * a_row + t * a_column];
    }
}
)";

constexpr std::string_view kPackColumns = R"(// The matrix b of k rows and n columns in panels.
static void pack_columns_$N(int64_t k, int64_t n, const $T* b, int64_t b_row, int64_t b_column, $T* to) {
  for (int64_t j = 0; j < n; j += $NR, to += k * $NR) {
    const int64_t columns = n - j < $NR ? n - j : $NR;
    const $T* from = b + j * b_column;
    if (b_column == 1)
      for (int64_t t = 0; t < k; ++t) copy_$N(to + t * $NR, from + t * b_row, columns);
    else
      for (int64_t q = 0; q < columns; ++q)
        for (int64_t t = 0; t < k; ++t) to[t * $NR + q] = from[q * b_column + t * b_row];
    for (int64_t q = columns; q < $NR; ++q)
      for (int64_t t = 0; t < k; ++t) to[t * $NR + q] = 0;
  }
}
)";

// Few rows would leave most of a tile empty: they are bound by how fast b is read.
constexpr std::string_view kProduct =
    R"($Astatic void few_rows_$N(int64_t m, int64_t n, int64_t k, const $T* a, int64_t a_row, int64_t a_column, const $T* b,
                       int64_t b_step, $T* c, int64_t c_row, bool adds, const $T* range) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; j += 3 * lanes_$N) {
      const $T *x = a + i * a_row, *y = b + j / $NR * b_step + j % $NR;
      const int64_t columns = n - j < 3 * lanes_$N ? n - j : (int64_t)(3 * lanes_$N);
      vector_$N s0 = {0}, s1 = {0}, s2 = {0}, t0 = {0}, t1 = {0}, t2 = {0};
      int64_t t = 0;
      for (; t + 2 <= k; t += 2, x += 2 * a_column, y += 2 * $NR) {
        fetch_$N(y + 16 * $NR, 2 * $NR);
        s0 += x[0] * *(const vector_$N*)y;
        s1 += x[0] * *(const vector_$N*)(y + lanes_$N);
        s2 += x[0] * *(const vector_$N*)(y + 2 * lanes_$N);
        t0 += x[a_column] * *(const vector_$N*)(y + $NR);
        t1 += x[a_column] * *(const vector_$N*)(y + $NR + lanes_$N);
        t2 += x[a_column] * *(const vector_$N*)(y + $NR + 2 * lanes_$N);
      }
      if (t < k) {
        s0 += x[0] * *(const vector_$N*)y;
        s1 += x[0] * *(const vector_$N*)(y + lanes_$N);
        s2 += x[0] * *(const vector_$N*)(y + 2 * lanes_$N);
      }
      $T sums[3 * lanes_$N], *to = c + i * c_row + j;
      *(vector_$N*)sums = s0 + t0;
      *(vector_$N*)(sums + lanes_$N) = s1 + t1;
      *(vector_$N*)(sums + 2 * lanes_$N) = s2 + t2;
      for (int64_t q = 0; q < columns; ++q) {
        const $T sum = adds ? to[q] + sums[q] : sums[q];
        to[q] = range && sum < range[0] ? range[0] : range && sum > range[1] ? range[1] : sum;
      }
    }
}

// c = a * b. A row step of 0 says that a matrix lies in panels; others are packed into rooms, block by block. Few rows
// read panels from one end to the other.
static void product_$N(int64_t m, int64_t n, int64_t k, const $T* a, int64_t a_row, int64_t a_column, const $T* b, int64_t b_row,
                       int64_t b_column, $T* c, $T* a_room, $T* b_room, const $T* range) {
  const int64_t n_step = b_row ? $NC : n, m_step = a_row && m > 3 ? $MC : m, k_step = b_row || m > 3 ? $KC : k;
  if (k == 0)
    for (int64_t i = 0; i < m * n; ++i) c[i] = range && 0 < range[0] ? range[0] : range && 0 > range[1] ? range[1] : 0;
  for (int64_t j = 0; j < n; j += n_step) {
    const int64_t columns = n - j < n_step ? n - j : n_step;
    for (int64_t t = 0; t < k; t += k_step) {
      const int64_t depth = k - t < k_step ? k - t : k_step;
      const $T* right = b + t * $NR;
      if (b_row) {
        pack_columns_$N(depth, columns, b + t * b_row + j * b_column, b_row, b_column, b_room);
        right = b_room;
      }
      const int64_t b_step = (b_row ? depth : k) * $NR;
      for (int64_t i = 0; i < m; i += m_step) {
        const int64_t rows = m - i < m_step ? m - i : m_step;
        if (m <= 3) {
          few_rows_$N(m, columns, depth, a_row ? a + t * a_column : a + t * $MR, a_row ? a_row : 1, a_row ? a_column : $MR,
                      right, b_step, c + j, n, t > 0, t + depth == k ? range : NULL);
          continue;
        }
        if (a_row) pack_rows_$N(rows, depth, a + i * a_row + t * a_column, a_row, a_column, a_room);
        panels_$N(rows, columns, depth, a_row ? a_room : a + t * $MR, (a_row ? depth : k) * $MR, right, b_step,
                  c + i * n + j, n, NULL, t > 0, t + depth == k ? range : NULL);
      }
    }
  }
}
)";

struct Text {
  std::string_view name, needs;
  const std::string_view& text;
};

constexpr Text kTexts[] = {
    {"vectors", "", kVectors},
    {"tile", "vectors", kTile},
    {"tiles", "tile", kTiles},
    {"fetch", "", kFetch},
    {"panels", "tiles fetch", kPanels},
    {"copy", "vectors", kCopy},
    {"pack_rows", "", kPackRows},
    {"pack_columns", "copy", kPackColumns},
    {"product", "panels pack_rows pack_columns", kProduct},
    {"convolution", "panels copy", kConvolution},
    {"depthwise", "copy", kDepthwise},
    {"votes", "", kForest},
};

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// What lets a function use more than the processor that the compiler is told of.
std::string_view attribute_of(std::string_view target) {
  if (target == "avx2") return "__attribute__((target(\"avx2,fma\")))\n";
  if (target == "avx512") return "__attribute__((target(\"avx512f,fma\")))\n";
  return "";
}

/// Forests compare numbers of 16 bits.
std::string forest_vectors_of(const MatrixTarget& target) {
  if (target.name.empty())
    return "#if defined(__AVX2__)\n#define FOREST_BYTES 32\n#elif defined(__SSE2__) || defined(__ARM_NEON)\n#define "
           "FOREST_BYTES 16\n#else\n#define FOREST_BYTES 0\n#endif\n";
  return fmt::format("#define FOREST_BYTES {}\n", target.name.starts_with("avx") ? 32 : target.name == "neon" ? 16 : 0);
}

std::string vectors_of(const MatrixTarget& target) {
  if (target.name.empty()) return std::string(target.geometry.bytes < 192 ? kShortVectors : kOwnVectors);
  const int bytes = target.name == "avx512" ? 64 : target.name == "avx2" ? 32 : target.name == "neon" ? 16 : 0;
  const bool is_high = bytes != 32 && bytes != 0 && target.geometry.rows >= 8;
  return fmt::format("#define VECTOR_BYTES {}\n#define ROWS(F) F(0) F(1) F(2) F(3){}\n", bytes,
                     is_high ? " F(4) F(5) F(6) F(7)" : "");
}

}  // namespace

std::string_view matrix_needs(std::string_view function) {
  for (const Text& t : kTexts)
    if (t.name == function) return t.needs;
  return {};
}

std::string matrix_text(std::string_view function, const MatrixTarget& target, DType type) {
  const Geometry& g = target.geometry;
  for (const Text& t : kTexts) {
    if (t.name != function) continue;
    std::string text(function == "panels" && target.has_threads ? kSharedPanels : t.text);
    text = replaced(std::move(text), "$GATHER",
                    target.has_threads
                        ? "        for_all((columns + $NR - 1) / $NR, gather_$N, &windows);\n"
                        : "        for (int64_t j = 0; j < columns; j += $NR) gather_$N(&windows, j / $NR);\n");
    text = replaced(std::move(text), "$FORESTS",
                    target.has_threads
                        ? "  for_all((rows + forest.block - 1) / forest.block, forest_task_$N, &forest);\n"
                        : "  for (int64_t i = 0; i * forest.block < rows; ++i) forest_task_$N(&forest, i);\n");
    text = replaced(std::move(text), "$RANKS", std::to_string(kForestRanks));
    if (function == "tile" || function == "vectors") text = vectors_of(target) + text;
    if (function == "votes") text = forest_vectors_of(target) + text;
    text = replaced(std::move(text), "$A", attribute_of(target.name));
    text = replaced(std::move(text), "$I", type == DType::f64 ? "int64_t" : "int32_t");
    text = replaced(std::move(text), "$MR", std::to_string(g.rows));
    text = replaced(std::move(text), "$MC", std::to_string(g.height));
    text = replaced(std::move(text), "$NR", std::to_string(g.columns(type)));
    text = replaced(std::move(text), "$NC", std::to_string(std::max(g.width, g.columns(type))));
    text = replaced(std::move(text), "$KC", std::to_string(g.depth));
    text = replaced(std::move(text), "$SLACK", std::to_string(kDepthwiseSlack));
    return replaced(std::move(text), "$TAPS", std::to_string(kMostDepthwiseTaps));
  }
  return {};
}

}  // namespace ingot::backends::cpp
