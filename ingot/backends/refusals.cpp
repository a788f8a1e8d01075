// Reasons to refuse a node that several frameworks share.
#include "ingot/backends/refusals.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/ir/source_notes.h"
#include "ingot/ops/infer.h"

namespace ingot::backends {

bool is_fixed(const Shape& shape) {
  return std::ranges::all_of(shape, [](const Dim& d) { return d.is_known(); });
}

std::vector<std::int64_t> dims_of(const Shape& shape) {
  std::vector<std::int64_t> dims;
  for (const Dim& d : shape) dims.push_back(d.as_int().value_or(-1));
  return dims;
}

bool comes_from(const Node& node, std::string_view source_op) { return note_of(node.metadata, kSourceOp) == source_op; }

Refused needs_rank(const Node& node, std::size_t input) {
  const Value* v = node.input(input);
  if (!v || v->type.shape) return {};
  return Refusal{Kind::unknown_size, fmt::format("the rank of input '{}' is not known", v->name())};
}

Refused needs_constant(const Node& node, std::size_t input, std::string_view what) {
  const Value* v = node.input(input);
  if (!v || ops::constant_of(v)) return {};
  return Refusal{Kind::not_constant, fmt::format("{} ('{}') is computed at run time", what, v->name())};
}

}  // namespace ingot::backends
