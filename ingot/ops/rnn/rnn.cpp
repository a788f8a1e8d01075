// RNN: a plain recurrent layer.
#include <algorithm>

#include "ingot/ops/catalog.h"
#include "ingot/ops/rnn/cell.h"
#include "ingot/ops/rnn/layer.h"
#include "ingot/ops/rnn/recurrent.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{.since = 7, .up = drop_output_sequence}, {.since = 14, .down = undo_batch_first}};

void infer(InferContext& c) { infer_recurrent(c, 1); }

void step(const KernelContext&, RecurrentStep& s) {
  for (std::size_t i = 0; i < s.size(); ++i)
    s.scratch[i] = s.activate(0, s.input[i] + s.recur(0, i, s.hidden) + s.bias[i]);
  std::ranges::copy(s.scratch, s.hidden.begin());
}

void run(KernelContext& c) { run_recurrent(c, 1, false, {"Tanh"}, step); }

Values cell_step(const DecomposeContext&, const RecurrentCell& s) {
  Value* recurrence = s.g.op("MatMul", {s.hidden, s.recurrence});
  if (s.bias) recurrence = s.g.add(recurrence, s.bias);
  return {s.activate(0, s.g.add(s.input, recurrence))};
}

Values decompose(DecomposeContext& c) { return recurrent_by_scan(c, 1, false, {"Tanh"}, cell_step); }

}  // namespace

constinit const OpDef defs::RNN = {
    .name = "RNN",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
