#include "ingot/lower/open_squeeze.h"

#include <algorithm>

#include "ingot/ops/known.h"

namespace ingot::lower {
namespace {

const Value* branch_output(const Node& node, std::string_view name) {
  const GraphPtr* graph = node.attributes.get<GraphPtr>(name);
  return graph && *graph && (*graph)->output_count() == 1 ? (*graph)->output(0) : nullptr;
}

/// The one number that a value holds, if it is known.
std::optional<std::int64_t> number_in(const Value* value) {
  const auto numbers = value ? ingot::known_ints(value) : std::nullopt;
  return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
}

/// What a value is but for its rank and type.
const Value* bare(const Value* value) {
  constexpr std::string_view kSame[] = {"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
  while (value && value->producer() && std::ranges::find(kSame, value->producer()->op) != std::end(kSame))
    value = value->producer()->input(0);
  return value;
}

/// The axis of x that a value is the size of.
std::optional<std::int64_t> axis_measured(const Value* size, const Value* x) {
  const Node* gather = bare(size) ? bare(size)->producer() : nullptr;
  if (!gather || !gather->is("Gather")) return std::nullopt;
  const Node* shape = bare(gather->input(0)) ? bare(gather->input(0))->producer() : nullptr;
  if (!shape || !shape->is("Shape") || shape->input(0) != x || shape->attributes.int_or("start", 0) != 0 ||
      shape->attributes.has("end"))
    return std::nullopt;
  return number_in(gather->input(1));
}

}  // namespace

Values rewrite_open_squeeze(passes::legalize::Rewriting& r) {
  const Value *then = branch_output(r.node, "then_branch"), *other = branch_output(r.node, "else_branch");
  const Node* squeeze = then ? then->producer() : nullptr;
  if (!squeeze || !squeeze->is("Squeeze") || !other || !other->producer() || !other->producer()->is("Identity"))
    return {};
  Value* x = squeeze->input(0);
  const auto axis = number_in(squeeze->input(1)), rank = rank_of(x);
  const Node* test = bare(r.in(0)) ? bare(r.in(0))->producer() : nullptr;
  if (!axis || !rank || other->producer()->input(0) != x || !test || !test->is("Equal")) return {};
  const bool is_first = number_in(test->input(1)) == 1;
  const auto measured = axis_measured(test->input(is_first ? 0 : 1), x);
  const auto counted = [&](std::int64_t a) { return a < 0 ? a + *rank : a; };
  if (!measured || counted(*measured) != counted(*axis) || (!is_first && number_in(test->input(0)) != 1)) return {};
  return {r.g.op("Squeeze", {x, r.g.ints({*axis})})};
}

}  // namespace ingot::lower
