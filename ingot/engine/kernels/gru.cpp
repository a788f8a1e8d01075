// GRU and plain recurrent layers of floats with constant weights: all inputs in one product, then step by step.
#include <algorithm>
#include <array>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/gemm.h"
#include "ingot/engine/kernels/kernels.h"

namespace ingot::engine {
namespace {

/// What a layer does in each step.
struct Cell {
  std::int64_t gates = 3;     // of a GRU update, reset and hidden; else one
  bool resets_after = false;  // of a GRU: the reset is of what the state adds, not of the state
  Unary gate_function = Unary::sigmoid, function = Unary::tanh;
};

struct Direction {
  WeightMatrix input, recurrent;
  std::vector<float> input_bias, state_bias;
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
    Array y = make_raw(c, 0, DType::f32, {steps, count, batch, hidden_});
    Array last = make_raw(c, 1, DType::f32, state);
    FastHost& host = static_cast<FastHost&>(c.host());
    const std::int64_t width = cell_.gates * hidden_, cells = batch * hidden_;
    Array inputs = host.allocate_raw(DType::f32, {steps, batch, width});
    Array room = host.allocate_raw(DType::f32, {batch, width + hidden_});
    const Budget& budget = c.host().budget();
    for (std::int64_t k = 0; k < count; ++k) {
      const Direction& direction = directions_[static_cast<std::size_t>(k)];
      Epilogue with_bias;
      with_bias.bias = direction.input_bias.data();
      float* all = inputs.mutable_data<float>().data();
      multiply(x.data<float>().data(), steps * batch, x.dims()[2], direction.input.packed(pool, budget), all, width,
               with_bias, pool, budget);
      const PackedMatrix& recurrent = direction.recurrent.packed(pool, budget);
      float* h = last.mutable_data<float>().data() + k * cells;
      if (c.has(5))
        std::copy_n(c.in(5).data<float>().data() + k * cells, cells, h);
      else
        std::fill_n(h, cells, 0.0f);
      const float* before = h;
      for (std::int64_t i = 0; i < steps; ++i) {
        budget.poll();
        const std::int64_t t = direction.is_reverse ? steps - 1 - i : i;
        float* after = y.mutable_data<float>().data() + (t * count + k) * cells;
        step(direction, recurrent, all + t * batch * width, before, after, batch, room.mutable_data<float>().data(),
             pool);
        before = after;
      }
      if (before != h) std::copy_n(before, cells, h);
    }
  }

  bool reads(std::size_t i) const override { return i == 0 || i > 3; }

 private:
  void step(const Direction& d, const PackedMatrix& r, float* input, const float* before, float* after,
            std::int64_t batch, float* room, ThreadPool& pool) const {
    const std::int64_t h = hidden_, width = cell_.gates * h;
    Epilogue from_state;
    from_state.bias = d.state_bias.data();
    if (cell_.gates == 1) {
      from_state.residual = input;
      multiply(before, batch, h, r, input, h, from_state, pool);
      return apply(cell_.function, input, after, batch * h);
    }
    float* reset_state = room + batch * width;
    if (cell_.resets_after) {
      multiply(before, batch, h, r, room, width, from_state, pool);
    } else {
      multiply(before, batch, h, r.part(0, 2 * h), room, width, from_state, pool);
    }
    for (std::int64_t b = 0; b < batch; ++b) {
      float *gates = input + b * width, *sums = room + b * width;
      apply(Binary::add, gates, 1, sums, 1, gates, 2 * h);
      apply(cell_.gate_function, gates, gates, 2 * h);
      const float* reset = gates + h;
      if (cell_.resets_after)
        apply(Binary::multiply, sums + 2 * h, 1, reset, 1, sums + 2 * h, h);
      else
        apply(Binary::multiply, before + b * h, 1, reset, 1, reset_state + b * h, h);
    }
    if (!cell_.resets_after) {
      Epilogue hidden_bias;
      hidden_bias.bias = d.state_bias.data() + 2 * h;
      multiply(reset_state, batch, h, r.part(2 * h, h), room + 2 * h, width, hidden_bias, pool);
    }
    for (std::int64_t b = 0; b < batch; ++b) {
      const float *update = input + b * width, *state = before + b * h;
      float *next = input + b * width + 2 * h, *to = after + b * h;
      apply(Binary::add, next, 1, room + b * width + 2 * h, 1, next, h);
      apply(cell_.function, next, next, h);
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

/// The functions that are named, where all directions have the same ones and they are known.
bool read_functions(const Attributes& attributes, Cell& cell) {
  const auto* names = attributes.get<std::vector<std::string>>("activations");
  if (!names) return true;
  const std::size_t each = cell.gates == 1 ? 1 : 2;
  for (std::size_t i = 0; i < names->size(); ++i) {
    const std::string& name = (*names)[i];
    const Unary function = name == "Sigmoid" ? Unary::sigmoid : name == "Relu" ? Unary::relu : Unary::tanh;
    if (name != "Sigmoid" && name != "Relu" && name != "Tanh") return false;
    Unary& place = each == 2 && i % 2 == 0 ? cell.gate_function : cell.function;
    if (i >= each && place != function) return false;
    place = function;
  }
  return true;
}

}  // namespace

std::unique_ptr<PreparedNode> prepare_gru(PrepareContext& c) {
  const Attributes& attributes = c.node.attributes;
  const Tensor w = c.weights(1), r = c.weights(2);
  const Array* b = c.constant(3);
  if (c.elem(0) != DType::f32 || w.dtype() != DType::f32 || r.dtype() != DType::f32)
    return c.refuse("the weights are not constant floats");
  if (c.has(3) && (!b || b->dtype() != DType::f32)) return c.refuse("the bias is not a constant");
  if (c.has(4)) return c.refuse("it has lengths of sequences");
  if (attributes.has("clip") || attributes.int_or("layout", 0) != 0) return c.refuse("it has an unusual attribute");
  Cell cell;
  cell.gates = c.node.op == "GRU" ? 3 : 1;
  cell.resets_after = attributes.int_or("linear_before_reset", 0) != 0;
  if (!read_functions(attributes, cell)) return c.refuse("it has unusual activations");
  const std::string direction = attributes.string_or("direction", "forward");
  const std::int64_t count = direction == "bidirectional" ? 2 : 1;
  if (w.rank() != 3 || r.rank() != 3 || w.dims()[0] != count || r.dims()[0] != count)
    return c.refuse("the weights do not fit the directions");
  const std::int64_t inputs = w.dims()[2], hidden = r.dims()[2], rows = cell.gates * hidden;
  if (w.dims()[1] != rows || r.dims()[1] != rows || inputs < 1 || hidden < 1 || (b && b->size() != count * 2 * rows))
    return c.refuse("the weights do not fit each other");
  if (cell.gates == 3 && !cell.resets_after && hidden % panel_columns() != 0)
    return c.refuse("the units do not fill panels");
  std::vector<Direction> directions;
  for (std::int64_t k = 0; k < count; ++k) {
    Direction d{WeightMatrix(w, inputs, rows, true, k), WeightMatrix(r, hidden, rows, true, k), {}, {}};
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
