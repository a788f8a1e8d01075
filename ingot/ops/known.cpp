// What is known of a value before anything runs.
#include "ingot/ops/known.h"

#include "ingot/ops/infer.h"

namespace ingot {

std::optional<std::int64_t> rank_of(const Value* value) {
  if (!value->type.is_tensor() || !value->type.shape) return std::nullopt;
  return static_cast<std::int64_t>(value->type.shape->size());
}

std::optional<std::int64_t> dim_of(const Value* value, std::int64_t axis) {
  const auto rank = rank_of(value);
  if (!rank) return std::nullopt;
  if (axis < 0) axis += *rank;
  if (axis < 0 || axis >= *rank) return std::nullopt;
  return (*value->type.shape)[static_cast<std::size_t>(axis)].as_int();
}

std::optional<std::vector<std::int64_t>> known_ints(const Value* value) {
  if (const Tensor* constant = ops::constant_of(value)) {
    if (!is_integer(constant->dtype()) && constant->dtype() != DType::boolean) return std::nullopt;
    return constant->to_ints();
  }
  if (!value->known_ints) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const Dim& d : *value->known_ints) {
    if (!d.is_known()) return std::nullopt;
    values.push_back(d.value());
  }
  return values;
}

}  // namespace ingot
