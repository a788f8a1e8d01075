// The text of functions that go down trees.
#include "ingot/backends/cpp/forest_text.h"

namespace ingot::backends::cpp {

// Values become ranks among the thresholds of their column, once for all trees; the tables are those of
// lower/ranked_forest.cpp. What is asked of a column lies side by side for 32 rows: the first five levels of a tree are
// asked of all of them at once, and what does not matter is thrown away; below, every row has its way, without
// branches.
constinit const std::string_view kForest = R"(#if FOREST_BYTES
typedef int16_t ways_$N __attribute__((vector_size(FOREST_BYTES), aligned(2), may_alias));
#define ABOVE(a, b) (ways_$N)((a) > (b))
#else
typedef int16_t ways_$N;
#define ABOVE(a, b) (ways_$N)(-((a) > (b)))
#endif
#undef FOREST_BYTES
enum { ways_at_once_$N = sizeof(ways_$N) / 2 };

typedef struct {
  int64_t rows, width, columns, trees, targets, block;
  const $T *x, *numbers;
  const int32_t *begins, *places;
  const uint16_t* tops;
  const uint64_t* nodes;
  const int32_t* shapes;
  const $T* votes;
  const int32_t* aims;
  double* sums;
} forest_$N;

// The ranks of a column of `count` rows from the first one on, of which `all` are there. No number is above all.
static inline void rank_$N(const forest_$N* f, int64_t column, const $T* x, int count, int64_t all, int16_t* to) {
  const $T* const numbers = f->numbers + f->begins[column];
  const int64_t place = f->places[column] < 0 ? -1 - (int64_t)f->places[column] : f->places[column];
  uint32_t at[16], left = (uint32_t)(f->begins[column + 1] - f->begins[column]);
  $T values[16];
  for (int i = 0; i < count; ++i) {
    const $T value = x[(i < all ? i : all - 1) * f->width + place];
    values[i] = f->places[column] < 0 ? -value : value;
    at[i] = 0;
  }
  for (; left > 1; left -= left / 2) {
    const uint32_t half = left / 2;
    for (int i = 0; i < count; ++i) at[i] += (0u - (uint32_t)(numbers[at[i] + half - 1] < values[i])) & half;
  }
  for (int i = 0; i < count; ++i) {
    const bool last = left == 1 && numbers[at[i]] < values[i];
    to[i] = values[i] == values[i] ? (int16_t)(1 + at[i] + last) : (int16_t)32767;
  }
}

// Which of the 32 ways out of the top of a tree each of 32 rows takes.
#define ASK(i) ABOVE(*(const ways_$N*)(ranks + top[32 + (i)]), zero + (int16_t)top[i])
#define PICK(test, yes, no) (ways_$N)(((test) & (yes)) | (~(test) & (no)))
#define THIRD(i) PICK(c, ASK(i + 1), ASK(i))
#define FOURTH(i) PICK(d, ASK(i + 1), ASK(i))
#define BELOW(i) PICK(c, FOURTH(i + 2), FOURTH(i))
$Astatic void leave_top_$N(const uint16_t* top, const int16_t* ranks, int16_t* to) {
  const ways_$N zero = {0};
  for (int i = 0; i < 32; i += ways_at_once_$N, ranks += ways_at_once_$N) {
    const ways_$N a = ASK(1), b = PICK(a, ASK(3), ASK(2));
    const ways_$N c = PICK(a, PICK(b, ASK(7), ASK(6)), PICK(b, ASK(5), ASK(4)));
    const ways_$N d = PICK(a, PICK(b, THIRD(14), THIRD(12)), PICK(b, THIRD(10), THIRD(8)));
    const ways_$N e = PICK(a, PICK(b, BELOW(28), BELOW(24)), PICK(b, BELOW(20), BELOW(16)));
    *(ways_$N*)(to + i) = (ways_$N)-(a * 16 + b * 8 + c * 4 + d * 2 + e);
  }
}
#undef BELOW
#undef FOURTH
#undef THIRD
#undef PICK
#undef ASK
#undef ABOVE

static inline uint64_t below_$N(const uint64_t* nodes, const int16_t* ranks, uint64_t at) {
  return ((nodes[at] >> 16) - (uint16_t)ranks[nodes[at] & 0xffff]) >> 16;
}

// The same in the top of a tree, of which 64 numbers are the table.
static inline uint64_t go_on_$N(const uint16_t* top, const int16_t* ranks, uint64_t at) {
  return 2 * at + ((uint32_t)((int16_t)top[at] - ranks[top[32 + at]]) >> 31);
}

static inline void vote_$N(const forest_$N* f, const int32_t* shape, uint64_t leaf, double* sums) {
  const int64_t first = shape[3] + ((int64_t)leaf - shape[4]) * shape[2];
  for (int32_t i = 0; i < shape[2]; ++i) sums[f->aims ? f->aims[first + i] : i] += f->votes[first + i];
}

// Ways of 16 rows down a tree, to their votes.
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
static void descend_$N(const forest_$N* f, const int32_t* shape, const int16_t* ways, const int16_t* ranks, int64_t rows,
                       double* sums) {
  const uint64_t* const nodes = f->nodes + shape[0];
#define START(i) uint64_t at##i = (uint64_t)ways[i];
  EACH(START)
#undef START
  for (int32_t level = 0; level < shape[1];) {
    uint64_t before = 0, after = 0;
    for (const int32_t end = shape[1] < level + 8 ? shape[1] : level + 8; level < end; ++level) {
#define COUNT(i) +at##i
#define STEP(i) at##i = below_$N(nodes, ranks + i, at##i);
      before = EACH(COUNT);
      EACH(STEP)
#undef STEP
    }
    after = EACH(COUNT);
#undef COUNT
    if (after == before) break;
  }
  if (f->targets == 1 && rows == 16) {
    const int64_t first = (int64_t)shape[3] - shape[4];
#define VOTE(i) sums[i] += f->votes[first + (int64_t)at##i];
    EACH(VOTE)
#undef VOTE
  } else {
#define VOTE(i) \
  if (i < rows) vote_$N(f, shape, at##i, sums + i * f->targets);
    EACH(VOTE)
#undef VOTE
  }
}
#undef EACH

// One row down eight trees at once: each has its own variables, so that no compiler makes vectors of them.
#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)
static void go_together_$N(const forest_$N* f, const int16_t* ranks, int64_t first, double* sums) {
  const uint16_t* const tops = f->tops + 64 * first;
  const int32_t* const shapes = f->shapes + 5 * first;
  int32_t shared = shapes[1];
#define START(i) uint64_t at##i = 1;
  EACH(START)
#undef START
  for (int level = 0; level < 5; ++level) {
#define ASK(i) at##i = go_on_$N(tops + 64 * i, ranks, at##i);
    EACH(ASK)
#undef ASK
  }
#define LEAVE(i)                                             \
  const uint64_t* const nodes##i = f->nodes + shapes[5 * i]; \
  at##i -= 32;                                               \
  if (shapes[5 * i + 1] < shared) shared = shapes[5 * i + 1];
  EACH(LEAVE)
#undef LEAVE
  for (int32_t level = 0; level < shared; ++level) {
#define STEP(i) at##i = below_$N(nodes##i, ranks, at##i);
    EACH(STEP)
#undef STEP
  }
#define FINISH(i) \
  for (int32_t level = shared; level < shapes[5 * i + 1]; ++level) at##i = below_$N(nodes##i, ranks, at##i);
  EACH(FINISH)
#undef FINISH
  if (f->targets == 1) {
    double sum = sums[0];
#define VOTE(i) sum += f->votes[(int64_t)shapes[5 * i + 3] - shapes[5 * i + 4] + (int64_t)at##i];
    EACH(VOTE)
#undef VOTE
    sums[0] = sum;
  } else {
#define VOTE(i) vote_$N(f, shapes + 5 * i, at##i, sums);
    EACH(VOTE)
#undef VOTE
  }
}
#undef EACH

// One row down all trees.
static void go_alone_$N(const forest_$N* f, const int16_t* ranks, double* sums) {
  int64_t first = 0;
  for (; first + 8 <= f->trees; first += 8) go_together_$N(f, ranks, first, sums);
  for (; first < f->trees; ++first) {
    const int32_t* const shape = f->shapes + 5 * first;
    uint64_t at = 1;
    for (int level = 0; level < 5; ++level) at = go_on_$N(f->tops + 64 * first, ranks, at);
    at -= 32;
    for (int32_t level = 0; level < shape[1]; ++level) at = below_$N(f->nodes + shape[0], ranks, at);
    vote_$N(f, shape, at, sums);
  }
}

// Some rows: as many as have their ranks in a first-level cache.
static void forest_task_$N(void* what, int64_t task) {
  const forest_$N* const f = (const forest_$N*)what;
  const int64_t first = task * f->block, rows = f->rows - first < f->block ? f->rows - first : f->block;
  const $T* const x = f->x + first * f->width;
  double* const sums = f->sums + first * f->targets;
  int16_t ranks[$RANKS], ways[32];
  for (int64_t i = 0; i < rows * f->targets; ++i) sums[i] = 0;
  if (rows < 8) {
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t c = 0; c < f->columns; ++c) rank_$N(f, c, x + row * f->width, 1, 1, ranks + 32 * c);
      go_alone_$N(f, ranks, sums + row * f->targets);
    }
    return;
  }
  for (int64_t i = 0; i < (rows + 31) / 32 * 32; i += 16)
    for (int64_t c = 0; c < f->columns; ++c)
      rank_$N(f, c, x + (i < rows ? i : rows - 1) * f->width, 16, i < rows ? rows - i : 1,
              ranks + (i / 32 * f->columns + c) * 32 + i % 32);
  for (int64_t tree = 0; tree < f->trees; ++tree)
    for (int64_t i = 0; i < rows; i += 32) {
      const int16_t* const here = ranks + i * f->columns;
      leave_top_$N(f->tops + 64 * tree, here, ways);
      for (int64_t half = 0; half < 32 && i + half < rows; half += 16)
        descend_$N(f, f->shapes + 5 * tree, ways + half, here + half, rows - i - half < 16 ? rows - i - half : 16,
                   sums + (i + half) * f->targets);
    }
}

static void votes_$N(int64_t rows, int64_t width, int64_t columns, int64_t trees, int64_t targets, const $T* x,
                     const $T* numbers, const int32_t* begins, const int32_t* places, const uint16_t* tops,
                     const uint64_t* nodes, const int32_t* shapes, const $T* votes, const int32_t* aims, double* sums) {
  forest_$N forest = {rows, width, columns, trees,  targets, $RANKS / 32 / columns * 32, x, numbers, begins, places, tops,
                      nodes, shapes, votes, aims, sums};
$FORESTS}
)";

}  // namespace ingot::backends::cpp
