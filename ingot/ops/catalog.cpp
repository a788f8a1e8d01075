// The table of all operators.
#include "ingot/ops/catalog.h"

#include <deque>

#include "ingot/base/error.h"
#include "ingot/ir/model.h"
#include "ingot/ops/extra_operators.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

#define INGOT_OP(name) &defs::name,
constexpr const OpDef* kDefs[] = {
#include "ingot/ops/catalog.def"
};
#undef INGOT_OP

struct ExtraRow {
  ExtraOperator op;
  OpDef def{};
};

std::deque<ExtraRow>& extra_rows() {
  static std::deque<ExtraRow> all;  // rows stay where they are
  return all;
}

const ExtraRow* find_extra_row(std::string_view domain, std::string_view name) {
  for (const ExtraRow& row : extra_rows())
    if (row.op.domain == domain && row.op.name == name) return &row;
  return nullptr;
}

void infer_extra(InferContext& c) { find_extra_row(c.node().domain, c.node().op)->op.infer(c); }
void run_extra(KernelContext& c) { find_extra_row(c.node.domain, c.node.op)->op.run(c); }

}  // namespace

void add_operator(ExtraOperator op) {
  if (find(op.domain, op.name))
    throw Error(Code::duplicate_name, "there is an operator '" + op.domain + "." + op.name + "' already");
  ExtraRow& row = extra_rows().emplace_back();
  row.op = std::move(op);
  row.def = {.name = row.op.name, .domain = row.op.domain};
  if (row.op.infer) row.def.infer = infer_extra;
  if (row.op.run) row.def.kernel = run_extra;
}

bool is_extra_operator(std::string_view domain, std::string_view name) {
  return find_extra_row(domain, name) != nullptr;
}

const OpDef* find(std::string_view domain, std::string_view name) {
  domain = normal_domain(domain);
  const auto it = std::ranges::lower_bound(kNames, name);
  if (it != std::end(kNames) && *it == name)
    if (const OpDef* def = kDefs[it - std::begin(kNames)]; def->domain == domain) return def;
  if (const OpDef* def = find_vendor(domain, name)) return def;
  const ExtraRow* row = extra_rows().empty() ? nullptr : find_extra_row(domain, name);
  return row ? &row->def : nullptr;
}

const OpDef* find(const Node& node) { return find(node.domain, node.op); }

std::span<const OpDef* const> all() { return kDefs; }

}  // namespace ingot::ops
