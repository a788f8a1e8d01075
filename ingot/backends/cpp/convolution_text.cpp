// The text of functions that convolve.
#include "ingot/backends/cpp/convolution_text.h"

namespace ingot::backends::cpp {

// What windows see is gathered into panels, which then meet all features. Rows of the gathered matrix are taps of
// channels; what neighbouring windows read are neighbours, so runs are copied.
constinit const std::string_view kConvolution = R"(typedef struct {
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
        else if (stride == 2)  // of a known step compilers make vectors
          for (int64_t q = 0; q < runs[i].count; ++q) here[q] = source[runs[i].from + q * 2];
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
  if (taps == 1 && plane == places) {
    bool is_plain = true;
    for (int d = 0; d < rank; ++d) is_plain = is_plain && strides[d] == 1 && pads[d] == 0;
    if (is_plain) {  // the image is one row
      rank = 1;
      in = out = &plane;
    }
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
constinit const std::string_view kDepthwise =
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
    for (int64_t s = 0; s < sx; ++s) {
      const int64_t skipped = ((s - pads[1]) % sx + sx) % sx, place = (skipped + pads[1]) / sx;
      const int64_t there = in[1] > skipped ? (in[1] - skipped + sx - 1) / sx : 0;
      const int64_t length = there < wide - place ? there : wide - place;
      int64_t phase = pads[0] % sy, line = pads[0] / sy;
      for (int64_t r = 0; r < in[0] && r + pads[0] < high * sy; ++r) {
        const $T* const from = x + (nc * in[0] + r) * in[1] + skipped;
        $T* const to = room + ((phase * sx + s) * high + line) * wide + place;
        if (sx == 1)
          copy_$N(to, from, length);
        else if (sx == 2)
          for (int64_t q = 0; q < length; ++q) to[q] = from[q * 2];
        else
          for (int64_t q = 0; q < length; ++q) to[q] = from[q * sx];
        if (++phase == sy) {
          phase = 0;
          ++line;
        }
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

}  // namespace ingot::backends::cpp
