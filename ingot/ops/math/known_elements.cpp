// Elementwise arithmetic on the known elements of small tensors, while inferring.
#include "ingot/ops/math/known_elements.h"

#include <algorithm>
#include <cmath>

namespace ingot::ops {
namespace {

/// The numbers up to which a type holds every whole number; 0: no arithmetic is followed in this type.
std::int64_t exact_limit(DType elem) {
  switch (elem) {
    case DType::f64:
      return std::int64_t{1} << 53;
    case DType::f32:
      return 1 << 24;
    case DType::f16:
      return 1 << 11;
    case DType::bf16:
      return 1 << 8;
    default:
      return 0;
  }
}

bool is_held(std::int64_t number, DType elem) {
  if (elem == DType::boolean) return number == 0 || number == 1;
  if (!is_integer(elem)) return number >= -exact_limit(elem) && number <= exact_limit(elem) && exact_limit(elem) > 0;
  const unsigned bits = bits_of(elem) - (is_signed_integer(elem) ? 1 : 0);
  const bool is_small = bits >= 63 || (number >> bits) == (number < 0 ? -1 : 0);
  return is_small && (number >= 0 || is_signed_integer(elem));
}

}  // namespace

Dim as_held(const Dim& number, DType elem) {
  if (const auto known = number.as_int()) return is_held(*known, elem) ? number : Dim();
  // Sizes are taken to fit into the types that shape arithmetic is done in.
  switch (elem) {
    case DType::i32:
    case DType::i64:
    case DType::f32:
    case DType::f64:
      return number;
    case DType::u32:
    case DType::u64:
      return number.is_at_least(0) ? number : Dim();
    default:
      return {};
  }
}

std::optional<Elements> known_elements(const InferContext& c, std::size_t i) {
  const Tensor* constant = c.constant(i);
  if (!constant || !is_float(constant->dtype())) {
    auto known = c.ints(i);
    // An unsigned 64-bit number beyond the signed ones reads as a negative one.
    if (known && c.elem(i) == DType::u64)
      std::ranges::transform(*known, known->begin(), [](const Dim& d) { return as_held(d, DType::u64); });
    return known;
  }
  if (constant->rank() > 1) return std::nullopt;
  const auto numbers = c.const_doubles(i);
  if (!numbers) return std::nullopt;
  Elements known;
  for (const double number : *numbers) {
    const bool is_whole = std::abs(number) <= 0x1p53 && number == std::floor(number);
    known.push_back(is_whole ? Dim(static_cast<std::int64_t>(number)) : Dim());
  }
  return known;
}

void fold_elements(InferContext& c, DType elem, std::size_t count, const std::function<Fold>& fold) {
  const std::size_t inputs = c.input_count();
  if (inputs == 0 || (count && inputs != count)) return;
  std::vector<Elements> columns;
  std::size_t length = 1;
  for (std::size_t i = 0; i < inputs; ++i) {
    auto known = known_elements(c, i);
    if (!known || (length != 1 && known->size() != 1 && known->size() != length)) return;
    if (known->size() != 1) length = known->size();
    columns.push_back(std::move(*known));
  }
  Elements result;
  bool is_any_known = length == 0;
  for (std::size_t k = 0; k < length; ++k) {
    Elements row;
    for (const Elements& column : columns) row.push_back(column[column.size() == 1 ? 0 : k]);
    result.push_back(as_held(fold(row), elem));
    is_any_known |= !result.back().is_unknown();
  }
  if (is_any_known) c.out_ints(0, std::move(result));
}

}  // namespace ingot::ops
