// Casts, from and to types that PyTorch lacks too.
#include "ingot/backends/torch/carriers.h"
#include "ingot/backends/torch/operators.h"

namespace ingot::backends::torch {
namespace {

/// What a small float has: digits after the point, its smallest exponent, its largest number.
struct SmallFloat {
  DType dtype;
  std::int64_t mantissa, smallest;
  double largest;
  bool has_infinity;
};
constexpr SmallFloat kSmallFloats[] = {
    {DType::f8e4m3fn, 3, -6, 448, false}, {DType::f8e4m3fnuz, 3, -7, 240, false},
    {DType::f8e5m2, 2, -14, 57344, true}, {DType::f8e5m2fnuz, 2, -15, 57344, false},
    {DType::f4e2m1, 1, 0, 6, false},
};

const SmallFloat* small_float(DType dtype) {
  for (const SmallFloat& row : kSmallFloats)
    if (row.dtype == dtype) return &row;
  return nullptr;
}

std::string to_small_float(const NodeOut& n, const std::string& x, const SmallFloat& to) {
  const bool is_f4 = to.dtype == DType::f4e2m1;
  const bool saturates = is_f4 || n.flag("saturate", true);
  const std::string over = saturates ? text_of(to.largest) : to.has_infinity ? "inf" : "nan";
  return n.helped("to_small_float",
                  {x, text_of(to.mantissa), text_of(to.smallest), text_of(to.largest), over, is_f4 ? "0.0" : "nan"});
}

int small_bits(DType dtype) {
  if (dtype == DType::i4 || dtype == DType::u4) return 4;
  return dtype == DType::i2 || dtype == DType::u2 ? 2 : 0;
}

std::string to_small_integer(const NodeOut& n, const std::string& x, DType to) {
  const std::int64_t size = std::int64_t{1} << small_bits(to), half = size / 2;
  const std::string whole = x + ".to(" + n.type(DType::i64) + ")";
  const bool is_signed = to == DType::i4 || to == DType::i2;
  const std::string made =
      is_signed ? "((" + whole + " + " + text_of(half) + ") & " + text_of(size - 1) + ") - " + text_of(half)
                : whole + " & " + text_of(size - 1);
  return "(" + made + ").to(" + n.type(to) + ")";
}

}  // namespace

void write_cast(const NodeOut& n) {
  const DType from = n.elem(), to = n.node.output()->type.elem;
  std::string x = n.in(0);
  if (from == DType::u64 && (is_float(to) || small_float(to))) x = n.helped("float_of_unsigned", {x});
  if (const SmallFloat* small = small_float(to)) return n.set(to_small_float(n, x, *small));
  if (to == DType::f8e8m0)
    return n.set(n.helped("to_power_of_two", {x, quoted(n.word("round_mode", "up")),
                                              std::string(text_of_flag(n.flag("saturate", true)))}));
  if (small_bits(to)) return n.set(to_small_integer(n, x, to));
  if (to == DType::u64 && is_float(from)) return n.set(n.helped("unsigned_of_float", {x}));
  if (is_float(from) && !mask_of(to).empty()) x = NodeOut::call("torch.clamp", {x, "0", mask_of(to)});
  n.set(x + ".to(" + n.type(to) + ")");
}

void write_bit_cast(const NodeOut& n) {
  const DType to = n.node.output()->type.elem;
  const std::string x = n.in(0) + ".to(" + n.type(to) + ")";
  n.set(mask_of(to).empty() ? x : x + " & " + mask_of(to));
}

Refused refuse_bit_cast(const Node& node) {
  const auto is_whole = [](DType dtype) { return is_integer(dtype) || dtype == DType::boolean; };
  if (is_whole(node.input(0)->type.elem) && is_whole(node.output()->type.elem)) return {};
  return Refusal{Kind::element_type, "TorchScript has no view of the bits of floating-point numbers"};
}

}  // namespace ingot::backends::torch
