// LSTM layers of floats with constant weights: all inputs in one product, the weights of both packed once.
#include <algorithm>
#include <optional>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/gemm.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/recurrent.h"
#include "ingot/engine/kernels/row_math.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGates = 4;  // input, output, forget, cell

/// What a direction does with the sums of its gates.
struct Cell {
  RecurrentFunction gate, fresh, shown;
  bool is_coupled = false;      // what is not taken in is kept
  std::vector<float> peephole;  // what input, output and forget gate see of the cell; empty: nothing

  bool is_usual() const {
    return gate.is_plain(Unary::sigmoid) && fresh.is_plain(Unary::tanh) && shown.is_plain(Unary::tanh) && !is_coupled &&
           peephole.empty();
  }

  /// The new state of n cells from `unit` on; the sums of their gates are `stride` apart and are written over.
  void renew(float* gates, std::int64_t stride, std::int64_t unit, float* cell, float* h, std::int64_t n) const {
    float *in = gates, *out = gates + stride, *forget = gates + 2 * stride, *next = gates + 3 * stride;
    open(0, unit, cell, in, stride, n);
    if (is_coupled)
      apply(Binary::subtract, &kOne, 0, in, 1, forget, n);
    else
      open(2, unit, cell, forget, stride, n);
    fresh(next, next, n);
    apply(Binary::multiply, in, 1, next, 1, next, n);
    apply(Binary::multiply, forget, 1, cell, 1, cell, n);
    apply(Binary::add, cell, 1, next, 1, cell, n);
    open(1, unit, cell, out, stride, n);  // this gate sees the renewed cell
    shown(cell, h, n);
    apply(Binary::multiply, out, 1, h, 1, h, n);
  }

 private:
  static constexpr float kOne = 1;

  void open(std::int64_t which, std::int64_t unit, const float* cell, float* sums, std::int64_t hidden,
            std::int64_t n) const {
    if (!peephole.empty()) {
      const float* seen = peephole.data() + which * hidden + unit;
      for (std::int64_t i = 0; i < n; ++i) sums[i] += seen[i] * cell[i];
    }
    gate(sums, sums, n);
  }
};

struct Direction {
  WeightMatrix input, recurrent;
  std::vector<float> bias;  // of all gates, both parts added
  Cell cell;
  bool is_reverse = false;
};

/// The recurrent weights of a layer, step by step. Units are shared out with all their gates: a step is one loop.
class Recurrence {
 public:
  Recurrence(const PackedMatrix& weights, const Cell& cell, std::int64_t hidden)
      : cell_(cell), is_usual_(cell.is_usual()), hidden_(hidden) {
    // Parts begin with panels.
    units_ = hidden % panel_columns() == 0 && hidden > kUnits ? kUnits : hidden;
    if (units_ == hidden) parts_ = {weights};
    for (std::int64_t unit = 0; unit < hidden && units_ < hidden; unit += units_)
      for (std::int64_t gate = 0; gate < kGates; ++gate)
        parts_.push_back(weights.part(gate * hidden + unit, std::min(units_, hidden - unit)));
  }

  /// `gates` has what the input adds to them. All of `before` is read before `after` is written to.
  void step(const float* before, std::int64_t batch, float* gates, float* cell, float* after, ThreadPool& pool) const {
    const std::int64_t pieces = (hidden_ + units_ - 1) / units_, width = kGates * hidden_;
    const bool is_small = batch * hidden_ * width < kSmall;
    pool.parallel_for(pieces, is_small ? pieces : 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t piece = begin; piece < end; ++piece) {
        const std::int64_t unit = piece * units_, n = std::min(units_, hidden_ - unit);
        const std::int64_t count = std::ssize(parts_) / pieces;
        for (std::int64_t i = 0; i < count; ++i) {
          Epilogue with_input;
          float* sums = gates + i * hidden_ + unit;
          with_input.residual = sums;
          multiply(before, batch, hidden_, parts_[static_cast<std::size_t>(piece * count + i)], sums, width, with_input,
                   pool);
        }
        for (std::int64_t b = 0; b < batch; ++b) {
          float *sums = gates + b * width + unit, *cells = cell + b * hidden_ + unit, *h = after + b * hidden_ + unit;
          if (is_usual_)
            lstm_cells(sums, hidden_, cells, h, n);
          else
            cell_.renew(sums, hidden_, unit, cells, h, n);
        }
      }
    });
  }

 private:
  static constexpr std::int64_t kUnits = 64;       // of a piece: as many panels per gate as one row takes at once
  static constexpr std::int64_t kSmall = 1 << 17;  // multiplications for which it does not pay to wake another thread

  const Cell& cell_;
  bool is_usual_;
  std::int64_t hidden_, units_;
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
    const Sequences sequences(c, steps, batch);
    Array y = make_raw(c, 0, DType::f32, {steps, count, batch, hidden_});
    Array last_h = make_raw(c, 1, DType::f32, state), last_c = make_raw(c, 2, DType::f32, state);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t cells = batch * hidden_;
      float* h = last_h.mutable_data<float>().data() + k * cells;
      float* cell = last_c.mutable_data<float>().data() + k * cells;
      start(c, 5, k * cells, cells, h);
      start(c, 6, k * cells, cells, cell);
      const Direction& direction = directions_[static_cast<std::size_t>(k)];
      float* out = y.mutable_data<float>().data() + k * cells;
      if (sequences.is_even())
        even(c, direction, sequences, x.data<float>().data(), h, cell, out, pool);
      else
        uneven(c, direction, sequences, x, h, cell, out, pool);
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

  /// Rows of h [batch, hidden] and of the cell become those of the last step; rows `step` apart in `out` those of each.
  /// Returns the last ones.
  const float* walk(ops::KernelContext& c, const Direction& direction, const Sequences& sequences, const float* x,
                    const float* h, float* cell, float* out, std::int64_t row_stride, ThreadPool& pool) const {
    const std::int64_t width = kGates * hidden_, inputs = direction.input.rows();
    Array gates = static_cast<FastHost&>(c.host()).allocate_raw(DType::f32, {sequences.rows(), width});
    float* all = gates.mutable_data<float>().data();
    Epilogue with_bias;
    with_bias.bias = direction.bias.data();
    const Budget& budget = c.host().budget();
    multiply(x, sequences.rows(), inputs, direction.input.packed(pool, budget), all, width, with_bias, pool, budget);
    const Recurrence recurrence(direction.recurrent.packed(pool, budget), direction.cell, hidden_);
    for (std::int64_t i = 0; i < sequences.steps(); ++i) {
      budget.poll();
      const std::int64_t row = sequences.first_row(i, direction.is_reverse);
      float* after = out + row * row_stride;
      recurrence.step(h, sequences.count(i), all + row * width, cell, after, pool);
      h = after;
    }
    return h;
  }

  void even(ops::KernelContext& c, const Direction& direction, const Sequences& sequences, const float* x, float* h,
            float* cell, float* out, ThreadPool& pool) const {
    const float* last = walk(c, direction, sequences, x, h, cell, out, std::ssize(directions_) * hidden_, pool);
    if (last != h) std::copy_n(last, sequences.count(0) * hidden_, h);
  }

  void uneven(ops::KernelContext& c, const Direction& direction, const Sequences& sequences, const Array& x, float* h,
              float* cell, float* out, ThreadPool& pool) const {
    const std::int64_t batch = x.dims()[1], inputs = x.dims()[2];
    FastHost& host = static_cast<FastHost&>(c.host());
    Array rows = host.allocate_raw(DType::f32, {sequences.rows(), inputs + hidden_});
    Array states = host.allocate_raw(DType::f32, {2, batch, hidden_});
    float *taken = rows.mutable_data<float>().data(), *made = taken + sequences.rows() * inputs;
    float *first_h = states.mutable_data<float>().data(), *cells = first_h + batch * hidden_;
    sequences.gather(x.data<float>().data(), inputs, direction.is_reverse, taken);
    sequences.order(h, hidden_, first_h);
    sequences.order(cell, hidden_, cells);
    walk(c, direction, sequences, taken, first_h, cells, made, hidden_, pool);
    sequences.scatter(made, hidden_, direction.is_reverse, out, std::ssize(directions_) * batch * hidden_);
    sequences.ends(made, first_h, hidden_, h);
    sequences.restore(cells, hidden_, cell);
  }

  std::vector<Direction> directions_;
  std::int64_t hidden_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_lstm(PrepareContext& c) {
  const Attributes& attributes = c.node.attributes;
  const Tensor w = c.weights(1), r = c.weights(2);
  const Array* b = c.constant(3);
  if (c.elem(0) != DType::f32 || w.dtype() != DType::f32 || r.dtype() != DType::f32)
    return c.refuse("the weights are not constant floats");
  if (c.has(3) && (!b || b->dtype() != DType::f32)) return c.refuse("the bias is not a constant");
  const Array* peephole = c.constant(7);
  if (c.has(7) && (!peephole || peephole->dtype() != DType::f32)) return c.refuse("the peepholes are not constant");
  if (attributes.int_or("layout", 0) != 0) return c.refuse("batches come first");
  const std::string direction = attributes.string_or("direction", "forward");
  const std::int64_t count = direction == "bidirectional" ? 2 : 1;
  const auto functions = recurrent_functions(attributes, {"Sigmoid", "Tanh", "Tanh"}, count);
  if (functions.empty()) return c.refuse("it has unusual activations");
  if (w.rank() != 3 || r.rank() != 3 || w.dims()[0] != count || r.dims()[0] != count)
    return c.refuse("the weights do not fit the directions");
  const std::int64_t inputs = w.dims()[2], hidden = r.dims()[2], rows = kGates * hidden;
  if (w.dims()[1] != rows || r.dims()[1] != rows || inputs < 1 || hidden < 1 || (b && b->size() != count * 2 * rows) ||
      (peephole && peephole->size() != count * 3 * hidden))
    return c.refuse("the weights do not fit each other");
  std::vector<Direction> directions;
  for (std::int64_t k = 0; k < count; ++k) {
    Direction d{WeightMatrix(w, inputs, rows, true, k), WeightMatrix(r, hidden, rows, true, k), {}, {}};
    const auto* function = functions.data() + 3 * k;
    d.cell = {function[0], function[1], function[2], attributes.int_or("input_forget", 0) != 0, {}};
    if (peephole) {
      const float* from = peephole->data<float>().data() + k * 3 * hidden;
      d.cell.peephole.assign(from, from + 3 * hidden);
    }
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
