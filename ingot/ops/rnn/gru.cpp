// GRU: a recurrent layer with gated units.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/rnn/layer.h"
#include "ingot/ops/rnn/recurrent.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {
    {
        .since = 3,
        .up =
            [](StepContext& c) {
              // The default of version 1 is spelt "foward".
              if (c.node.attributes.string_or("direction", "foward") == "foward")
                c.node.attributes.set({"direction", "forward"});
            },
    },
    {.since = 7, .up = drop_output_sequence},
    {.since = 14, .down = undo_batch_first},
};

void infer(InferContext& c) { infer_recurrent(c, 3); }

void step(const KernelContext& c, RecurrentStep& s) {
  const bool resets_after = c.attr("linear_before_reset", std::int64_t{0}) != 0;
  const std::size_t n = s.size();
  const auto update = s.scratch.subspan(0, n), reset = s.scratch.subspan(n, n), next = s.scratch.subspan(2 * n, n);
  for (std::size_t i = 0; i < n; ++i) {
    update[i] = s.activate(0, s.input[i] + s.recur(0, i, s.hidden) + s.bias[i]);
    reset[i] = s.activate(0, s.input[n + i] + s.recur(1, i, s.hidden) + s.bias[n + i]);
    next[i] = resets_after ? reset[i] * (s.recur(2, i, s.hidden) + s.bias[2 * n + i]) : 0;
  }
  if (!resets_after) {
    for (std::size_t i = 0; i < n; ++i) reset[i] *= s.hidden[i];
    for (std::size_t i = 0; i < n; ++i) next[i] = s.recur(2, i, reset) + s.bias[2 * n + i];
  }
  for (std::size_t i = 0; i < n; ++i)
    s.hidden[i] = (1 - update[i]) * s.activate(1, s.input[2 * n + i] + next[i]) + update[i] * s.hidden[i];
}

void run(KernelContext& c) { run_recurrent(c, 3, false, {"Sigmoid", "Tanh"}, step); }

}  // namespace

constinit const OpDef defs::GRU = {
    .name = "GRU",
    .infer = infer,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
    .kernel = run,
};

}  // namespace ingot::ops
