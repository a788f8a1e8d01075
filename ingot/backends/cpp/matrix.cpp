// The text of functions that multiply matrices and convolve.
#include "ingot/backends/cpp/matrix.h"

#include <fmt/format.h>

#include "ingot/base/error.h"

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
#else
typedef $T vector_$N;
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

constexpr std::string_view kTiles = R"(// The product of one panel of each matrix, or what of it is wanted.
$Astatic void tiles_$N(int64_t rows, int64_t columns, int64_t k, const $T* a, const $T* b, $T* c, int64_t c_row, const $T* bias,
                     bool adds, const $T* range) {
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

constexpr std::string_view kPanels =
    R"(// The same for all panels, which begin a_step and b_step numbers apart; one panel of b stays in the cache meanwhile.
static void panels_$N(int64_t m, int64_t n, int64_t k, const $T* a, int64_t a_step, const $T* b, int64_t b_step, $T* c,
                      int64_t c_row, const $T* bias, bool adds, const $T* range) {
  for (int64_t j = 0; j < n; j += $NR)
    for (int64_t i = 0; i < m; i += $MR)
      tiles_$N(m - i < $MR ? m - i : $MR, n - j < $NR ? n - j : $NR, k, a + i / $MR * a_step, b + j / $NR * b_step,
               c + i * c_row + j, c_row, bias ? bias + i : NULL, adds, range);
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
  for (int64_t i = first; i < p->m && i < first + 8 * $MR; i += $MR)
    tiles_$N(p->m - i < $MR ? p->m - i : $MR, p->n - j < $NR ? p->n - j : $NR, p->k, p->a + i / $MR * p->a_step,
             p->b + j / $NR * p->b_step, p->c + i * p->c_row + j, p->c_row, p->bias ? p->bias + i : NULL, p->adds, p->range);
}

static void panels_$N(int64_t m, int64_t n, int64_t k, const $T* a, int64_t a_step, const $T* b, int64_t b_step, $T* c,
                      int64_t c_row, const $T* bias, bool adds, const $T* range) {
  panels_job_$N job = {m, n, k, a_step, b_step, c_row, a, b, bias, range, c, adds};
  for_all((n + $NR - 1) / $NR * ((m + 8 * $MR - 1) / (8 * $MR)), panels_task_$N, &job);
}
)";

constexpr std::string_view kCopy = R"(// Numbers one after the other.
$Astatic inline void copy_$N($T* to, const $T* from, int64_t count) {
  int64_t i = 0;
  for (; i + lanes_$N <= count; i += lanes_$N) *(vector_$N*)(to + i) = *(const vector_$N*)(from + i);
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

// c = a * b. A row step of 0 says that a matrix lies in panels; others are packed into rooms, block by block.
static void product_$N(int64_t m, int64_t n, int64_t k, const $T* a, int64_t a_row, int64_t a_column, const $T* b, int64_t b_row,
                       int64_t b_column, $T* c, $T* a_room, $T* b_room, const $T* range) {
  const int64_t n_step = b_row ? $NC : n, m_step = a_row && m > 3 ? $MC : m;
  if (k == 0)
    for (int64_t i = 0; i < m * n; ++i) c[i] = range && 0 < range[0] ? range[0] : range && 0 > range[1] ? range[1] : 0;
  for (int64_t j = 0; j < n; j += n_step) {
    const int64_t columns = n - j < n_step ? n - j : n_step;
    for (int64_t t = 0; t < k; t += $KC) {
      const int64_t depth = k - t < $KC ? k - t : $KC;
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

// What windows see is gathered into panels, which then meet all features. Rows of the gathered matrix are taps of
// channels; what neighbouring windows read are neighbours, so runs are copied.
constexpr std::string_view kConvolution = R"(typedef struct {
  int64_t to, count, from;  // from: less than 0 where windows reach over the edge
} run_$N;

// The runs that one tap of windows p to p + width reads.
static int runs_$N(run_$N* runs, int64_t p, int64_t width, int64_t tap, int rank, const int64_t* in, const int64_t* out,
                   const int64_t* kernel, const int64_t* strides, const int64_t* dilations, const int64_t* pads) {
  const int last = rank - 1;
  const int64_t stride = strides[last], start = tap % kernel[last] * dilations[last] - pads[last];
  int count = 0;
  for (int64_t q = 0; q < width;) {
    const int64_t column = (p + q) % out[last], begin = column * stride + start;
    const int64_t length = out[last] - column < width - q ? out[last] - column : width - q;
    int64_t rest = (p + q) / out[last], taps = tap / kernel[last], at = 0, scale = in[last];
    int64_t low = begin < 0 ? (stride - 1 - begin) / stride : 0;
    int64_t high = begin < in[last] ? (in[last] - begin + stride - 1) / stride : 0;
    for (int d = last - 1; d >= 0; --d) {
      const int64_t place = rest % out[d] * strides[d] + taps % kernel[d] * dilations[d] - pads[d];
      if (place < 0 || place >= in[d]) low = length;
      at += place * scale;
      scale *= in[d];
      rest /= out[d];
      taps /= kernel[d];
    }
    if (low > length) low = length;
    if (high > length) high = length;
    if (high < low) high = low;
    const run_$N parts[3] = {{q, low, -1}, {q + low, high - low, at + begin + low * stride}, {q + high, length - high, -1}};
    for (int i = 0; i < 3; ++i)
      if (parts[i].count > 0) runs[count++] = parts[i];
    q += length;
  }
  return count;
}

// What the convolution gathers: rows t to t + depth of the matrix, for windows p to p + columns.
typedef struct {
  int rank;
  const int64_t *in, *out, *kernel, *strides, *dilations, *pads;
  const $T* from;
  $T* room;
  int64_t plane, taps, p, columns, t, depth;
} windows_$N;

// One panel of it.
static void gather_$N(void* what, int64_t panel) {
  const windows_$N* s = (const windows_$N*)what;
  const int64_t j = panel * $NR, stride = s->strides[s->rank - 1], t = s->t, depth = s->depth, taps = s->taps;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t first = t + (tap - t % taps + taps) % taps;
    run_$N runs[3 * $NR];
    if (first >= t + depth) continue;
    const int count = runs_$N(runs, s->p + j, s->columns - j < $NR ? s->columns - j : $NR, tap, s->rank, s->in, s->out,
                              s->kernel, s->strides, s->dilations, s->pads);
    for (int64_t r = first; r < t + depth; r += taps) {
      const $T* const source = s->from + r / taps * s->plane;
      $T* const line = s->room + j * depth + (r - t) * $NR;
      for (int i = 0; i < count; ++i) {
        $T* const here = line + runs[i].to;
        if (runs[i].from < 0)
          for (int64_t q = 0; q < runs[i].count; ++q) here[q] = 0;
        else if (stride == 1)
          copy_$N(here, source + runs[i].from, runs[i].count);
        else
          for (int64_t q = 0; q < runs[i].count; ++q) here[q] = source[runs[i].from + q * stride];
      }
    }
  }
}

static void convolution_$N(const $T* x, const $T* w, const $T* bias, $T* y, $T* room, int rank, int64_t batch, int64_t channels,
                           int64_t features, int64_t group, const int64_t* in, const int64_t* out, const int64_t* kernel,
                           const int64_t* strides, const int64_t* dilations, const int64_t* pads, const $T* range) {
  const int64_t c = channels / group, m = features / group;
  int64_t plane = 1, places = 1, taps = 1;
  for (int d = 0; d < rank; ++d) {
    plane *= in[d];
    places *= out[d];
    taps *= kernel[d];
  }
  const int64_t k = c * taps, w_step = (m + $MR - 1) / $MR * $MR * k;
  for (int64_t ng = 0; ng < batch * group; ++ng) {
    const int64_t g = ng % group;
    const $T* const from = x + (ng / group * channels + g * c) * plane;
    $T* const to = y + (ng / group * features + g * m) * places;
    for (int64_t p = 0; p < places; p += $NC) {
      const int64_t columns = places - p < $NC ? places - p : $NC;
      for (int64_t t = 0; t < k; t += $KC) {
        const int64_t depth = k - t < $KC ? k - t : $KC;
        windows_$N windows = {rank, in, out, kernel, strides, dilations, pads, from, room, plane, taps, p, columns, t, depth};
$GATHER        panels_$N(m, columns, depth, w + g * w_step + t * $MR, k * $MR, room, depth * $NR, to + p, places,
                  bias && t + depth == k ? bias + g * m : NULL, t > 0, t + depth == k ? range : NULL);
      }
    }
  }
}
)";

// Each channel alone: its plane is laid out with its padding, one plane per remainder of the strides, so that every tap
// of neighbouring windows reads neighbours.
constexpr std::string_view kDepthwise =
    R"($Astatic void weigh_$N(const $T* x, const $T* w, const int64_t* offsets, int64_t taps, $T start, $T* y, int64_t count) {
  int64_t i = 0;
  for (; i + 3 * lanes_$N < count; i += 4 * lanes_$N) {
    vector_$N s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int64_t t = 0; t < taps; ++t) {
      const $T* p = x + offsets[t] + i;
      s0 += w[t] * *(const vector_$N*)p;
      s1 += w[t] * *(const vector_$N*)(p + lanes_$N);
      s2 += w[t] * *(const vector_$N*)(p + 2 * lanes_$N);
      s3 += w[t] * *(const vector_$N*)(p + 3 * lanes_$N);
    }
    *(vector_$N*)(y + i) = s0 + start;
    *(vector_$N*)(y + i + lanes_$N) = s1 + start;
    *(vector_$N*)(y + i + 2 * lanes_$N) = s2 + start;
    *(vector_$N*)(y + i + 3 * lanes_$N) = s3 + start;
  }
  for (; i < count; i += lanes_$N) {
    vector_$N s = {0};
    for (int64_t t = 0; t < taps; ++t) s += w[t] * *(const vector_$N*)(x + offsets[t] + i);
    *(vector_$N*)(y + i) = s + start;
  }
}

static void depthwise_$N(const $T* x, const $T* w, const $T* bias, $T* y, $T* room, int64_t batch, int64_t channels,
                         int64_t features, const int64_t* in, const int64_t* out, const int64_t* kernel,
                         const int64_t* strides, const int64_t* dilations, const int64_t* pads, const $T* range) {
  const int64_t sy = strides[0], sx = strides[1], taps = kernel[0] * kernel[1], multiple = features / channels;
  const int64_t high = ((out[0] - 1) * sy + (kernel[0] - 1) * dilations[0]) / sy + 1;
  const int64_t wide = ((out[1] - 1) * sx + (kernel[1] - 1) * dilations[1]) / sx + 1;
  const int64_t count = (out[0] - 1) * wide + out[1], padded = sy * sx * high * wide + $SLACK;
  int64_t offsets[$TAPS];
  $T* const results = room + padded;
  for (int64_t t = 0; t < taps; ++t) {
    const int64_t r = t / kernel[1] * dilations[0], q = t % kernel[1] * dilations[1];
    offsets[t] = (r % sy * sx + q % sx) * high * wide + r / sy * wide + q / sx;
  }
  for (int64_t i = 0; i < padded; ++i) room[i] = 0;
  for (int64_t nc = 0; nc < batch * channels; ++nc) {
    for (int64_t r = 0; r < in[0]; ++r) {
      const int64_t row = r + pads[0];
      const $T* const from = x + (nc * in[0] + r) * in[1];
      if (row >= high * sy) break;
      for (int64_t s = 0; s < sx; ++s) {
        const int64_t skipped = ((s - pads[1]) % sx + sx) % sx;
        $T* const to = room + (row % sy * sx + s) * high * wide + row / sy * wide + (skipped + pads[1]) / sx;
        const int64_t room_left = wide - (skipped + pads[1]) / sx;
        int64_t length = in[1] > skipped ? (in[1] - skipped + sx - 1) / sx : 0;
        if (length > room_left) length = room_left;
        if (sx == 1)
          copy_$N(to, from, length);
        else
          for (int64_t q = 0; q < length; ++q) to[q] = from[skipped + q * sx];
      }
    }
    for (int64_t f = nc % channels * multiple; f < (nc % channels + 1) * multiple; ++f) {
      weigh_$N(room, w + f * taps, offsets, taps, bias ? bias[f] : 0, results, count);
      if (range) {
        const $T low = range[0], high = range[1];
        for (int64_t i = 0; i < count; ++i) results[i] = results[i] < low ? low : results[i] > high ? high : results[i];
      }
      $T* const to = y + (nc / channels * features + f) * out[0] * out[1];
      for (int64_t r = 0; r < out[0]; ++r) copy_$N(to + r * out[1], results + r * wide, out[1]);
    }
  }
}
)";

constexpr std::string_view kPool = R"(
#ifdef INGOT_NO_THREADS
static void for_all(int64_t count, void (*work)(void*, int64_t), void* job) {
  for (int64_t i = 0; i < count; ++i) work(job, i);
}
void set_threads(int) {}
#else
// Threads that wait for tasks; the one that calls run() works as well.
struct pool_t {
  std::mutex mutex;
  std::condition_variable wake, done;
  std::vector<std::thread> threads;
  std::atomic<int64_t> next{0};
  void (*work)(void*, int64_t) = nullptr;
  void* job = nullptr;
  int64_t count = 0, round = 0;
  int busy = 0;
  bool ends = false;

  void help() {
    for (int64_t i = next++; i < count; i = next++) work(job, i);
  }
  void wait() {
    int64_t seen = 0;
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex);
      wake.wait(lock, [&] { return ends || round != seen; });
      if (ends) return;
      seen = round;
      lock.unlock();
      help();
      lock.lock();
      if (--busy == 0) done.notify_one();
    }
  }
  void resize(int count_wanted) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      ends = true;
    }
    wake.notify_all();
    for (std::thread& t : threads) t.join();
    threads.clear();
    ends = false;
    round = 0;
    for (int i = 1; i < count_wanted; ++i) threads.emplace_back([this] { wait(); });
  }
  ~pool_t() { resize(1); }
};
static pool_t pool;

void set_threads(int count) { pool.resize(count); }

static void for_all(int64_t count, void (*work)(void*, int64_t), void* job) {
  if (pool.threads.empty() || count < 2) {
    for (int64_t i = 0; i < count; ++i) work(job, i);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(pool.mutex);
    pool.work = work;
    pool.job = job;
    pool.count = count;
    pool.next = 0;
    pool.busy = (int)pool.threads.size();
    ++pool.round;
  }
  pool.wake.notify_all();
  pool.help();
  std::unique_lock<std::mutex> lock(pool.mutex);
  pool.done.wait(lock, [] { return pool.busy == 0; });
}
#endif
)";

struct Text {
  std::string_view name, needs, text;
};

constexpr Text kTexts[] = {
    {"vectors", "", kVectors},
    {"tile", "vectors", kTile},
    {"tiles", "tile", kTiles},
    {"panels", "tiles", kPanels},
    {"copy", "vectors", kCopy},
    {"pack_rows", "", kPackRows},
    {"pack_columns", "copy", kPackColumns},
    {"product", "panels pack_rows pack_columns", kProduct},
    {"convolution", "panels copy", kConvolution},
    {"depthwise", "copy", kDepthwise},
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

std::string vectors_of(const MatrixTarget& target) {
  if (target.name.empty()) return std::string(target.geometry.bytes < 192 ? kShortVectors : kOwnVectors);
  const int bytes = target.name == "avx512" ? 64 : target.name == "avx2" ? 32 : target.name == "neon" ? 16 : 0;
  const bool is_high = bytes != 32 && bytes != 0 && target.geometry.rows >= 8;
  return fmt::format("#define VECTOR_BYTES {}\n#define ROWS(F) F(0) F(1) F(2) F(3){}\n", bytes,
                     is_high ? " F(4) F(5) F(6) F(7)" : "");
}

}  // namespace

std::string_view pool_text() { return kPool; }

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
    if (function == "tile" || function == "vectors") text = vectors_of(target) + text;
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
