// Moves functions between operator set versions, where nothing has to be known of their calls.
#include <algorithm>
#include <utility>

#include "ingot/passes/move_nodes.h"
#include "ingot/passes/version_steps.h"

namespace ingot::passes {
namespace {

using ops::AttrSchema;
using ops::OpDef;
using ops::Schema;
using ops::Step;

/// Whether the one allows all that the other does.
bool includes(const ops::TypeConstraint& a, const ops::TypeConstraint& b) {
  if (a.maps.size() < b.maps.size()) return false;
  for (int t = 0; t < kDTypeCount; ++t) {
    const auto type = static_cast<DType>(t);
    for (const auto set : {&ops::TypeConstraint::tensors, &ops::TypeConstraint::sequences,
                           &ops::TypeConstraint::optionals, &ops::TypeConstraint::optional_sequences})
      if ((b.*set).has(type) && !(a.*set).has(type)) return false;
  }
  return true;
}

/// Whether whatever is written in version `a` says the same in version `b` as far as this node goes, its types unknown.
bool is_the_same(const Node& node, const Schema& a, const Schema& b) {
  if (b.deprecated || node.attributes.has("consumed_inputs")) return false;
  for (const AttrSchema& attribute : a.attributes) {
    const AttrSchema* other = b.attribute(attribute.name);
    if (node.attributes.has(attribute.name) ? !other || other->type != attribute.type
                                            : attribute.has_default && other && !same_default(attribute, *other))
      return false;
  }
  for (const AttrSchema& attribute : b.attributes)
    if (attribute.required && !node.attributes.has(attribute.name)) return false;
  for (std::size_t i = 0; i < node.input_count(); ++i)
    if (const auto* from = a.input(i)) {
      const auto* to = b.input(i);
      if (!to || !includes(*to->type, *from->type)) return false;
    }
  for (std::size_t i = 0; i < node.output_count(); ++i)
    if (const auto* from = a.output(i)) {
      const auto* to = b.output(i);
      if (!to || !includes(*to->type, *from->type)) return false;
    }
  return std::cmp_greater_equal(node.input_count(), b.min_inputs);
}

bool needs_other_versions_only(const Node& node, std::int64_t opset, std::int64_t target) {
  if (opset == target || opset == 0 || target == 0) return true;
  const OpDef* def = ops::find(node);
  const Schema* from = ops::schema_for(node.domain, node.op, opset);
  if (!def || !from) return true;  // converts to itself
  const Schema* to = ops::schema_for(node.domain, node.op, target);
  if (!to) return false;
  for (const Schema& version : ops::versions_of(node.domain, node.op)) {
    if (version.since <= std::min(from->since, to->since) || version.since > std::max(from->since, to->since)) continue;
    const Step* step = step_to(*def, version.since);
    if (step && (opset < target ? step->up : step->down)) return false;
  }
  return from == to || is_the_same(node, *from, *to);
}

bool needs_other_versions_only(const Function& f, const OpsetImports& targets) {
  bool all = true;
  for_each_graph(*f.body, [&](Graph& g) {
    for (const Node& node : g.nodes())
      all = all && needs_other_versions_only(node, f.opsets.version(node.domain), targets.version(node.domain));
  });
  return all;
}

/// Whether a body says all that steps ask for: types of all values, and no attribute is that of a call. So are the
/// functions that a frontend makes, one for each combination of types.
bool is_known(Graph& body) {
  bool all = true;
  const auto has_type = [](const Value* v) { return !v || v->type.elem != DType::undefined || v->type.element; };
  for_each_graph(body, [&](Graph& g) {
    for (const Node& node : g.nodes())
      all = all && !reference_in(node) && std::ranges::all_of(node.inputs(), has_type) &&
            std::ranges::all_of(node.outputs(), has_type);
  });
  return all;
}

}  // namespace

bool move_functions(Model& model, const OpsetImports& targets, VersionReport& report) {
  std::vector<GraphPtr> bodies;  // null: as it is
  VersionReport counts = report;
  std::vector<Obstacle> obstacles;
  for (const auto& f : model.functions) {
    bodies.emplace_back();
    if (needs_other_versions_only(*f, targets)) continue;
    if (!is_known(*f->body)) return false;
    bodies.back() = f->body->clone();
    move_nodes(*bodies.back(), f->opsets, targets, nullptr, counts, obstacles);
    if (!obstacles.empty()) return false;
  }
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    Function& f = *model.functions[i];
    f.opsets = moved(f.opsets, targets);
    if (bodies[i]) f.body = std::move(bodies[i]);
  }
  report = std::move(counts);
  return true;
}

}  // namespace ingot::passes
