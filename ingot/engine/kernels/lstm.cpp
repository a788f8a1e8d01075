// LSTM layers of floats with constant weights: all inputs in one product, the weights of both packed once.
#include <algorithm>
#include <optional>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/gemm.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/row_math.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGates = 4;  // input, output, forget, cell

struct Direction {
  WeightMatrix input, recurrent;
  std::vector<float> bias;  // of all gates, both parts added
  bool is_reverse = false;
};

/// The recurrent weights of a layer, step by step. Units are shared out with all their gates: a step is one loop.
class Recurrence {
 public:
  Recurrence(const PackedMatrix& weights, std::int64_t hidden, std::int64_t batch) : hidden_(hidden), batch_(batch) {
    // Parts begin with panels.
    units_ = hidden % panel_columns() == 0 && hidden > kUnits ? kUnits : hidden;
    if (units_ == hidden) parts_ = {weights};
    for (std::int64_t unit = 0; unit < hidden && units_ < hidden; unit += units_)
      for (std::int64_t gate = 0; gate < kGates; ++gate)
        parts_.push_back(weights.part(gate * hidden + unit, std::min(units_, hidden - unit)));
  }

  /// `gates` has what the input adds to them. All of `before` is read before `after` is written to.
  void step(const float* before, float* gates, float* cell, float* after, ThreadPool& pool) const {
    const std::int64_t pieces = (hidden_ + units_ - 1) / units_, width = kGates * hidden_;
    const bool is_small = batch_ * hidden_ * width < kSmall;
    pool.parallel_for(pieces, is_small ? pieces : 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t piece = begin; piece < end; ++piece) {
        const std::int64_t unit = piece * units_;
        const std::int64_t count = std::ssize(parts_) / pieces;
        for (std::int64_t i = 0; i < count; ++i) {
          Epilogue with_input;
          float* sums = gates + i * hidden_ + unit;
          with_input.residual = sums;
          multiply(before, batch_, hidden_, parts_[static_cast<std::size_t>(piece * count + i)], sums, width,
                   with_input, pool);
        }
        for (std::int64_t b = 0; b < batch_; ++b)
          lstm_cells(gates + b * width + unit, hidden_, cell + b * hidden_ + unit, after + b * hidden_ + unit,
                     std::min(units_, hidden_ - unit));
      }
    });
  }

 private:
  static constexpr std::int64_t kUnits = 64;       // of a piece: as many panels per gate as one row takes at once
  static constexpr std::int64_t kSmall = 1 << 17;  // multiplications for which it does not pay to wake another thread

  std::int64_t hidden_, batch_, units_;
  std::vector<PackedMatrix> parts_;  // by units and gate, or all in one
};

class Lstm final : public PreparedNode {
 public:
  Lstm(std::vector<Direction> directions, std::int64_t hidden) : directions_(std::move(directions)), hidden_(hidden) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.rank() != 3 || x.dims()[2] != directions_[0].input.rows())
      c.fail("the input is not of the type that was inferred");
    const std::int64_t steps = x.dims()[0], batch = x.dims()[1], count = std::ssize(directions_);
    const Dims state = {count, batch, hidden_};
    for (const std::size_t i : {std::size_t{5}, std::size_t{6}})
      if (c.has(i) && (c.in(i).dtype() != DType::f32 || c.in(i).dims() != state))
        c.fail("an initial state does not fit");
    Array y = make_raw(c, 0, DType::f32, {steps, count, batch, hidden_});
    Array last_h = make_raw(c, 1, DType::f32, state), last_c = make_raw(c, 2, DType::f32, state);
    FastHost& host = static_cast<FastHost&>(c.host());
    Array gates = host.allocate_raw(DType::f32, {steps, batch, kGates * hidden_});
    const std::int64_t cells = batch * hidden_;
    for (std::int64_t k = 0; k < count; ++k) {
      const Direction& direction = directions_[static_cast<std::size_t>(k)];
      Epilogue with_bias;
      with_bias.bias = direction.bias.data();
      float* all = gates.mutable_data<float>().data();
      const Budget& budget = c.host().budget();
      multiply(x.data<float>().data(), steps * batch, x.dims()[2], direction.input.packed(pool, budget), all,
               kGates * hidden_, with_bias, pool, budget);
      const PackedMatrix& recurrent = direction.recurrent.packed(pool, budget);
      float* h = last_h.mutable_data<float>().data() + k * cells;
      float* cell = last_c.mutable_data<float>().data() + k * cells;
      start(c, 5, k * cells, cells, h);
      start(c, 6, k * cells, cells, cell);
      const Recurrence recurrence(recurrent, hidden_, batch);
      const float* before = h;
      for (std::int64_t i = 0; i < steps; ++i) {
        budget.poll();
        const std::int64_t t = direction.is_reverse ? steps - 1 - i : i;
        float* after = y.mutable_data<float>().data() + (t * count + k) * cells;
        recurrence.step(before, all + t * batch * kGates * hidden_, cell, after, pool);
        before = after;
      }
      if (before != h) std::copy_n(before, cells, h);
    }
  }

  bool reads(std::size_t i) const override { return i == 0 || i > 3; }

 private:
  static void start(ops::KernelContext& c, std::size_t input, std::int64_t first, std::int64_t n, float* to) {
    if (c.has(input))
      std::copy_n(c.in(input).data<float>().data() + first, n, to);
    else
      std::fill_n(to, n, 0.0f);
  }

  std::vector<Direction> directions_;
  std::int64_t hidden_;
};

/// Whether the activations are those that are meant where none are named.
bool has_usual_activations(const Attributes& attributes) {
  const auto* names = attributes.get<std::vector<std::string>>("activations");
  if (!names) return true;
  constexpr std::string_view kUsual[] = {"Sigmoid", "Tanh", "Tanh"};
  for (std::size_t i = 0; i < names->size(); ++i)
    if ((*names)[i] != kUsual[i % 3]) return false;
  return true;
}

}  // namespace

std::unique_ptr<PreparedNode> prepare_lstm(PrepareContext& c) {
  const Attributes& attributes = c.node.attributes;
  const Tensor w = c.weights(1), r = c.weights(2);
  const Array* b = c.constant(3);
  if (c.elem(0) != DType::f32 || w.dtype() != DType::f32 || r.dtype() != DType::f32)
    return c.refuse("the weights are not constant floats");
  if (c.has(3) && (!b || b->dtype() != DType::f32)) return c.refuse("the bias is not a constant");
  if (c.has(4) || c.has(7)) return c.refuse("it has lengths of sequences or peepholes");
  if (attributes.has("clip") || attributes.int_or("layout", 0) != 0 || attributes.int_or("input_forget", 0) != 0)
    return c.refuse("it has an unusual attribute");
  if (!has_usual_activations(attributes)) return c.refuse("it has unusual activations");
  const std::string direction = attributes.string_or("direction", "forward");
  const std::int64_t count = direction == "bidirectional" ? 2 : 1;
  if (w.rank() != 3 || r.rank() != 3 || w.dims()[0] != count || r.dims()[0] != count)
    return c.refuse("the weights do not fit the directions");
  const std::int64_t inputs = w.dims()[2], hidden = r.dims()[2], rows = kGates * hidden;
  if (w.dims()[1] != rows || r.dims()[1] != rows || inputs < 1 || hidden < 1 || (b && b->size() != count * 2 * rows))
    return c.refuse("the weights do not fit each other");
  std::vector<Direction> directions;
  for (std::int64_t k = 0; k < count; ++k) {
    Direction d{WeightMatrix(w, inputs, rows, true, k), WeightMatrix(r, hidden, rows, true, k), {}};
    d.bias.assign(static_cast<std::size_t>(rows), 0.0f);
    if (b) {
      const float* from = b->data<float>().data() + k * 2 * rows;
      for (std::int64_t i = 0; i < rows; ++i) d.bias[static_cast<std::size_t>(i)] = from[i] + from[rows + i];
    }
    d.is_reverse = direction == "reverse" || k == 1;
    directions.push_back(std::move(d));
  }
  return std::make_unique<Lstm>(std::move(directions), hidden);
}

}  // namespace ingot::engine
