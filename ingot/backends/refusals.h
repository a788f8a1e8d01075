#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ingot/ir/graph.h"
#include "ingot/passes/legalize/refusal.h"

/// Why a framework cannot say a node as it stands: what more than one of them asks.
namespace ingot::backends {

using passes::legalize::Refusal;
using Kind = Refusal::Kind;
/// Nothing: not refused.
using Refused = std::optional<Refusal>;

Refused needs_rank(const Node& node, std::size_t input = 0);
Refused needs_constant(const Node& node, std::size_t input, std::string_view what);

bool is_fixed(const Shape& shape);
/// Those that are not known are -1.
std::vector<std::int64_t> dims_of(const Shape& shape);
/// Whether a frontend made the node from this operator of its source.
bool comes_from(const Node& node, std::string_view source_op);

}  // namespace ingot::backends
