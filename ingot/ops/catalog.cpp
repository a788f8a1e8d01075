// The table of all operators.
#include "ingot/ops/catalog.h"

#include "ingot/ir/model.h"

namespace ingot::ops {
namespace {

#define INGOT_OP(name) &defs::name,
constexpr const OpDef* kDefs[] = {
#include "ingot/ops/catalog.def"
};
#undef INGOT_OP

}  // namespace

const OpDef* find(std::string_view domain, std::string_view name) {
  const auto it = std::ranges::lower_bound(kNames, name);
  if (it == std::end(kNames) || *it != name) return nullptr;
  const OpDef* def = kDefs[it - std::begin(kNames)];
  return def->domain == normal_domain(domain) ? def : nullptr;
}

const OpDef* find(const Node& node) { return find(node.domain, node.op); }

std::span<const OpDef* const> all() { return kDefs; }

}  // namespace ingot::ops
