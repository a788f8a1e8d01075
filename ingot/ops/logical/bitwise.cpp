// BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot and BitShift on integers.
#include <functional>
#include <limits>

#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/walk.h"

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

/// Bits of integers of both operands.
template <class Op> void run(KernelContext& c) {
  map_binary(c, Integers{}, []<class T>(T x, T y) { return static_cast<T>(Op()(x, y)); });
}

void run_not(KernelContext& c) {
  map_unary(c, Integers{}, []<class T>(T x) { return static_cast<T>(~x); });
}

// All bits are gone when shifted by the width of the type or more.
void run_shift(KernelContext& c) {
  const std::string direction = c.attr("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") c.fail("direction is neither 'LEFT' nor 'RIGHT'");
  map_binary(c, UnsignedIntegers{}, [is_left = direction == "LEFT"]<class T>(T x, T count) {
    if (count >= std::numeric_limits<T>::digits) return T{0};
    return static_cast<T>(is_left ? std::uint64_t{x} << count : std::uint64_t{x} >> count);
  });
}

}  // namespace

constinit const OpDef defs::BitShift = {
    .name = "BitShift",
    .infer = infer_shift,
    .kernel = run_shift,
};
constinit const OpDef defs::BitwiseAnd = {
    .name = "BitwiseAnd",
    .infer = infer_broadcast,
    .kernel = run<std::bit_and<>>,
};
constinit const OpDef defs::BitwiseNot = {
    .name = "BitwiseNot",
    .infer = infer_same_shape,
    .decompose = decompose_not,
    .kernel = run_not,
};
constinit const OpDef defs::BitwiseOr = {
    .name = "BitwiseOr",
    .infer = infer_broadcast,
    .kernel = run<std::bit_or<>>,
};
constinit const OpDef defs::BitwiseXor = {
    .name = "BitwiseXor",
    .infer = infer_broadcast,
    .kernel = run<std::bit_xor<>>,
};

}  // namespace ingot::ops
