// Permutations of axes.
#include "ingot/passes/layout/axes.h"

#include <algorithm>
#include <numeric>

#include "ingot/ops/infer.h"

namespace ingot::passes {

Perm layout_perm(std::size_t rank, Layout from, Layout to) {
  Perm perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  if (from == to || rank < 3) return perm;
  if (to == Layout::channels_first)
    std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  else
    std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  return perm;
}

bool is_identity(const Perm& perm) { return std::ranges::is_sorted(perm); }

Perm inverse(const Perm& perm) {
  Perm back(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return back;
}

Perm then(const Perm& a, const Perm& b) { return permuted(a, b); }

std::int64_t moved_axis(const Perm& perm, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(perm.size());
  return std::ranges::find(perm, axis < 0 ? axis + rank : axis) - perm.begin();
}

std::size_t layout_rank(const Value* value) {
  if (!value || !value->type.is_tensor() || !value->type.shape) return 0;
  const std::size_t rank = value->type.shape->size();
  return rank >= 3 && rank <= 5 ? rank : 0;
}

Perm perm_of(const Node& transpose) {
  const Value* x = transpose.input(0);
  if (!x || !x->type.shape) return {};
  const std::size_t rank = x->type.shape->size();
  Perm perm(rank);
  std::iota(perm.rbegin(), perm.rend(), 0);
  perm = transpose.attributes.ints_or("perm", perm);
  Perm sorted = perm;
  std::ranges::sort(sorted);
  if (perm.size() != rank) return {};
  for (std::size_t i = 0; i < rank; ++i)
    if (sorted[i] != static_cast<std::int64_t>(i)) return {};
  return perm;
}

bool moves_nothing(const Shape& shape, const Perm& perm) {
  std::int64_t last = -1;
  for (const std::int64_t i : perm) {
    if (shape[static_cast<std::size_t>(i)].as_int() == 1) continue;
    if (i < last) return false;
    last = i;
  }
  return true;
}

std::optional<std::vector<std::int64_t>> fixed_ints(const Value* value) {
  if (!value) return std::nullopt;
  if (const Tensor* t = ops::constant_of(value)) {
    if (t->dtype() != DType::i64 && t->dtype() != DType::i32) return std::nullopt;
    return t->to_ints();
  }
  if (!value->known_ints) return std::nullopt;
  std::vector<std::int64_t> ints;
  for (const Dim& d : *value->known_ints) {
    if (!d.is_known()) return std::nullopt;
    ints.push_back(d.value());
  }
  return ints;
}

}  // namespace ingot::passes
