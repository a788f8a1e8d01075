// RNN: a plain recurrent layer.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/rnn/recurrent.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{.since = 7, .up = drop_output_sequence}, {.since = 14, .down = undo_batch_first}};

void infer(InferContext& c) { infer_recurrent(c, 1); }

}  // namespace

constinit const OpDef defs::RNN = {
    .name = "RNN",
    .infer = infer,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
};

}  // namespace ingot::ops
