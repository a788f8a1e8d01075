// Nodes, each when something needs it.
#include "ingot/frontends/tensorflow/translation.h"

#include <algorithm>
#include <stdexcept>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/control_flow.h"
#include "ingot/frontends/tensorflow/known_ranks.h"
#include "ingot/frontends/tensorflow/old_control_flow.h"
#include "ingot/frontends/tensorflow/operator_table.h"
#include "ingot/frontends/tensorflow/own_texts.h"
#include "ingot/frontends/tensorflow/training_nodes.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/versions.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr int kMostNested = 64;

std::vector<NodeInScope> needs(Scope& scope, std::int32_t node) {
  const std::string& op = scope.body.node(node).op;
  if (op == "Exit" || op == "RefExit") return loop_needs(scope, node);
  if (op == "Merge" || op == "RefMerge") return branch_needs(scope, node);
  std::vector<NodeInScope> all;
  const auto inputs = scope.body.inputs(node);
  // The last first: what is pushed last is translated first, so nodes come in the order of the inputs.
  for (std::size_t i = inputs.size(); i-- > 0;)
    if (inputs[i].node >= 0) all.push_back({&scope.home(inputs[i].node), inputs[i].node, inputs[i].port});
  return all;
}

/// Some writers note the shapes of all outputs: they serve where inference knows less.
void refine_types(const TfNode& n, const Operands& made) {
  const tf::AttrValue* attr = n.def().find("_output_shapes");
  const auto* list = attr ? std::get_if<std::shared_ptr<const tf::AttrList>>(attr) : nullptr;
  if (!list) return;
  for (std::size_t i = 0; i < made.size() && i < (*list)->shapes.size(); ++i) {
    const tf::TensorShape& stated = (*list)->shapes[i];
    Value* value = made[i].value;
    if (stated.unknown_rank || !value || !value->type.is_tensor()) continue;
    const Type type = Type::tensor(value->type.elem, to_shape(stated));
    if (may_match(value->type, type)) value->type = refine(value->type, type);
  }
}

/// Those attributes of a node that ONNX has kinds for.
Attrs custom_attrs(const tf::NodeDef& node) {
  Attrs attrs;
  for (const tf::Attr& attr : node.attrs) {
    if (attr.name.starts_with('_')) continue;
    if (const auto* i = std::get_if<std::int64_t>(&attr.value)) attrs.emplace_back(attr.name, *i);
    if (const auto* f = std::get_if<float>(&attr.value)) attrs.emplace_back(attr.name, *f);
    if (const auto* b = std::get_if<bool>(&attr.value)) attrs.emplace_back(attr.name, *b);
    if (const auto* s = std::get_if<std::string>(&attr.value)) attrs.emplace_back(attr.name, *s);
    if (const auto* t = std::get_if<tf::DataType>(&attr.value)) attrs.emplace_back(attr.name, tf::dtype_of(*t));
    if (const auto* l = std::get_if<std::shared_ptr<const tf::AttrList>>(&attr.value); l && !(*l)->ints.empty())
      attrs.emplace_back(attr.name, (*l)->ints);
  }
  return attrs;
}

}  // namespace

Translation::Translation(const tf::GraphDef& graph, const ImportOptions& options, const ModelFiles& files)
    : options_(options),
      budget_(options.budget ? *options.budget : Budget::unlimited()),
      bodies_(graph),
      custom_operators_(options.custom, "tensorflow"),
      main_scope_(bodies_.main(), nullptr, *model_.graph, Scope::Kind::body),
      variables_(*model_.graph, bodies_.main(), options, files, budget_),
      lookup_tables_(bodies_, files, budget_),
      examples_(*model_.graph, options),
      kept_functions_(*this) {
  model_.opsets.set("", ops::newest_opset(""));
  model_.graph->name = "graph";
  model_.producer_name = "ingot";
}

std::vector<std::int32_t> Translation::update_nodes(const Body& body) const {
  return tensorflow::update_nodes(body, &body == &main(), options_.train_operations);
}

void Translation::use_domain(const std::string& domain) {
  model_.opsets.set(domain, std::max(ops::newest_opset(domain), 1));
}

void Translation::throw_problems() const {
  problems_.throw_if_any("--allow-custom keeps an operator as a custom node, --outputs cuts the graph before it");
}

Value* Translation::mark_complex(Value* pairs) {
  complex_.insert(pairs);
  return pairs;
}

Operand Translation::get(Scope& scope, Source source) {
  if (source.node < 0) {
    const Operands& arguments = scope.outermost().arguments;
    if (static_cast<std::size_t>(source.port) >= arguments.size())
      throw Error(Code::bad_source_graph, "a function reads an argument that it is not given");
    return arguments[static_cast<std::size_t>(source.port)];
  }
  if (&scope.body == &main())
    if (const auto cut = cuts_.find({source.node, source.port}); cut != cuts_.end()) return {cut->second};
  Scope& home = scope.home(source.node);
  ensure(home, source.node);
  const auto done = home.done.find(source.node);
  if (done == home.done.end())
    throw Error(Code::bad_source_graph, "node '" + scope.body.node(source.node).name + "' stands outside of its loop");
  const Operands& operands = done->second;
  if (static_cast<std::size_t>(source.port) < operands.size()) return operands[static_cast<std::size_t>(source.port)];
  if (!operands.empty() && operands.front().is_missing) return operands.front();
  throw Error(Code::bad_source_graph, "node '" + scope.body.node(source.node).name + "' has no output " +
                                          std::to_string(source.port) + " in Ingot's translation");
}

void Translation::ensure(Scope& scope, std::int32_t node) {
  std::vector<NodeInScope> stack{{&scope, node, 0}};
  struct Forget {  // whatever ends this, nothing stays open
    std::set<std::pair<Scope*, std::int32_t>>& open;
    const std::vector<NodeInScope>& stack;
    ~Forget() {
      for (const NodeInScope& p : stack) open.erase({p.scope, p.node});
    }
  } forget{open_, stack};
  while (!stack.empty()) {
    const NodeInScope top = stack.back();
    if (top.scope->done.contains(top.node)) {
      stack.pop_back();
      continue;
    }
    const auto key = std::pair(top.scope, top.node);
    if (open_.contains(key)) {
      translate(*top.scope, top.node);
      open_.erase(key);
      stack.pop_back();
      continue;
    }
    open_.insert(key);
    for (const NodeInScope& need : needs(*top.scope, top.node)) {
      if (need.scope->done.contains(need.node)) continue;
      if (&need.scope->body == &main() && is_cut({need.node, need.port})) continue;
      if (open_.contains({need.scope, need.node}))
        throw Error(Code::cyclic_graph, "node '" + need.scope->body.node(need.node).name + "' depends on itself");
      stack.push_back(need);
    }
  }
}

namespace {

bool has_type(const tf::NodeDef& def, std::string_view name, tf::DataType type) {
  return std::ranges::any_of(def.attrs, [&](const tf::Attr& attr) {
    const auto* stated = std::get_if<tf::DataType>(&attr.value);
    return stated && *stated == type && (name.empty() || attr.name == name);
  });
}

}  // namespace

/// Tools that halve the constants of a file leave the operators as they were: those state floats.
void Translation::widen_halves(const tf::NodeDef& def, GraphBuilder& g, Operands& inputs) {
  if (!has_type(def, "T", tf::DataType::f32) || has_type(def, "", tf::DataType::f16)) return;
  for (Operand& input : inputs) {
    if (!input.value || input.value->type.elem != DType::f16 || !ops::constant_of(input.value)) continue;
    input.value = g.cast(input.value, DType::f32);
    note("'" + def.name + "' (" + def.op + ") computes with floats: its constants of float16 become floats");
  }
}

void Translation::translate(Scope& scope, std::int32_t node) {
  budget_.charge_nodes(1);
  budget_.poll();
  const tf::NodeDef& def = scope.body.node(node);
  Operands made;
  try {
    made = translated(scope, node);
  } catch (const Error& error) {
    if (error.exit_code() != 3 && error.exit_code() != 4) throw;
    Error problem(error.code(), error.message());
    problem.hint(error.hint_text().empty() && find_own_text(def.op) ? own_text_remedy(def.op) : error.hint_text());
    problems_.add(def.name, def.op, problem);
    made = missing();
  } catch (const std::logic_error&) {  // an element, a field or a number that is not there
    problems_.add(def.name, def.op, Error(Code::bad_source_graph, "its inputs or attributes do not fit the operator"));
    made = missing();
  }
  scope.done.insert_or_assign(node, std::move(made));
}

Operands Translation::translated(Scope& scope, std::int32_t node) {
  const tf::NodeDef& def = scope.body.node(node);
  const std::string label = scope.prefix + def.name;
  scope.builder.name_after(label);
  scope.builder.set_metadata({{std::string(kSource), label}});
  if (def.op == "Exit" || def.op == "RefExit") return old_loop(*this, scope, node);
  if (def.op == "Merge" || def.op == "RefMerge") return old_branch(*this, scope, node);

  Operands inputs;
  for (const Source& source : scope.body.inputs(node)) {
    inputs.push_back(get(scope, source));
    if (inputs.back().is_missing) return {inputs.back()};
  }
  widen_halves(def, scope.builder, inputs);
  has_late_ranks_ |= state_ranks(def, inputs);
  const TfNode n(def, std::move(inputs), *this, scope);
  Operands made;
  if (const tf::FunctionDef* function = bodies_.find_function(def.op)) {
    made = call_or_keep(*function, n.operands(), &def.attrs, scope.builder, label + "/");
  } else if (std::optional<Values> text = own_text(n, scope.builder)) {
    for (Value* value : *text) made.push_back({value});
  } else if (const auto domain = custom_operators_.domain_of(def.op)) {
    made = custom(n, scope.builder, *domain, scope.body.output_count(node));
  } else if (const Row* row = find_row(def.op)) {
    made = row->translate(n, scope.builder);
  } else {
    throw Error(Code::unsupported_operator,
                find_own_text(def.op) ? "ONNX has no operator for it" : "there is no translation");
  }
  refine_types(n, made);
  return made;
}

std::optional<Values> Translation::own_text(const TfNode& n, GraphBuilder& g) const {
  const OwnText* row = find_own_text(n.op());
  if (!row) return std::nullopt;
  if (CustomOperators(options_.custom, kOwnDomain).domain_of(n.op()) == kOwnDomain) return row->own(n, g);
  if (!options_.strings_contrib || !row->contrib) return std::nullopt;
  Values made = row->contrib(n, g);
  return made.empty() ? std::nullopt : std::optional(std::move(made));
}

Operands Translation::call(const tf::FunctionDef& function, Operands arguments, const std::vector<tf::Attr>* attrs,
                           Graph& graph, const std::string& prefix) {
  if (++depth_ > kMostNested) throw Error(Code::depth_limit, "functions call each other more than 64 deep");
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  Scope scope(bodies_.body_of(function), nullptr, graph, Scope::Kind::body);
  scope.arguments = std::move(arguments);
  scope.call_attrs = attrs;
  scope.prefix = prefix;
  Operands results;
  for (const tf::ArgDef& output : function.outputs) {
    const auto entry = std::ranges::find(function.returns, output.name, [](const auto& r) { return r.first; });
    if (entry == function.returns.end())
      throw Error(Code::bad_source_graph,
                  "function '" + function.name + "' does not say what '" + output.name + "' is");
    results.push_back(get(scope, scope.body.resolve(entry->second)));
  }
  if (options_.mode != ImportMode::inference)
    for (const std::int32_t node : update_nodes(scope.body)) get(scope, {node, 0});
  return results;
}

Operands Translation::call_or_keep(const tf::FunctionDef& function, Operands arguments,
                                   const std::vector<tf::Attr>* attrs, GraphBuilder& g, const std::string& prefix) {
  if (!options_.keep_functions || options_.mode != ImportMode::inference)
    return call(function, std::move(arguments), attrs, g.graph(), prefix);
  return kept_functions_.call(function, std::move(arguments), attrs, g, prefix);
}

Operands Translation::custom(const TfNode& n, GraphBuilder& g, const std::string& domain, std::size_t outputs) {
  DType elem = n.input_count() && n.operand(0).value ? n.operand(0).value->type.elem : DType::undefined;
  for (const std::string_view name : {"T", "dtype", "Tout", "out_type"})
    if (const auto* attr = n.attr(name); attr && std::holds_alternative<tf::DataType>(*attr)) elem = n.dtype(name);
  Node* node = g.node(n.op(), domain, n.inputs(), custom_attrs(n.def()), std::max<std::size_t>(outputs, 1));
  Operands made;
  for (Value* value : node->outputs()) {
    value->type = Type::tensor(elem);
    made.push_back({value});
  }
  model_.opsets.set(domain, 1);
  return made;
}

}  // namespace ingot::frontends::tensorflow
