// LSTM: a recurrent layer with long short-term memory.
#include "ingot/ops/catalog.h"
#include "ingot/ops/rnn/cell.h"
#include "ingot/ops/rnn/layer.h"
#include "ingot/ops/rnn/recurrent.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{.since = 7, .up = drop_output_sequence}, {.since = 14, .down = undo_batch_first}};

void infer(InferContext& c) { infer_recurrent(c, 4); }

void step(const KernelContext& c, RecurrentStep& s) {
  enum Gate : std::size_t { kIn, kOut, kForget, kNext };
  const bool is_coupled = c.attr("input_forget", std::int64_t{0}) != 0;
  const std::size_t n = s.size();
  for (const std::size_t gate : {kIn, kOut, kForget, kNext})
    for (std::size_t i = 0; i < n; ++i)
      s.scratch[gate * n + i] = s.input[gate * n + i] + s.recur(gate, i, s.hidden) + s.bias[gate * n + i];
  for (std::size_t i = 0; i < n; ++i) {
    const auto gate = [&](Gate g) {
      const double peek = s.peephole.empty() ? 0 : s.peephole[g * n + i] * s.cell[i];
      return s.activate(0, s.scratch[g * n + i] + peek);
    };
    const double in = gate(kIn), forget = is_coupled ? 1 - in : gate(kForget);
    s.cell[i] = forget * s.cell[i] + in * s.activate(1, s.scratch[kNext * n + i]);
    s.hidden[i] = gate(kOut) * s.activate(2, s.cell[i]);  // this gate sees the renewed cell
  }
}

void run(KernelContext& c) { run_recurrent(c, 4, true, {"Sigmoid", "Tanh", "Tanh"}, step); }

Values cell_step(const DecomposeContext& c, const RecurrentCell& s) {
  GraphBuilder& g = s.g;
  Value* sums = g.add(s.input, g.op("MatMul", {s.hidden, s.recurrence}));
  if (s.bias) sums = g.add(sums, s.bias);
  const auto gate = [&](std::int64_t i, Value* seen) {
    Value* sum = s.gates(sums, i);
    if (s.peephole) {
      Value* peek = g.mul(s.gates(s.peephole, i), seen);
      sum = g.add(sum, peek);
    }
    return s.activate(0, sum);
  };
  Value* in = gate(0, s.cell);
  Value* forget = c.attr("input_forget", std::int64_t{0}) ? g.sub(1.0, in) : gate(2, s.cell);
  Value* next = s.activate(1, s.gates(sums, 3));
  Value* kept = g.mul(forget, s.cell);
  Value* added = g.mul(in, next);
  Value* cell = g.add(kept, added);
  Value* out = gate(1, cell);  // this gate sees the renewed cell
  return {g.mul(out, s.activate(2, cell)), cell};
}

Values decompose(DecomposeContext& c) { return recurrent_by_scan(c, 4, true, {"Sigmoid", "Tanh", "Tanh"}, cell_step); }

}  // namespace

constinit const OpDef defs::LSTM = {
    .name = "LSTM",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
