// What a target lacks, all of it at once.
#include "ingot/passes/legalize/obstacles.h"

#include <fmt/format.h>

#include <set>

#include "ingot/base/error.h"
#include "ingot/passes/legalize/legalize.h"

namespace ingot::passes::legalize {
namespace {

using Kind = Refusal::Kind;

const Value* value_beyond(const Node& node, std::size_t most_dimensions) {
  for (const Values& values : {node.inputs(), node.outputs()})
    for (const Value* v : values)
      if (v && v->type.is_tensor() && v->type.shape && v->type.shape->size() > most_dimensions) return v;
  return nullptr;
}

std::string remedy_for(const Node& node, Kind kind, const Options& options) {
  if (kind == Kind::element_type && options.auto_cast == CastRule::none) return "--auto-cast up, or all";
  if (kind == Kind::element_type && options.auto_cast == CastRule::up) return "--auto-cast all";
  if (kind == Kind::unknown_size) return "--input-shape";
  return "--allow-custom " + node.op + (node.domain.empty() ? "" : ":" + node.domain);
}

class Search {
 public:
  Search(const Target& target, const Options& options) : target_(target), options_(options) {}

  void look_at(const Graph& graph) {
    for (const Node& node : graph.nodes()) look_at(node);
    for (const Value* v : graph.initializers())
      if (v->sparse_initializer)
        add(fmt::format("initializer '{}'", v->name()), "", "sparse weights are not written", Kind::sparse_weights);
    for (const Value* v : graph.inputs()) look_at_port(v, "input");
    for (const Value* v : graph.outputs()) look_at_port(v, "output");
  }

  std::vector<Obstacle> found;

 private:
  void look_at(const Node& node) {
    if (const Value* v = value_beyond(node, target_.most_dimensions))
      return add(node.label(), node.op,
                 fmt::format("'{}' has more than {} dimensions", v->name(), target_.most_dimensions), Kind::dimensions);
    const auto refusal = refusal_of(node, target_, options_);
    if (!refusal) return;
    const std::string op = node.domain.empty() ? node.op : node.domain + "." + node.op;
    add(node.label(), op, refusal->text, refusal->kind, remedy_for(node, refusal->kind, options_));
  }

  void look_at_port(const Value* v, std::string_view what) {
    if (!v || (target_.has_port ? target_.has_port(v->type) : v->type.is_tensor())) return;
    add(fmt::format("{} '{}'", what, v->name()), "", target_.title + " has no " + v->type.str(),
        v->type.is_tensor() ? Kind::element_type : Kind::not_a_tensor);
  }

  void add(std::string where, std::string op, std::string reason, Kind kind, std::string remedy = "") {
    found.push_back({std::move(where), std::move(op), std::move(reason), std::move(remedy), kind});
  }

  const Target& target_;
  const Options& options_;
};

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::unknown_operator:
      return "unknown_operator";
    case Kind::element_type:
      return "element_type";
    case Kind::unknown_size:
      return "unknown_size";
    case Kind::dimensions:
      return "dimensions";
    case Kind::attribute_value:
      return "attribute_value";
    case Kind::not_constant:
      return "not_constant";
    case Kind::not_a_tensor:
      return "not_a_tensor";
    case Kind::sparse_weights:
      return "sparse_weights";
    case Kind::structure:
      return "structure";
  }
  return "";
}

std::vector<Obstacle> obstacles_of(Graph& graph, const Target& target, const Options& options) {
  Search search(target, options);
  for_each_graph(graph, [&](const Graph& g) { search.look_at(g); });
  return std::move(search.found);
}

void require_none(const std::vector<Obstacle>& obstacles, const Target& target) {
  if (obstacles.empty()) return;
  std::string list, remedies;
  std::set<std::string> told;
  for (const Obstacle& o : obstacles) {
    list += "\n  " + o.where + (o.op.empty() ? "" : " (" + o.op + ")") + ": " + o.reason;
    if (!o.remedy.empty() && told.insert(o.remedy).second) remedies += (remedies.empty() ? "" : "; ") + o.remedy;
  }
  const std::string parts = obstacles.size() == 1 ? "one part" : fmt::format("{} parts", obstacles.size());
  Error error(Code::not_expressible,
              fmt::format("{} of the model cannot be expressed in {}:{}", parts, target.title, list));
  if (!remedies.empty()) error.hint("what may help: " + remedies);
  throw error;
}

}  // namespace ingot::passes::legalize
