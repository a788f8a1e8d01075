// GRU: a recurrent layer with gated units.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
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

}  // namespace

constinit const OpDef defs::GRU = {
    .name = "GRU",
    .infer = infer,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
};

}  // namespace ingot::ops
