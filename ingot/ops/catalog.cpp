// The table of all operators.
#include "ingot/ops/catalog.h"

#include "ingot/ir/model.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

#define INGOT_OP(name) &defs::name,
constexpr const OpDef* kDefs[] = {
#include "ingot/ops/catalog.def"
};
#undef INGOT_OP

}  // namespace

const OpDef* find(std::string_view domain, std::string_view name) {
  domain = normal_domain(domain);
  const auto it = std::ranges::lower_bound(kNames, name);
  if (it != std::end(kNames) && *it == name)
    if (const OpDef* def = kDefs[it - std::begin(kNames)]; def->domain == domain) return def;
  return find_vendor(domain, name);
}

const OpDef* find(const Node& node) { return find(node.domain, node.op); }

std::span<const OpDef* const> all() { return kDefs; }

}  // namespace ingot::ops
