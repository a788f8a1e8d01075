// LSTM: a recurrent layer with long short-term memory.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
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

}  // namespace

constinit const OpDef defs::LSTM = {
    .name = "LSTM",
    .infer = infer,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
    .kernel = run,
};

}  // namespace ingot::ops
