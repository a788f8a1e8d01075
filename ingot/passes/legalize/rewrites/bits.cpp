// Operators on bits by arithmetic, for targets whose own are young or missing.
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {
namespace {

/// How many bits of int32 the type takes up; 0: it does not fit.
int width_in_int32(DType type) {
  switch (type) {
    case DType::u8:
    case DType::i8:
      return 8;
    case DType::i16:
      return 16;
    case DType::i32:
      return 32;
    default:
      return 0;
  }
}

/// Four bits of two operands at a time, looked up in a table.
Values by_table(Rewriting& r, int (*meet)(int, int)) {
  const int bits = width_in_int32(r.elem());
  if (!bits || !r.in(0)->type.shape || !r.in(1)->type.shape) return {};
  GraphBuilder& g = r.g;
  std::vector<std::int32_t> table;
  for (int a = 0; a < 16; ++a)
    for (int b = 0; b < 16; ++b) table.push_back(meet(a, b));
  Value* results = g.constant(Tensor::of<std::int32_t>({256}, table));
  Value* a = g.cast(r.in(0), DType::i32);
  Value* b = g.cast(r.in(1), DType::i32);
  Value* sixteen = g.scalar(16, DType::i32);
  // The lowest digit, and what is left: divided without a rest, so that it does not matter how quotients are rounded.
  const auto digit = [&](Value*& x) {
    Value* low = g.op("Mod", {x, sixteen});
    x = g.div(g.sub(x, low), sixteen);
    return low;
  };
  Value* total = nullptr;
  const int digits = bits / 4;
  for (int i = 0; i < digits; ++i) {
    Value* low_a = digit(a);
    Value* low_b = digit(b);
    Value* entry = g.add(g.mul(low_a, sixteen), low_b);
    Value* met = g.op("Gather", {results, entry}, {{"axis", 0}});
    if (i + 1 == digits && r.elem() != DType::u8) {  // the digit with the sign
      Value* eight = g.scalar(8, DType::i32);
      Value* is_negative = g.op("GreaterOrEqual", {met, eight});
      met = g.where(is_negative, g.sub(met, sixteen), met);
    }
    Value* part = g.mul(met, g.scalar(static_cast<double>(std::int64_t{1} << (4 * i)), DType::i32));
    total = total ? g.add(total, part) : part;
  }
  return {g.cast(total, r.elem())};
}

}  // namespace

Values rewrite_bitwise_and(Rewriting& r) {
  return by_table(r, [](int a, int b) { return a & b; });
}
Values rewrite_bitwise_or(Rewriting& r) {
  return by_table(r, [](int a, int b) { return a | b; });
}
Values rewrite_bitwise_xor(Rewriting& r) {
  return by_table(r, [](int a, int b) { return a ^ b; });
}

/// By a power of two; what is shifted out at the left end is gone when the type is narrow again.
Values rewrite_bit_shift(Rewriting& r) {
  if (r.elem() != DType::u8) return {};
  GraphBuilder& g = r.g;
  Value* x = g.cast(r.in(0), DType::i32);
  Value* most = g.scalar(8, DType::i32);
  Value* by = g.op("Min", {g.cast(r.in(1), DType::i32), most});
  Value* power = g.op("Pow", {g.scalar(2, DType::i32), by});
  if (r.node.attributes.string_or("direction", "") == "RIGHT") return {g.cast(g.div(x, power), DType::u8)};
  Value* shifted = g.op("Mod", {g.mul(x, power), g.scalar(256, DType::i32)});
  return {g.cast(shifted, DType::u8)};
}

}  // namespace ingot::passes::legalize
