// GRU: a recurrent layer with gated units.
#include "ingot/ops/catalog.h"
#include "ingot/ops/rnn/cell.h"
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

Values cell_step(const DecomposeContext& c, const RecurrentCell& s) {
  GraphBuilder& g = s.g;
  const bool resets_after = c.attr("linear_before_reset", std::int64_t{0}) != 0;
  const auto recurred = [&](Value* state, std::int64_t first, std::int64_t count) {
    Value* sum = g.op("MatMul", {state, s.gates(s.recurrence, first, count)});
    return s.bias ? g.add(sum, s.gates(s.bias, first, count)) : sum;
  };
  Value* of_hidden = recurred(s.hidden, 0, 2);
  Value* sums = g.add(s.gates(s.input, 0, 2), of_hidden);
  Value* update = s.activate(0, s.gates(sums, 0));
  Value* reset = s.activate(0, s.gates(sums, 1));
  Value* recurrence = resets_after ? g.mul(reset, recurred(s.hidden, 2, 1)) : recurred(g.mul(reset, s.hidden), 2, 1);
  Value* next = s.activate(1, g.add(s.gates(s.input, 2), recurrence));
  Value* renewed = g.mul(g.sub(1.0, update), next);
  Value* kept = g.mul(update, s.hidden);
  return {g.add(renewed, kept)};
}

Values decompose(DecomposeContext& c) { return recurrent_by_scan(c, 3, false, {"Sigmoid", "Tanh"}, cell_step); }

}  // namespace

constinit const OpDef defs::GRU = {
    .name = "GRU",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
