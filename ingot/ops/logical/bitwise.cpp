// BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot and BitShift on integers.
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer_shift(InferContext& c) {
  if (const auto direction = c.need_string("direction"))
    c.require(*direction == "LEFT" || *direction == "RIGHT", "direction is neither 'LEFT' nor 'RIGHT'");
  infer_broadcast(c);
}

// All bits of x turned over are what x lacks to the number of all ones.
Values decompose_not(DecomposeContext& c) {
  Value* ones = nullptr;
  dispatch(c.elem(0), Integers{}, [&]<class T>() { ones = c.g.constant(Tensor::scalar(static_cast<T>(~T{0}))); });
  return {c.g.sub(ones, c.in(0))};
}

}  // namespace

constinit const OpDef defs::BitShift = {
    .name = "BitShift",
    .infer = infer_shift,
};
constinit const OpDef defs::BitwiseAnd = {
    .name = "BitwiseAnd",
    .infer = infer_broadcast,
};
constinit const OpDef defs::BitwiseNot = {
    .name = "BitwiseNot",
    .infer = infer_same_shape,
    .decompose = decompose_not,
};
constinit const OpDef defs::BitwiseOr = {
    .name = "BitwiseOr",
    .infer = infer_broadcast,
};
constinit const OpDef defs::BitwiseXor = {
    .name = "BitwiseXor",
    .infer = infer_broadcast,
};

}  // namespace ingot::ops
