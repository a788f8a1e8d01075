// com.microsoft.DynamicQuantizeLSTM: an LSTM of 8-bit weights, whose inputs and states are rounded by their own ranges.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/rnn/activation.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

enum Input : std::size_t {
  kX,
  kW,
  kR,
  kB,
  kLengths,
  kInitialH,
  kInitialC,
  kPeephole,
  kWScale,
  kWZero,
  kRScale,
  kRZero
};
constexpr std::int64_t kGates = 4;

struct Sizes {
  std::int64_t steps, batch, inputs, hidden, directions;
};

/// Weights [rows, gates * hidden] of one direction, with the scale of each column.
struct Weights {
  std::int64_t rows, columns;
  std::vector<std::int32_t> values;  // above their zero points
  std::vector<float> scales;
};

Weights weights_of(KernelContext& c, const Sizes& s, std::size_t input, std::size_t scale, std::int64_t rows,
                   std::int64_t direction) {
  const std::int64_t columns = kGates * s.hidden;
  const Array& w = c.in(input);
  if (w.dims() != Dims{s.directions, rows, columns}) c.fail("weights have a shape that does not fit the others");
  const Array scales = converted(c.in(scale), DType::f64, c.host());
  const Array zeros = converted(c.in(scale + 1), DType::f64, c.host());
  const bool is_by_column = scales.size() == s.directions * columns && columns > 1;
  if (!is_by_column && scales.size() != s.directions) c.fail("there is a scale for each direction, or each column");
  if (zeros.size() != scales.size() && zeros.size() != s.directions) c.fail("zero points do not fit the scales");
  const auto of_column = [&](const Array& a, std::int64_t j) {
    return a.data<double>()[static_cast<std::size_t>(a.size() == s.directions ? direction : direction * columns + j)];
  };
  const Array wide = converted(w, DType::i32, c.host());
  Weights made{rows, columns, {}, {}};
  const auto all = wide.data<std::int32_t>().subspan(static_cast<std::size_t>(direction * rows * columns),
                                                     static_cast<std::size_t>(rows * columns));
  made.values.assign(all.begin(), all.end());
  for (std::int64_t j = 0; j < columns; ++j) {
    made.scales.push_back(static_cast<float>(of_column(scales, j)));
    const auto zero = static_cast<std::int32_t>(of_column(zeros, j));
    for (std::int64_t i = 0; zero && i < rows; ++i) made.values[static_cast<std::size_t>(i * columns + j)] -= zero;
  }
  return made;
}

/// Rounded to 8 bits by the range of all of them.
struct Rounded {
  std::vector<std::int32_t> values;  // above their zero point
  float scale = 1;
};
Rounded rounded(std::span<const float> x) {
  float least = 0, most = 0;
  for (const float v : x) {
    least = std::min(least, v);
    most = std::max(most, v);
  }
  Rounded made;
  made.scale = most == least ? 1.0f : (most - least) / 255.0f;
  const float zero = std::nearbyint(std::clamp(-least / made.scale, 0.0f, 255.0f));
  for (const float v : x) {
    const float q = std::clamp(std::nearbyint(v / made.scale) + zero, 0.0f, 255.0f);
    made.values.push_back(static_cast<std::int32_t>(q - zero));
  }
  return made;
}

/// to[n][j] += x[n] . w[.][j], for `count` rows of x.
void add_product(const Rounded& x, const Weights& w, std::int64_t count, std::span<float> to) {
  std::vector<std::int32_t> sums(static_cast<std::size_t>(w.columns));
  for (std::int64_t n = 0; n < count; ++n) {
    std::ranges::fill(sums, 0);
    for (std::int64_t k = 0; k < w.rows; ++k) {
      const std::int32_t v = x.values[static_cast<std::size_t>(n * w.rows + k)];
      const std::int32_t* row = w.values.data() + k * w.columns;
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += v * row[j];
    }
    float* out = to.data() + n * w.columns;
    for (std::size_t j = 0; j < sums.size(); ++j) out[j] += static_cast<float>(sums[j]) * (x.scale * w.scales[j]);
  }
}

/// One direction of the layer.
class Direction {
 public:
  Direction(KernelContext& c, const Sizes& s, std::int64_t number)
      : c_(c), s_(s), number_(number), r_(weights_of(c, s, kR, kRScale, s.hidden, number)) {
    is_coupled_ = c.attr("input_forget", std::int64_t{0}) != 0;
    const float* clip = c.node.attributes.get<float>("clip");
    clip_ = clip ? static_cast<double>(*clip) : std::numeric_limits<double>::infinity();
    const auto all = read_activations(c, {"Sigmoid", "Tanh", "Tanh"}, static_cast<std::size_t>(s.directions));
    functions_.assign(all.begin() + 3 * number, all.begin() + 3 * number + 3);
    hidden_ = state(kInitialH);
    cell_ = state(kInitialC);
    if (c.has(kPeephole)) peephole_ = part(kPeephole, 3 * s.hidden);
  }

  void run(std::span<const float> x, std::span<float> y) {
    const Weights w = weights_of(c_, s_, kW, kWScale, s_.inputs, number_);
    const std::size_t columns = static_cast<std::size_t>(w.columns);
    std::vector<float> bias(columns, 0);
    if (c_.has(kB)) {
      const auto both = part(kB, 2 * w.columns);
      for (std::size_t j = 0; j < columns; ++j) bias[j] = both[j] + both[j + columns];
    }
    std::vector<float> gates;  // of all steps
    for (std::int64_t i = 0; i < s_.steps * s_.batch; ++i) gates.insert(gates.end(), bias.begin(), bias.end());
    add_product(rounded(x), w, s_.steps * s_.batch, gates);
    const bool is_reversed = number_ == 1 || c_.attr("direction", "forward") == "reverse";
    Pace pace(c_.host().budget());
    for (std::int64_t i = 0; i < s_.steps; ++i) {
      pace.step(s_.batch * w.columns * s_.hidden);
      std::vector<float> recurrent(static_cast<std::size_t>(s_.batch) * columns, 0.0f);
      add_product(rounded(hidden_), r_, s_.batch, recurrent);
      for (std::int64_t n = 0; n < s_.batch; ++n) {
        const std::int64_t length = length_of(n), t = is_reversed ? length - 1 - i : i;
        if (i >= length) continue;
        step(n, gates.data() + (t * s_.batch + n) * w.columns, recurrent.data() + n * w.columns);
        std::copy_n(hidden_.begin() + n * s_.hidden, s_.hidden,
                    y.begin() + ((t * s_.directions + number_) * s_.batch + n) * s_.hidden);
      }
    }
  }

  const std::vector<float>& hidden() const { return hidden_; }
  const std::vector<float>& cell() const { return cell_; }

 private:
  std::vector<float> part(std::size_t input, std::int64_t size) const {
    const auto all = c_.in(input).data<float>();
    if (std::ssize(all) != size * s_.directions)
      c_.fail("input " + std::to_string(input) + " has a shape that does not fit the others");
    return {all.begin() + number_ * size, all.begin() + (number_ + 1) * size};
  }
  std::vector<float> state(std::size_t input) const {
    const std::int64_t size = s_.batch * s_.hidden;
    return c_.has(input) ? part(input, size) : std::vector<float>(static_cast<std::size_t>(size), 0.0f);
  }
  std::int64_t length_of(std::int64_t n) const {
    if (!c_.has(kLengths)) return s_.steps;
    const auto lengths = c_.in(kLengths).data<std::int32_t>();
    if (std::ssize(lengths) != s_.batch) c_.fail("sequence_lens must have one element per sequence");
    return std::clamp<std::int64_t>(lengths[static_cast<std::size_t>(n)], 0, s_.steps);
  }
  double activate(std::size_t function, double x) const { return functions_[function](std::clamp(x, -clip_, clip_)); }

  /// Gates in the order in, out, forget, next.
  void step(std::int64_t n, const float* input, const float* recurrent) {
    for (std::int64_t i = 0; i < s_.hidden; ++i) {
      float &cell = cell_[static_cast<std::size_t>(n * s_.hidden + i)],
            &hidden = hidden_[static_cast<std::size_t>(n * s_.hidden + i)];
      const auto sum = [&](std::int64_t gate) {
        const std::int64_t at = gate * s_.hidden + i;
        const float peek = gate < 3 && !peephole_.empty() ? peephole_[static_cast<std::size_t>(at)] * cell : 0.0f;
        return static_cast<double>(input[at] + recurrent[at] + peek);
      };
      const double in = activate(0, sum(0)), forget = is_coupled_ ? 1 - in : activate(0, sum(2));
      cell = static_cast<float>(forget * static_cast<double>(cell) + in * activate(1, sum(3)));
      // ONNX Runtime, whose operator it is, clips what goes into the gates, not the cell.
      hidden = static_cast<float>(activate(0, sum(1)) * functions_[2](static_cast<double>(cell)));
    }
  }

  KernelContext& c_;
  const Sizes& s_;
  std::int64_t number_;
  Weights r_;
  bool is_coupled_ = false;
  double clip_ = 0;
  std::vector<RecurrentActivation> functions_;
  std::vector<float> hidden_, cell_, peephole_;
};

void run_lstm(KernelContext& c) {
  const Array& x = c.in(kX);
  const Array& r = c.in(kR);
  if (x.rank() != 3 || r.rank() != 3 || x.dtype() != DType::f32) c.fail("X must be float, and X and R have rank 3");
  const Sizes s{x.dims()[0], x.dims()[1], x.dims()[2], r.dims()[1],
                c.attr("direction", "forward") == "bidirectional" ? 2 : 1};
  Array y = scratch(c, DType::f32, {s.steps, s.directions, s.batch, s.hidden});
  Array last_h = scratch(c, DType::f32, {s.directions, s.batch, s.hidden}),
        last_c = scratch(c, DType::f32, {s.directions, s.batch, s.hidden});
  for (std::int64_t d = 0; d < s.directions; ++d) {
    Direction direction(c, s, d);
    direction.run(x.data<float>(), y.mutable_data<float>());
    std::ranges::copy(direction.hidden(), last_h.mutable_data<float>().begin() + d * s.batch * s.hidden);
    std::ranges::copy(direction.cell(), last_c.mutable_data<float>().begin() + d * s.batch * s.hidden);
  }
  if (c.wants(0)) put(c, 0, y, DType::f32);
  if (c.wants(1)) put(c, 1, last_h, DType::f32);
  if (c.wants(2)) put(c, 2, last_c, DType::f32);
}

void infer_lstm(InferContext& c) {
  const Shape *x = c.shape(kX), *r = c.shape(kR);
  if (!x || !r) return;
  c.require(x->size() == 3 && r->size() == 3, "X and R must have rank 3");
  const Dim directions = c.attr("direction", "forward") == "bidirectional" ? 2 : 1;
  c.out_shape(0, {(*x)[0], directions, (*x)[1], (*r)[1]});
  c.out_shape(1, {directions, (*x)[1], (*r)[1]});
  c.out_shape(2, {directions, (*x)[1], (*r)[1]});
}

}  // namespace

constinit const OpDef defs::microsoft::DynamicQuantizeLSTM = {
    .name = "DynamicQuantizeLSTM", .domain = kMicrosoft, .infer = infer_lstm, .kernel = run_lstm};

}  // namespace ingot::ops
