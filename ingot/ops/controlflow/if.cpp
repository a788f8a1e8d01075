// If: one of two graphs.
#include <algorithm>
#include <memory>

#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/controlflow/merge_types.h"
#include "ingot/ops/controlflow/run_body.h"

namespace ingot::ops {
namespace {

const Graph* branch(const InferContext& c, std::string_view name) {
  const auto* graph = c.node().attributes.get<GraphPtr>(name);
  return graph ? graph->get() : nullptr;
}

std::optional<std::vector<Dim>> known_ints(const Graph* graph, std::size_t i) {
  const Value* value = graph ? graph->output(i) : nullptr;
  if (!value) return std::nullopt;
  if (value->known_ints) {
    std::vector<Dim> known = *value->known_ints;
    for (Dim& d : known) {
      std::vector<std::string> names;
      d.collect_symbols(names);
      if (std::ranges::any_of(names, [&](const std::string& n) { return names_inner_size(n, *graph); })) d = Dim();
    }
    return known;
  }
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

// A branch that never runs may hold what cannot: the other one is there for these shapes.
std::vector<Type> infer_branch(InferContext& c, std::string_view name, bool may_run) {
  if (may_run) return c.subgraph(name, {});
  InferSession& session = c.session();
  const auto restore = [on_error = session.on_error, on_contradiction = session.on_contradiction](InferSession* s) {
    s->on_error = on_error;
    s->on_contradiction = on_contradiction;
  };
  const std::unique_ptr<InferSession, decltype(restore)> muted(&session, restore);
  session.on_error = [](const Node&, const Error&) {};
  session.on_contradiction = nullptr;
  return c.subgraph(name, {});
}

void infer(InferContext& c) {
  for (const char* name : {"then_branch", "else_branch"})
    if (!c.node().attributes.has(name)) c.fail("attribute '" + std::string(name) + "' is missing");
  std::optional<bool> taken;
  if (const auto condition = c.const_int(0)) taken = *condition != 0;
  const std::vector<Type> yes = infer_branch(c, "then_branch", taken.value_or(true));
  const std::vector<Type> no = infer_branch(c, "else_branch", !taken.value_or(false));
  if (!branch(c, "then_branch") || !branch(c, "else_branch")) return;
  if (yes.size() != no.size() || yes.size() < c.output_count())
    c.fail("the branches have " + std::to_string(yes.size()) + " and " + std::to_string(no.size()) +
           " outputs, the node has " + std::to_string(c.output_count()));
  for (std::size_t i = 0; i < c.output_count(); ++i) {
    if (taken)
      c.out(i, *taken ? yes[i] : no[i]);
    else
      c.out(i, merged(c, yes[i], no[i], "output " + std::to_string(i)));
    infer_values(c, i, taken);
  }
}

void run(KernelContext& c) {
  const bool condition = holds(c, c.has(0) ? c.datum(0) : Datum());
  std::vector<Datum> results = c.host().run_graph(graph_of(c, condition ? "then_branch" : "else_branch"), {});
  if (results.size() < c.output_count()) c.fail("the branch gives fewer outputs than the node has");
  for (std::size_t i = 0; i < c.output_count(); ++i) c.set(i, std::move(results[i]));
}

}  // namespace

constinit const OpDef defs::If = {
    .name = "If",
    .infer = infer,
    .kernel = run,
};

}  // namespace ingot::ops
