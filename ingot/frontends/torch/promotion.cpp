// Which element type an operator computes in: tensors with axes decide before those without, these before numbers, and
// only a higher kind of number changes that.
#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {
namespace {

enum class Category : std::uint8_t { none, boolean, integer, real, complex };

Category category(DType dtype) {
  if (dtype == DType::undefined) return Category::none;
  if (dtype == DType::boolean) return Category::boolean;
  if (is_complex(dtype)) return Category::complex;
  return is_float(dtype) ? Category::real : Category::integer;
}

DType combined(DType higher, DType lower) {
  if (higher == DType::undefined) return lower;
  if (lower == DType::undefined || category(higher) >= category(lower)) return higher;
  return category(higher) == Category::boolean || category(lower) > Category::integer ? promoted_types(higher, lower)
                                                                                      : higher;
}

}  // namespace

DType promoted_types(DType a, DType b) {
  if (a == b || b == DType::undefined) return a;
  if (a == DType::undefined) return b;
  const Category of_a = category(a), of_b = category(b);
  if (of_a != of_b) {
    const DType high = of_a > of_b ? a : b, low = of_a > of_b ? b : a;
    return high == DType::c64 && low == DType::f64 ? DType::c128 : high;
  }
  if (of_a == Category::integer) {
    const unsigned bits_a = bits_of(a), bits_b = bits_of(b);
    if (is_signed_integer(a) == is_signed_integer(b)) return bits_a >= bits_b ? a : b;
    const DType with_sign = is_signed_integer(a) ? a : b, without = is_signed_integer(a) ? b : a;
    if (bits_of(with_sign) > bits_of(without)) return with_sign;
    return bits_of(without) == 8 ? DType::i16 : bits_of(without) == 16 ? DType::i32 : DType::i64;
  }
  if (of_a == Category::real && bits_of(a) == bits_of(b)) return DType::f32;  // float16 and bfloat16
  return bits_of(a) >= bits_of(b) ? a : b;
}

DType result_type(const Call& c, std::initializer_list<std::size_t> which) {
  DType with_axes = DType::undefined, without = DType::undefined, number = DType::undefined;
  for (const std::size_t i : which) {
    const Item& item = c.arg(i);
    if (const TensorRef* tensor = item.get<TensorRef>()) {
      const Value* x = c.tensor(i);
      const DType elem = (*tensor)->is_number && is_float(x->type.elem) ? DType::f32 : x->type.elem;
      DType& group = (*tensor)->is_number ? number : rank_of(x) == 0 ? without : with_axes;
      group = promoted_types(group, elem);
    } else if (item.is<double>()) {
      number = promoted_types(number, DType::f32);
    } else if (item.is<std::int64_t>()) {
      number = promoted_types(number, DType::i64);
    } else if (item.is<bool>()) {
      number = promoted_types(number, DType::boolean);
    } else if (const Scalar* scalar = item.get<Scalar>()) {
      const DType elem = scalar->value->type.elem;
      number = promoted_types(number, is_float(elem) ? DType::f32 : elem);
    }
  }
  return combined(with_axes, combined(without, number));
}

}  // namespace ingot::frontends::torch
