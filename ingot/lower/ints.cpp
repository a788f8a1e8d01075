// Integers that an operator is told by inputs: sizes, axes, paddings.
#include "ingot/base/error.h"
#include "ingot/lower/lowering.h"
#include "ingot/ops/known.h"

namespace ingot::lower {
namespace {

constexpr std::int64_t kMostInts = 256;  // that are only known at run time

}  // namespace

std::optional<std::vector<std::int64_t>> Lowering::known_ints(std::size_t i) const {
  if (!node_->input(i)) return std::nullopt;
  return ingot::known_ints(node_->input(i));
}

Exprs Lowering::ints(std::size_t i) {
  if (const auto known = known_ints(i)) return Exprs(known->begin(), known->end());
  const View x = in(i);
  if (x.rank() == 0) return {as_index(x.at({}))};
  if (x.rank() != 1 || !x.dims[0].as_int())
    refuse("the number of elements of input " + std::to_string(i) + " is not known");
  if (*x.dims[0].as_int() > kMostInts)
    refuse("input " + std::to_string(i) + " has " + std::to_string(*x.dims[0].as_int()) + " elements");
  Exprs elements;
  const auto& known = node_->input(i)->known_ints;
  for (std::int64_t k = 0; k < *x.dims[0].as_int(); ++k) {
    const auto number = known && static_cast<std::size_t>(k) < known->size()
                            ? (*known)[static_cast<std::size_t>(k)].as_int()
                            : std::nullopt;
    elements.push_back(number ? Expr(*number) : as_index(x.at({k})));
  }
  return elements;
}

std::size_t Lowering::stated_rank(std::size_t i) const {
  const Value* value = node_->output(i);
  if (!value || !value->type.shape) refuse("the rank of its result is only known at run time");
  return value->type.shape->size();
}

bool Lowering::has_unknown_count(std::size_t i) {
  if (known_ints(i)) return false;
  const View x = in(i);
  return x.rank() == 1 && !x.dims[0].as_int();
}

Exprs Lowering::sizes(std::size_t i) { return has_unknown_count(i) ? ints(i, stated_rank(0)) : ints(i); }

Exprs Lowering::sizes_from_the_end(std::size_t i) {
  if (!has_unknown_count(i)) return ints(i);
  const View x = in(i);
  Exprs elements;
  for (auto left = static_cast<std::int64_t>(stated_rank(0)); left > 0; --left) {
    const Expr place = x.dims[0] - left;
    elements.push_back(let(select(less_equal(0, place), as_index(x.at({place})), 1)));
  }
  return elements;
}

Exprs Lowering::ints(std::size_t i, std::size_t count) {
  if (has_unknown_count(i)) {
    const View x = in(i);
    Exprs elements;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(count); ++k)
      elements.push_back(let(select(less(k, x.dims[0]), as_index(x.at({k})), 0)));
    return elements;
  }
  Exprs elements = ints(i);
  if (elements.size() != count)
    refuse("input " + std::to_string(i) + " has " + std::to_string(elements.size()) + " elements, not " +
           std::to_string(count));
  return elements;
}

}  // namespace ingot::lower
