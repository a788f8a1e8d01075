// From a graph of TensorFlow to a model: inputs, outputs, and each node when something needs it.
#include "ingot/frontends/tensorflow/translation.h"

#include <algorithm>
#include <set>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/constants.h"
#include "ingot/frontends/tensorflow/recurrent_loops.h"
#include "ingot/frontends/tensorflow/table.h"
#include "ingot/frontends/tensorflow/tables.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/versions.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr int kMostNested = 64;
constexpr std::string_view kNoValue = "no file holds the value of this variable";
constexpr std::size_t kMostNamed = 200;  // nodes in one line of a message

bool is_loss(const std::vector<std::pair<std::string, Value*>>& losses, const Value* value) {
  return std::ranges::any_of(losses, [&](const auto& loss) { return loss.second == value; });
}

}  // namespace

const tf::AttrValue* Scope::call_attr(std::string_view name) const {
  const Scope* s = this;
  while (s->parent) s = s->parent;
  if (!s->call_attrs) return nullptr;
  for (const tf::Attr& attr : *s->call_attrs)
    if (attr.name == name) return &attr.value;
  return nullptr;
}

Scope& Scope::home(std::int32_t node) {
  Scope* scope = this;
  if (body.node(node).op == "Const") {
    while (scope->parent) scope = scope->parent;
    return *scope;
  }
  while (scope->parent) {
    if (scope->kind == Kind::loop && body.is_inside(body.frame(node), scope->frame)) break;
    if (scope->kind == Kind::branch && std::ranges::find(body.guards(node), scope->guard) != body.guards(node).end())
      break;
    scope = scope->parent;
  }
  return *scope;
}

Translation::Translation(const tf::GraphDef& graph, const ImportOptions& options, const ModelFiles& files)
    : graph_(graph),
      options_(options),
      files_(files),
      budget_(options.budget ? *options.budget : Budget::unlimited()),
      find_function_([this](std::string_view name) { return find_function(name); }) {
  for (const tf::FunctionDef& f : graph.functions) functions_.try_emplace(f.name, &f);
  main_ = std::make_unique<Body>(graph.nodes, nullptr, find_function_);
  scope_ = std::make_unique<Scope>(*main_, nullptr, *model_.graph, Scope::Kind::body);
}

const tf::FunctionDef* Translation::find_function(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

const Body& Translation::body_of(const tf::FunctionDef& function) {
  auto& body = bodies_[&function];
  if (!body) body = std::make_unique<Body>(function.nodes, &function, find_function_);
  return *body;
}

const Table* Translation::table(const std::string& name) {
  if (!tables_) tables_ = table_contents(*this, *main_);
  const auto found = tables_->find(name);
  return found == tables_->end() ? nullptr : &found->second;
}

void Translation::use_domain(const std::string& domain) { model_.opsets.set(domain, ops::newest_opset(domain)); }

Value* Translation::mark_complex(Value* pairs) {
  complex_.insert(pairs);
  return pairs;
}

void Translation::note(std::string text) {
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

void Translation::fail(const tf::NodeDef& node, const std::string& why) {
  auto& nodes = problems_[node.op + ": " + why];
  if (std::ranges::find(nodes, node.name) == nodes.end()) nodes.push_back(node.name);
}

Operand Translation::get(Scope& scope, Source source) {
  if (source.node < 0) {
    const Scope* s = &scope;
    while (s->parent) s = s->parent;
    if (static_cast<std::size_t>(source.port) >= s->arguments.size())
      throw Error(Code::bad_source_graph, "a function reads an argument that it is not given");
    return s->arguments[static_cast<std::size_t>(source.port)];
  }
  if (&scope.body == main_.get())
    if (const auto cut = cuts_.find({source.node, source.port}); cut != cuts_.end()) return {cut->second};
  Scope& home = scope.home(source.node);
  ensure(home, source.node);
  const Operands& operands = home.done.at(source.node);
  if (static_cast<std::size_t>(source.port) < operands.size()) return operands[static_cast<std::size_t>(source.port)];
  if (!operands.empty() && operands.front().is_missing) return operands.front();
  throw Error(Code::bad_source_graph, "node '" + scope.body.node(source.node).name + "' has no output " +
                                          std::to_string(source.port) + " in Ingot's translation");
}

std::vector<Translation::Pending> Translation::needs(Scope& scope, std::int32_t node) {
  const std::string& op = scope.body.node(node).op;
  if (op == "Exit" || op == "RefExit") return loop_needs(scope, node);
  if (op == "Merge" || op == "RefMerge") return branch_needs(scope, node);
  std::vector<Pending> all;
  const auto inputs = scope.body.inputs(node);
  // The last first: what is pushed last is translated first, so nodes come in the order of the inputs.
  for (std::size_t i = inputs.size(); i-- > 0;)
    if (inputs[i].node >= 0) all.push_back({&scope.home(inputs[i].node), inputs[i].node, inputs[i].port});
  return all;
}

void Translation::ensure(Scope& scope, std::int32_t node) {
  std::vector<Pending> stack{{&scope, node, 0}};
  struct Forget {  // whatever ends this, nothing stays open
    std::set<std::pair<Scope*, std::int32_t>>& open;
    const std::vector<Pending>& stack;
    ~Forget() {
      for (const Pending& p : stack) open.erase({p.scope, p.node});
    }
  } forget{open_, stack};
  while (!stack.empty()) {
    const Pending top = stack.back();
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
    for (const Pending& need : needs(*top.scope, top.node)) {
      if (need.scope->done.contains(need.node)) continue;
      if (&need.scope->body == main_.get() && cuts_.contains({need.node, need.port})) continue;
      if (open_.contains({need.scope, need.node}))
        throw Error(Code::cyclic_graph, "node '" + need.scope->body.node(need.node).name + "' depends on itself");
      stack.push_back(need);
    }
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
    is_bad_graph_ &= error.exit_code() == 3;
    fail(def, error.message());
    made = {Operand{nullptr, nullptr, true}};
  }
  scope.done.insert_or_assign(node, std::move(made));
}

Operands Translation::translated(Scope& scope, std::int32_t node) {
  const tf::NodeDef& def = scope.body.node(node);
  const std::string label = scope.prefix + def.name;
  scope.builder.name_after(label);
  scope.builder.set_metadata({{"ingot.source", label}});
  if (def.op == "Exit" || def.op == "RefExit") return old_loop(scope, node);
  if (def.op == "Merge" || def.op == "RefMerge") return old_branch(scope, node);

  Operands inputs;
  for (const Source& source : scope.body.inputs(node)) {
    inputs.push_back(get(scope, source));
    if (inputs.back().is_missing) return {inputs.back()};
  }
  const TfNode n(def, std::move(inputs), *this, scope);
  Operands made;
  if (const tf::FunctionDef* function = find_function(def.op)) {
    made = call_or_keep(*function, n.operands(), &def.attrs, scope.builder, label + "/");
  } else if (const auto domain = custom_domain(def.op)) {
    made = custom(n, scope.builder, *domain, scope.body.output_count(node));
  } else if (const Translator* translator = find_translator(def.op)) {
    if (translator->translate_operands) {
      made = translator->translate_operands(n, scope.builder);
    } else {
      for (Value* value : translator->translate(n, scope.builder)) made.push_back({value});
    }
  } else {
    throw Error(Code::unsupported_operator, "there is no translation");
  }
  refine_types(n, made);
  return made;
}

/// Some writers note the shapes of all outputs: they serve where inference knows less.
void Translation::refine_types(const TfNode& n, const Operands& made) {
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

Operands Translation::call(const tf::FunctionDef& function, Operands arguments, const std::vector<tf::Attr>* attrs,
                           Graph& graph, const std::string& prefix) {
  if (++depth_ > kMostNested) throw Error(Code::depth_limit, "functions call each other more than 64 deep");
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  Scope scope(body_of(function), nullptr, graph, Scope::Kind::body);
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

Value* Translation::variable(const Resource& resource) {
  if (const auto found = variables_.find(resource.name); found != variables_.end()) return found->second;
  std::optional<Tensor> value = files_.variable ? files_.variable(resource.name) : std::nullopt;
  if (!value && files_.variable && !resource.shared_name.empty()) value = files_.variable(resource.shared_name);
  if (!value && options_.mode != ImportMode::inference) {
    value = blank(resource);
    if (value) blank_.push_back(resource.name);
  }
  if (!value)
    throw Error(Code::unsupported_setting, std::string(kNoValue))
        .hint("convert the SavedModel or checkpoint that holds it");
  Graph& graph = *model_.graph;
  Value* made = graph.add_initializer(graph.fresh_name(resource.name), std::move(*value));
  variables_.emplace(resource.name, made);
  return made;
}

std::optional<std::string> Translation::custom_domain(std::string_view op) const {
  for (const std::string& text : options_.custom) {
    const std::size_t colon = text.find(':');
    if (std::string_view(text).substr(0, colon) != op) continue;
    return colon == text.npos ? "tensorflow" : text.substr(colon + 1);
  }
  return std::nullopt;
}

Operands Translation::custom(const TfNode& n, GraphBuilder& g, const std::string& domain, std::size_t outputs) {
  Attrs attrs;
  DType elem = n.input_count() && n.operand(0).value ? n.operand(0).value->type.elem : DType::undefined;
  for (const tf::Attr& attr : n.def().attrs) {
    if (attr.name.starts_with('_')) continue;
    if (const auto* i = std::get_if<std::int64_t>(&attr.value)) attrs.emplace_back(attr.name, *i);
    if (const auto* f = std::get_if<float>(&attr.value)) attrs.emplace_back(attr.name, *f);
    if (const auto* b = std::get_if<bool>(&attr.value)) attrs.emplace_back(attr.name, *b);
    if (const auto* s = std::get_if<std::string>(&attr.value)) attrs.emplace_back(attr.name, *s);
    if (const auto* t = std::get_if<tf::DataType>(&attr.value)) attrs.emplace_back(attr.name, tf::dtype_of(*t));
    if (const auto* l = std::get_if<std::shared_ptr<const tf::AttrList>>(&attr.value); l && !(*l)->ints.empty())
      attrs.emplace_back(attr.name, (*l)->ints);
  }
  for (const std::string_view name : {"T", "dtype", "Tout", "out_type"})
    if (const auto* attr = n.attr(name); attr && std::holds_alternative<tf::DataType>(*attr)) elem = n.dtype(name);
  Node* node = g.node(n.op(), domain, n.inputs(), attrs, std::max<std::size_t>(outputs, 1));
  Operands made;
  for (Value* value : node->outputs()) {
    value->type = Type::tensor(elem);
    made.push_back({value});
  }
  model_.opsets.set(domain, 1);
  return made;
}

ImportResult Translation::run() {
  model_.opsets.set("", ops::newest_opset(""));
  model_.graph->name = "graph";
  model_.producer_name = "ingot";
  find_ports();
  check_operators();
  for (const Port& port : inputs_) add_input(port);
  std::vector<std::pair<Port, Operand>> results;
  for (const Port& port : outputs_) {
    const Source source = main_->resolve(port.tensor);
    const Operand first = get(*scope_, source);
    if (first.is_missing) continue;
    if (port.tensor.find(':') != std::string::npos || !found_outputs_) {
      results.emplace_back(port, first);
      continue;
    }
    // A sink gives all its outputs: the first by the node's name, the others with their number.
    const Operands all = scope_->done.contains(source.node) ? scope_->done.at(source.node) : Operands{first};
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].value) results.emplace_back(Port{i ? port.name + ":" + std::to_string(i) : port.name, {}}, all[i]);
  }
  std::vector<std::pair<std::string, Value*>> losses;
  if (options_.mode != ImportMode::inference) losses = translate_training();
  throw_problems();
  for (const auto& [port, operand] : results) {
    if (options_.mode != ImportMode::inference && is_loss(losses, operand.value)) continue;
    if (!operand.value) throw Error(Code::unsupported_setting, "output '" + port.name + "' is a handle, not a tensor");
    if (is_complex(operand.value))
      note("output '" + port.name + "' is complex: pairs of real and imaginary part along a last axis");
    add_output(port, operand.value);
  }
  if (options_.mode != ImportMode::inference) {
    // A graph that only trains answers with what it has learnt.
    std::map<std::string, Value*> learnt;
    for (const auto& [variable, next] : updates_)
      if (is_float(variable->type.elem)) learnt.emplace(variable->name(), variable);
    if (model_.graph->output_count() == 0)
      for (const auto& [name, variable] : learnt) add_output(Port{name + "/value", {}}, variable);
    finish_training(losses);
    throw_problems();  // of how variables begin
  }
  drop_unused();
  settle_examples();
  recurrent_loops_ += recognise_recurrent_loops(*model_.graph);
  if (recurrent_loops_) {
    note(std::to_string(recurrent_loops_) + (recurrent_loops_ == 1 ? " loop is" : " loops are") +
         " written as LSTM, GRU or RNN");
    drop_unused();
  }
  model_.ir_version = ops::ir_version_for(model_.opsets);
  return {std::move(model_), std::move(notes_), std::move(blank_)};
}

void Translation::throw_problems() const {
  if (problems_.empty()) return;
  std::string text;
  std::size_t count = 0;
  for (const auto& [problem, nodes] : problems_) {
    count += nodes.size();
    text += "\n  " + problem + " (" + (nodes.size() == 1 ? "node " : std::to_string(nodes.size()) + " nodes: ");
    for (std::size_t i = 0; i < nodes.size() && i < kMostNamed; ++i) text += (i ? ", '" : "'") + nodes[i] + "'";
    text += nodes.size() > kMostNamed ? ", ...)" : ")";
  }
  const std::string head = std::to_string(count) + (count == 1 ? " node" : " nodes") + " cannot be converted:";
  throw Error(is_bad_graph_ ? Code::bad_source_graph : Code::unsupported_operator, head + text)
      .hint(text.find(kNoValue) == std::string::npos
                ? "--allow-custom keeps an operator as a custom node, --outputs cuts the graph before it"
                : "a checkpoint has the values of variables: convert the SavedModel's directory, or the .meta file "
                  "beside the checkpoint");
}

void Translation::add_output(const Port& port, Value* value) {
  Graph& graph = *model_.graph;
  const bool is_taken = std::ranges::count(graph.outputs(), value) != 0;
  if (!value->producer() || is_taken || &value->graph() != &graph) {
    scope_->builder.name_after(port.name);
    value = scope_->builder.op("Identity", {value});
  }
  if (Value* owner = graph.find(port.name); owner && owner != value && !owner->is_input())
    graph.rename(owner, graph.fresh_name(port.name + "/value"));
  if (graph.find(port.name) && graph.find(port.name) != value)
    graph.rename(value, graph.fresh_name(port.name));
  else
    graph.rename(value, port.name);
  if (value->type.is_tensor() && port.shape) {
    const Type stated = Type::tensor(value->type.elem, port.shape);
    if (may_match(value->type, stated)) value->type = refine(value->type, stated);
  }
  value->is_declared = true;
  graph.add_output(value);
}

/// Translators leave constants behind that they only looked at, and casts that nobody reads in the end.
void Translation::drop_unused() {
  std::vector<Graph*> roots;
  for (const TrainingInfo& info : model_.training)  // before the graph whose values they read
    for (Graph* graph : {info.algorithm.get(), info.initialization.get()})
      if (graph) roots.push_back(graph);
  roots.push_back(model_.graph.get());
  for (Graph* root : roots) drop_unread(*root);
}

}  // namespace ingot::frontends::tensorflow
