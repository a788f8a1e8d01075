// GRU and plain recurrent layers of floats with constant weights: all inputs in one product, then step by step.
#include <algorithm>
#include <array>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/gemm.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/recurrent.h"

namespace ingot::engine {
namespace {

/// What a layer does in each step.
struct Cell {
  std::int64_t gates = 3;     // of a GRU update, reset and hidden; else one
  bool resets_after = false;  // of a GRU: the reset is of what the state adds, not of the state

  /// Whether each gate has a matrix of its own: the last one sees another state.
  bool is_split() const { return gates == 3 && !resets_after; }
};

struct Direction {
  WeightMatrix input;
  std::vector<WeightMatrix> recurrent = {};  // of all gates, or one each
  std::vector<float> input_bias = {}, state_bias = {};
  RecurrentFunction gate_function = {}, function = {};
  bool is_reverse = false;
};

class Recurrent final : public PreparedNode {
 public:
  Recurrent(Cell cell, std::vector<Direction> directions, std::int64_t hidden)
      : cell_(cell), directions_(std::move(directions)), hidden_(hidden) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.rank() != 3 || x.dims()[2] != directions_[0].input.rows())
      c.fail("the input is not of the type that was inferred");
    const std::int64_t steps = x.dims()[0], batch = x.dims()[1], count = std::ssize(directions_);
    const Dims state = {count, batch, hidden_};
    if (c.has(5) && (c.in(5).dtype() != DType::f32 || c.in(5).dims() != state))
      c.fail("the initial state does not fit");
    const Sequences sequences(c, steps, batch);
    Array y = make_raw(c, 0, DType::f32, {steps, count, batch, hidden_});
    Array last = make_raw(c, 1, DType::f32, state);
    for (std::int64_t k = 0; k < count; ++k) {
      const Direction& direction = directions_[static_cast<std::size_t>(k)];
      const std::int64_t cells = batch * hidden_;
      float* h = last.mutable_data<float>().data() + k * cells;
      if (c.has(5))
        std::copy_n(c.in(5).data<float>().data() + k * cells, cells, h);
      else
        std::fill_n(h, cells, 0.0f);
      float* out = y.mutable_data<float>().data() + k * cells;
      if (sequences.is_even()) {
        const float* end = walk(c, direction, sequences, x.data<float>().data(), h, out, count * hidden_, pool);
        if (end != h) std::copy_n(end, cells, h);
      } else {
        uneven(c, direction, sequences, x, h, out, pool);
      }
    }
  }

  bool reads(std::size_t i) const override { return i == 0 || i > 3; }

 private:
  /// From the states h on; rows `row_stride` apart in `out` become those after each step. Returns the last ones.
  const float* walk(ops::KernelContext& c, const Direction& direction, const Sequences& sequences, const float* x,
                    const float* h, float* out, std::int64_t row_stride, ThreadPool& pool) const {
    const std::int64_t width = cell_.gates * hidden_;
    FastHost& host = static_cast<FastHost&>(c.host());
    Array inputs = host.allocate_raw(DType::f32, {sequences.rows(), width});
    Array room = host.allocate_raw(DType::f32, {c.in(0).dims()[1], width + hidden_});
    float* all = inputs.mutable_data<float>().data();
    const Budget& budget = c.host().budget();
    Epilogue with_bias;
    with_bias.bias = direction.input_bias.data();
    multiply(x, sequences.rows(), direction.input.rows(), direction.input.packed(pool, budget), all, width, with_bias,
             pool, budget);
    std::vector<PackedMatrix> recurrent;
    for (const WeightMatrix& matrix : direction.recurrent) recurrent.push_back(matrix.packed(pool, budget));
    for (std::int64_t i = 0; i < sequences.steps(); ++i) {
      budget.poll();
      const std::int64_t row = sequences.first_row(i, direction.is_reverse);
      float* after = out + row * row_stride;
      step(direction, recurrent, all + row * width, h, after, sequences.count(i), room.mutable_data<float>().data(),
           pool);
      h = after;
    }
    return h;
  }

  void uneven(ops::KernelContext& c, const Direction& direction, const Sequences& sequences, const Array& x, float* h,
              float* out, ThreadPool& pool) const {
    const std::int64_t batch = x.dims()[1], inputs = x.dims()[2];
    FastHost& host = static_cast<FastHost&>(c.host());
    Array rows = host.allocate_raw(DType::f32, {sequences.rows(), inputs + hidden_});
    Array states = host.allocate_raw(DType::f32, {batch, hidden_});
    float *taken = rows.mutable_data<float>().data(), *made = taken + sequences.rows() * inputs;
    float* first = states.mutable_data<float>().data();
    sequences.gather(x.data<float>().data(), inputs, direction.is_reverse, taken);
    sequences.order(h, hidden_, first);
    walk(c, direction, sequences, taken, first, made, hidden_, pool);
    sequences.scatter(made, hidden_, direction.is_reverse, out, std::ssize(directions_) * batch * hidden_);
    sequences.ends(made, first, hidden_, h);
  }

  void step(const Direction& d, const std::vector<PackedMatrix>& r, float* input, const float* before, float* after,
            std::int64_t batch, float* room, ThreadPool& pool) const {
    const std::int64_t h = hidden_, width = cell_.gates * h;
    // What the state adds to some gates.
    const auto add_state = [&](const float* state, std::size_t matrix, float* sums) {
      Epilogue with_bias;
      with_bias.bias = d.state_bias.data() + (sums - room);
      multiply(state, batch, h, r[matrix], sums, width, with_bias, pool);
    };
    if (cell_.gates == 1) {
      Epilogue from_state;
      from_state.bias = d.state_bias.data();
      from_state.residual = input;
      multiply(before, batch, h, r[0], input, h, from_state, pool);
      return d.function(input, after, batch * h);
    }
    float* reset_state = room + batch * width;
    add_state(before, 0, room);
    if (cell_.is_split()) add_state(before, 1, room + h);
    for (std::int64_t b = 0; b < batch; ++b) {
      float *gates = input + b * width, *sums = room + b * width;
      apply(Binary::add, gates, 1, sums, 1, gates, 2 * h);
      d.gate_function(gates, gates, 2 * h);
      const float* reset = gates + h;
      if (cell_.resets_after)
        apply(Binary::multiply, sums + 2 * h, 1, reset, 1, sums + 2 * h, h);
      else
        apply(Binary::multiply, before + b * h, 1, reset, 1, reset_state + b * h, h);
    }
    if (cell_.is_split()) add_state(reset_state, 2, room + 2 * h);
    for (std::int64_t b = 0; b < batch; ++b) {
      const float *update = input + b * width, *state = before + b * h;
      float *next = input + b * width + 2 * h, *to = after + b * h;
      apply(Binary::add, next, 1, room + b * width + 2 * h, 1, next, h);
      d.function(next, next, h);
      // (1 - update) * next + update * state
      const std::array<JoinedStep, 3> blend = {
          JoinedStep{.is_binary = true, .binary = Binary::subtract, .other = next, .step = 1},
          JoinedStep{.is_binary = true, .binary = Binary::multiply, .other = update, .step = 1},
          JoinedStep{.is_binary = true, .binary = Binary::add, .other = next, .step = 1}};
      apply(blend, state, to, h);
    }
  }

  Cell cell_;
  std::vector<Direction> directions_;
  std::int64_t hidden_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_gru(PrepareContext& c) {
  const Attributes& attributes = c.node.attributes;
  const Tensor w = c.weights(1), r = c.weights(2);
  const Array* b = c.constant(3);
  if (c.elem(0) != DType::f32 || w.dtype() != DType::f32 || r.dtype() != DType::f32)
    return c.refuse("the weights are not constant floats");
  if (c.has(3) && (!b || b->dtype() != DType::f32)) return c.refuse("the bias is not a constant");
  if (attributes.int_or("layout", 0) != 0) return c.refuse("batches come first");
  Cell cell;
  cell.gates = c.node.op == "GRU" ? 3 : 1;
  cell.resets_after = attributes.int_or("linear_before_reset", 0) != 0;
  const std::string direction = attributes.string_or("direction", "forward");
  const std::int64_t count = direction == "bidirectional" ? 2 : 1;
  const auto functions = cell.gates == 3 ? recurrent_functions(attributes, {"Sigmoid", "Tanh"}, count)
                                         : recurrent_functions(attributes, {"Tanh"}, count);
  if (functions.empty()) return c.refuse("it has unusual activations");
  if (w.rank() != 3 || r.rank() != 3 || w.dims()[0] != count || r.dims()[0] != count)
    return c.refuse("the weights do not fit the directions");
  const std::int64_t inputs = w.dims()[2], hidden = r.dims()[2], rows = cell.gates * hidden;
  if (w.dims()[1] != rows || r.dims()[1] != rows || inputs < 1 || hidden < 1 || (b && b->size() != count * 2 * rows))
    return c.refuse("the weights do not fit each other");
  std::vector<Direction> directions;
  for (std::int64_t k = 0; k < count; ++k) {
    Direction d{.input = WeightMatrix(w, inputs, rows, true, k)};
    const std::int64_t matrices = cell.is_split() ? cell.gates : 1;
    for (std::int64_t i = 0; i < matrices; ++i)
      d.recurrent.emplace_back(r, hidden, rows / matrices, true, k * matrices + i);
    d.gate_function = functions[static_cast<std::size_t>(k * std::ssize(functions) / count)];
    d.function = functions[static_cast<std::size_t>((k + 1) * std::ssize(functions) / count - 1)];
    d.input_bias.assign(static_cast<std::size_t>(rows), 0.0f);
    d.state_bias = d.input_bias;
    if (b) {
      const float* from = b->data<float>().data() + k * 2 * rows;
      d.input_bias.assign(from, from + rows);
      d.state_bias.assign(from + rows, from + 2 * rows);
    }
    d.is_reverse = direction == "reverse" || k == 1;
    directions.push_back(std::move(d));
  }
  return std::make_unique<Recurrent>(cell, std::move(directions), hidden);
}

}  // namespace ingot::engine
