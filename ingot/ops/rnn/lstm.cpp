// LSTM: a recurrent layer with long short-term memory.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/rnn/recurrent.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{.since = 7, .up = drop_output_sequence}, {.since = 14, .down = undo_batch_first}};

void infer(InferContext& c) { infer_recurrent(c, 4); }

}  // namespace

constinit const OpDef defs::LSTM = {
    .name = "LSTM",
    .infer = infer,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
};

}  // namespace ingot::ops
