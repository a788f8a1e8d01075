// Moves nodes between operator set versions, by what the schemas tell and by the operators' own steps.
#include "ingot/passes/move_nodes.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/well_formed.h"
#include "ingot/passes/decompose.h"
#include "ingot/passes/version_steps.h"

namespace ingot::passes {
namespace {

using ops::AttrSchema;
using ops::OpDef;
using ops::Schema;
using ops::Step;
using ops::StepContext;

bool equals_default(const Attribute& attribute, const AttrSchema& schema) {
  if (!schema.has_default || attribute.is_reference()) return false;
  switch (schema.type) {
    case AttrType::int_: {
      const auto* v = std::get_if<std::int64_t>(&attribute.value);
      return v && *v == schema.int_default;
    }
    case AttrType::float_: {
      const auto* v = std::get_if<float>(&attribute.value);
      return v && *v == schema.float_default;
    }
    case AttrType::string: {
      const auto* v = std::get_if<std::string>(&attribute.value);
      return v && *v == schema.string_default;
    }
    case AttrType::ints: {
      const auto* v = std::get_if<std::vector<std::int64_t>>(&attribute.value);
      return v && std::ranges::equal(*v, schema.ints_default);
    }
    case AttrType::floats: {
      const auto* v = std::get_if<std::vector<float>>(&attribute.value);
      return v && std::ranges::equal(*v, schema.floats_default);
    }
    default:
      return false;
  }
}

/// The default as an attribute of a node, for the kinds that have defaults.
Attribute explicit_default(const AttrSchema& schema) {
  std::string name(schema.name);
  switch (schema.type) {
    case AttrType::int_:
      return {name, AttrValue(schema.int_default)};
    case AttrType::float_:
      return {name, AttrValue(schema.float_default)};
    case AttrType::string:
      return {name, AttrValue(std::string(schema.string_default))};
    case AttrType::ints:
      return {name, AttrValue(std::vector<std::int64_t>(schema.ints_default.begin(), schema.ints_default.end()))};
    default:
      return {name, AttrValue(std::vector<float>(schema.floats_default.begin(), schema.floats_default.end()))};
  }
}

/// The first value whose type the version does not allow, or null.
const Value* disallowed(const Node& node, const Schema& schema) {
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    const auto* f = schema.input(i);
    if (f && node.input(i) && !f->type->allows(node.input(i)->type)) return node.input(i);
  }
  for (std::size_t i = 0; i < node.output_count(); ++i) {
    const auto* f = schema.output(i);
    if (f && node.output(i) && !f->type->allows(node.output(i)->type)) return node.output(i);
  }
  return nullptr;
}

bool has_cast(const Node* first, const Node* end) {
  for (const Node* n = first; n && n != end; n = n->next())
    if (n->is("Cast")) return true;
  return false;
}

class Converter {
 public:
  Converter(const OpsetImports& from, const OpsetImports& to, ops::InferSession* session, VersionReport& report,
            std::vector<Obstacle>& obstacles)
      : from_(from), to_(to), session_(session), report_(report), obstacles_(obstacles) {}

  void run(Graph& graph) {
    for (Node& node : graph.nodes()) convert(node, from_.version(node.domain));
  }

 private:
  /// Brings a node that is written in version `opset` of its domain to the target.
  void convert(Node& node, std::int64_t opset) {
    const std::int64_t target = to_.version(node.domain);
    const bool is_known = opset != 0 && target != 0;
    if (is_known && opset < target)
      upgrade(node, opset, target);
    else if (is_known && opset > target)
      downgrade(node, opset, target);
    else
      finish(node);
  }

  /// Subgraphs follow their node; then types are inferred while everything is of the newest set.
  void finish(Node& node) {
    if (session_) seed_subgraph_inputs(node);
    convert_subgraphs(node);
    if (session_) {
      infer_node(node, *session_);
    } else {
      infer_if_newest(node);
    }
  }

  /// What inference says of a subgraph's nodes on the way is for the steps only: the node itself infers its subgraphs
  /// again, knowing their inputs and which of them run, and then it counts.
  void convert_subgraphs(Node& node) {
    ops::InferSession quiet;
    if (session_) {
      std::swap(quiet.on_error, session_->on_error);
      std::swap(quiet.on_contradiction, session_->on_contradiction);
      session_->on_error = [](const Node&, const Error&) {};
    }
    for_each_subgraph(node, [&](Graph& g) { run(g); });
    if (session_) {
      session_->on_error = std::move(quiet.on_error);
      session_->on_contradiction = std::move(quiet.on_contradiction);
    }
  }

  /// Nodes that were added between `first` (exclusive; null: the start) and `end` are written in `opset`.
  /// A step may write nodes of ai.onnx only, apart from the node's own domain; it writes them as they have been since
  /// 7, with broadcasting and types as numbers.
  void convert_added(Graph& graph, Node* first, Node* end, std::int64_t opset, std::string_view domain) {
    for (Node* n = first ? first->next() : graph.first(); n && n != end;) {
      Node* next = n->next();
      ++report_.nodes_added;
      convert(*n, normal_domain(n->domain) == domain ? opset : std::max<std::int64_t>(from_.version(n->domain), 7));
      n = next;
    }
  }

  void upgrade(Node& node, std::int64_t opset, std::int64_t target) {
    const auto versions = ops::versions_of(node.domain, node.op);
    const OpDef* def = ops::find(node);
    const Schema* current = ops::schema_for(node.domain, node.op, opset);
    if (!def || !current) return finish(node);
    Graph& graph = node.graph();
    const std::string domain(normal_domain(node.domain));
    for (const Schema& next : versions) {
      if (next.since <= current->since || next.since > target) continue;
      Node *before = node.previous(), *after = node.next();
      const Step* step = step_to(*def, next.since);
      if (next.deprecated && !(step && step->up)) {
        obstacle(node, "is deprecated since opset " + std::to_string(next.since) + " and has no replacement", {});
        return;
      }
      keep_meaning_of_defaults(node, *current, next);
      node.attributes.erase("consumed_inputs");
      if (step && step->up) {
        bool replaced = false;
        if (const auto refusal = apply(node, *current, step->up, next.since, replaced)) {
          // What only runs within Ingot may stay an operator that others must not use any more.
          if (next.deprecated && session_ && def->kernel && node.previous() == before) return finish(node);
          obstacles_.push_back(*refusal);
          return;
        }
        ++report_.nodes_changed;
        convert_added(graph, before, replaced ? after : &node, next.since, domain);
        if (replaced) return;
      }
      current = &next;
    }
    finish(node);
  }

  void downgrade(Node& node, std::int64_t opset, std::int64_t target) {
    const auto versions = ops::versions_of(node.domain, node.op);
    const OpDef* def = ops::find(node);
    const Schema* current = ops::schema_for(node.domain, node.op, opset);
    if (!def || !current) return finish(node);
    Graph& graph = node.graph();
    const std::string domain(normal_domain(node.domain));
    // What the target lacks altogether is expanded at once: its definition is written in the newest version.
    if (const int first = versions.front().since; first > target) {
      if (expand(node, *def, *current)) return;
      obstacle(node,
               "exists since opset " + std::to_string(first) + " of " + domain_name(domain) + " only" +
                   (def->decompose ? ", and this use of it cannot be expressed in older operators" : ""),
               "use --opset " + std::to_string(first) + " or newer");
      return;
    }
    for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
      if (it->since > current->since || it->since <= target) continue;
      Node *before = node.previous(), *after = node.next();
      const Schema* older = &*std::next(it);  // there is one, since the target has the operator
      if (const Value* value = disallowed(node, *older)) {
        const std::string line = node.label() + " (" + node.op + "): cast, because version " +
                                 std::to_string(older->since) + " lacks " + value->type.schema_name();
        if (expand(node, *def, *current)) {
          if (has_cast(before ? before->next() : graph.first(), after)) report_.casts.push_back(line);
          return;
        }
        obstacle(node,
                 "'" + value->name() + "' is " + value->type.schema_name() +
                     ", which the operator allows since opset " + std::to_string(lowest_allowing(node, versions)) +
                     " only",
                 "use --opset " + std::to_string(lowest_allowing(node, versions)) + " or newer");
        return;
      }
      const Step* step = step_to(*def, it->since);
      keep_meaning_of_defaults(node, *it, *older);
      if (step && step->down) {
        bool replaced = false;
        if (const auto refusal = apply(node, *it, step->down, it->since - 1, replaced)) {
          // What stands in the way of the decomposition is of no interest: the node's own reason is.
          const std::size_t known = obstacles_.size();
          const bool is_untouched = node.previous() == before;
          if (is_untouched && expand(node, *def, *current) && obstacles_.size() == known) return;
          obstacles_.resize(known);
          obstacles_.push_back(*refusal);
          return;
        }
        ++report_.nodes_changed;
        convert_added(graph, before, replaced ? after : &node, it->since - 1, domain);
        if (replaced) return;
      }
      if (const std::string reason = fit(node, *older); !reason.empty()) {
        if (expand(node, *def, *older)) return;
        obstacle(node, reason, "use --opset " + std::to_string(it->since) + " or newer");
        return;
      }
      current = older;
    }
    finish(node);
  }

  /// An attribute that is absent means its default; where the default differs in the other version, or is
  /// not known there as a default, it is written out.
  void keep_meaning_of_defaults(Node& node, const Schema& from, const Schema& to) {
    for (const AttrSchema& a : from.attributes) {
      if (!a.has_default || node.attributes.has(a.name)) continue;
      const AttrSchema* other = to.attribute(a.name);
      if (other && other->type == a.type && !same_default(a, *other)) node.attributes.set(explicit_default(a));
    }
  }

  /// Drops what the older version does not know and does not need; says what it would need.
  std::string fit(Node& node, const Schema& older) {
    std::vector<std::string> drop;
    for (const Attribute& a : node.attributes) {
      if (older.attribute(a.name)) continue;
      const AttrSchema* known = nullptr;
      for (const Schema& v : ops::versions_of(node.domain, node.op))
        if (v.since > older.since && !known) known = v.attribute(a.name);
      if (!known || !equals_default(a, *known))
        return "attribute '" + a.name + "' has no meaning before opset " + std::to_string(first_with(node, a.name));
      drop.push_back(a.name);
    }
    for (const std::string& name : drop) node.attributes.erase(name);
    std::size_t inputs = node.input_count();
    while (inputs && !node.input(inputs - 1)) --inputs;
    if (std::cmp_greater(inputs, older.max_inputs))
      return "input '" + node.input(inputs - 1)->name() + "' has no place in older versions";
    if (std::cmp_greater(node.input_count(), older.max_inputs)) node.resize_inputs(inputs);
    for (std::size_t i = static_cast<std::size_t>(std::max(0, older.max_outputs)); i < node.output_count(); ++i)
      if (node.output(i) && !node.output(i)->uses().empty())
        return "output '" + node.output(i)->name() + "' does not exist in older versions";
    if (static_cast<int>(node.output_count()) > older.max_outputs)
      node.resize_outputs(static_cast<std::size_t>(older.max_outputs));
    return {};
  }

  static int first_with(const Node& node, std::string_view attribute) {
    for (const Schema& v : ops::versions_of(node.domain, node.op))
      if (v.attribute(attribute)) return v.since;
    return 0;
  }

  static int lowest_allowing(const Node& node, std::span<const Schema> versions) {
    for (const Schema& v : versions)
      if (!disallowed(node, v)) return v.since;
    return versions.back().since;
  }

  /// Why the node, which is written in version `current` of its operator, or the step for it was refused, or nothing.
  std::optional<Obstacle> apply(Node& node, const Schema& current, void (*step)(StepContext&), std::int64_t opset,
                                bool& replaced) {
    if (const std::string flaw = ops::flaw_of(node, current); !flaw.empty())
      return obstacle_of(node, flaw, "correct the node");
    if (const Attribute* a = reference_in(node))  // a step would take the default for its value
      return obstacle_of(node, "attribute '" + a->name + "' is that of its function's call", "inline the function");
    GraphBuilder builder(node.graph(), &node, false);
    builder.name_after(node);
    StepContext context(node, builder, opset);
    try {
      step(context);
    } catch (const Error& error) {
      if (error.exit_code() == 5) throw;
      return obstacle_of(node, error.message(), error.hint_text());
    }
    replaced = context.replaced();
    return std::nullopt;
  }

  enum class Renewed { in_place, replaced, refused };

  /// Brings the node alone to the newest version of its operator. What a step puts in its place goes to the target.
  Renewed renew(Node& node, const OpDef& def, const Schema* current) {
    const std::string domain(normal_domain(node.domain));
    for (const Schema& next : ops::versions_of(node.domain, node.op)) {
      if (next.since <= current->since) continue;
      const Step* step = step_to(def, next.since);
      const Schema& older = *std::exchange(current, &next);
      keep_meaning_of_defaults(node, older, next);
      if (!step || !step->up) continue;
      Graph& graph = node.graph();
      Node *before = node.previous(), *after = node.next();
      bool replaced = false;
      if (apply(node, older, step->up, next.since, replaced)) return Renewed::refused;
      convert_added(graph, before, replaced ? after : &node, next.since, domain);
      if (replaced) return Renewed::replaced;
    }
    return Renewed::in_place;
  }

  /// Puts the operator's own decomposition, which is written in the newest set, in place of the node.
  bool expand(Node& node, const OpDef& def, const Schema& current) {
    if (!def.decompose || reference_in(node)) return false;
    const Renewed renewed = renew(node, def, &current);
    if (renewed != Renewed::in_place) return renewed == Renewed::replaced;
    Graph& graph = node.graph();
    Node *before = node.previous(), *after = node.next();
    try {
      if (!decompose_node(node)) return false;
    } catch (const Error& error) {
      if (error.exit_code() == 5) throw;
      return false;  // the caller says what stands in the way
    }
    ++report_.nodes_changed;
    for (Node* n = before ? before->next() : graph.first(); n && n != after;) {
      Node* next = n->next();
      ++report_.nodes_added;
      convert(*n, ops::newest_opset(n->domain));
      n = next;
    }
    return true;
  }

  void infer_if_newest(Node& node) {
    const Schema* newest = ops::newest_schema(node.domain, node.op);
    const Schema* now = ops::schema_for(node.domain, node.op, to_.version(node.domain));
    if (!newest || now != newest) return;
    for (const Value* output : node.outputs())
      if (output && output->type) return;  // known already
    ops::InferSession session;
    session.on_error = [](const Node&, const Error&) {};
    infer_node(node, session);
  }

  /// A loop's body may ask for the rank of what it carries before the loop itself is inferred.
  static void seed_subgraph_inputs(Node& node) {
    const bool is_loop = node.is("Loop");
    if (!is_loop && !node.is("Scan")) return;
    const auto* body = node.attributes.get<GraphPtr>("body");
    if (!body || !*body || !is_loop) return;
    for (std::size_t i = 2; i < node.input_count() && i < (*body)->inputs().size(); ++i) {
      Value* input = (*body)->inputs()[i];
      if (input->type || !node.input(i)) continue;
      input->type = node.input(i)->type;
      if (input->type.shape)
        for (Dim& d : *input->type.shape) d = Dim();
    }
  }

  static Obstacle obstacle_of(const Node& node, const std::string& reason, const std::string& hint) {
    return {&node, node.label() + " (" + node.op + "): " + reason, hint};
  }
  void obstacle(const Node& node, const std::string& reason, const std::string& hint) {
    obstacles_.push_back(obstacle_of(node, reason, hint));
  }

  const OpsetImports& from_;
  const OpsetImports& to_;
  ops::InferSession* session_;
  VersionReport& report_;
  std::vector<Obstacle>& obstacles_;
};

}  // namespace

std::string domain_name(std::string_view domain) { return domain.empty() ? "ai.onnx" : std::string(domain); }

OpsetImports move_nodes(Graph& graph, const OpsetImports& imports, const OpsetImports& targets,
                        ops::InferSession* session, VersionReport& report, std::vector<Obstacle>& obstacles) {
  OpsetImports from = imports, to = moved(imports, targets);
  complete(from, targets);
  Converter(from, to, session, report, obstacles).run(graph);
  return to;
}

void move_nodes(Model& model, const OpsetImports& targets, ops::InferSession* session, VersionReport& report,
                std::vector<Obstacle>& obstacles) {
  OpsetImports imports = model.opsets;
  if (imports.empty() && model.ir_version < 3) imports.set("", 1);  // before imports existed there was one version
  const auto move = [&](Graph& graph) { return move_nodes(graph, imports, targets, session, report, obstacles); };
  const OpsetImports reached = move(*model.graph);
  for (const TrainingInfo& t : model.training) {
    if (t.initialization) move(*t.initialization);
    if (t.algorithm) move(*t.algorithm);
  }
  model.opsets = reached;
}

void refuse(const std::vector<Obstacle>& obstacles, Code code, const std::string& goal) {
  if (obstacles.empty()) return;
  std::string text = "cannot convert to " + goal + ": " + std::to_string(obstacles.size()) +
                     (obstacles.size() == 1 ? " obstacle" : " obstacles");
  std::unordered_set<std::string> hints;
  std::string hint;
  for (const Obstacle& o : obstacles) {
    text += "\n  " + o.text;
    if (!o.hint.empty() && hints.insert(o.hint).second) hint += (hint.empty() ? "" : "; ") + o.hint;
  }
  Error error(code, text);
  if (!hint.empty()) error.hint(hint);
  throw error;
}

}  // namespace ingot::passes
