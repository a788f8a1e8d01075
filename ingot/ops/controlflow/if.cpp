// If: one of two graphs.
#include "ingot/ops/catalog.h"
#include "ingot/ops/controlflow/merge_types.h"

namespace ingot::ops {
namespace {

const Graph* branch(const InferContext& c, std::string_view name) {
  const auto* graph = c.node().attributes.get<GraphPtr>(name);
  return graph ? graph->get() : nullptr;
}

std::optional<std::vector<Dim>> known_ints(const Graph* graph, std::size_t i) {
  const Value* value = graph ? graph->output(i) : nullptr;
  if (!value) return std::nullopt;
  if (value->known_ints) return *value->known_ints;
  const Tensor* t = constant_of(value);
  if (!t || !is_integer(t->dtype()) || t->rank() > 1 || t->size() > kMostDims) return std::nullopt;
  const auto numbers = t->to_ints();
  return std::vector<Dim>(numbers.begin(), numbers.end());
}

// Elements that are the same in both branches are known.
void infer_values(InferContext& c, std::size_t i, std::optional<bool> taken) {
  auto yes = known_ints(branch(c, "then_branch"), i), no = known_ints(branch(c, "else_branch"), i);
  if (taken) {
    if (auto& known = *taken ? yes : no) c.out_ints(i, std::move(*known));
    return;
  }
  if (!yes || !no || yes->size() != no->size()) return;
  for (std::size_t k = 0; k < yes->size(); ++k)
    if (!same((*yes)[k], (*no)[k])) (*yes)[k] = Dim();
  c.out_ints(i, std::move(*yes));
}

void infer(InferContext& c) {
  for (const char* name : {"then_branch", "else_branch"})
    if (!c.node().attributes.has(name)) c.fail("attribute '" + std::string(name) + "' is missing");
  const std::vector<Type> yes = c.subgraph("then_branch", {}), no = c.subgraph("else_branch", {});
  if (!branch(c, "then_branch") || !branch(c, "else_branch")) return;
  if (yes.size() != no.size() || yes.size() < c.output_count())
    c.fail("the branches have " + std::to_string(yes.size()) + " and " + std::to_string(no.size()) +
           " outputs, the node has " + std::to_string(c.output_count()));
  std::optional<bool> taken;
  if (const auto condition = c.const_int(0)) taken = *condition != 0;
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    const Type both = merged(c, yes[i], no[i], "output " + std::to_string(i));
    c.out(i, taken ? (*taken ? yes[i] : no[i]) : both);
    infer_values(c, i, taken);
  }
}

}  // namespace

constinit const OpDef defs::If = {.name = "If", .infer = infer};

}  // namespace ingot::ops
