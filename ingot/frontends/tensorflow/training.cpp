// The part of a graph that trains: which nodes change variables, how these begin, and where they go in the model.
#include <algorithm>
#include <set>
#include <utility>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {
namespace {

bool is_variable(std::string_view op) { return op == "VarHandleOp" || op == "VariableV2" || op == "Variable"; }

bool is_plain_assignment(std::string_view op) { return op == "Assign" || op == "AssignVariableOp"; }

bool is_step(std::string_view op) {
  return op.starts_with("Apply") || op.starts_with("ResourceApply") || op.starts_with("AssignAdd") ||
         op.starts_with("AssignSub");
}

/// The nodes that `from` depends on, by data and by control.
std::vector<bool> ancestors(const Body& body, const std::vector<std::int32_t>& from) {
  std::vector<bool> seen(body.size(), false);
  std::vector<std::int32_t> stack;
  const auto visit = [&](std::int32_t node) {
    if (node < 0 || seen[static_cast<std::size_t>(node)]) return;
    seen[static_cast<std::size_t>(node)] = true;
    stack.push_back(node);
  };
  for (const std::int32_t node : from) visit(node);
  while (!stack.empty()) {
    const std::int32_t node = stack.back();
    stack.pop_back();
    for (const Source& s : body.inputs(node)) visit(s.node);
    for (const std::int32_t c : body.controls(node)) visit(c);
  }
  return seen;
}

/// Which nodes' values change from step to step: they depend on variables, inputs, arguments or a checkpoint.
std::vector<bool> changing(const Body& body) {
  std::vector<bool> changes(body.size(), false);
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (changes[i]) continue;
      const std::string& op = body.node(static_cast<std::int32_t>(i)).op;
      bool now = is_variable(op) || op == "Placeholder" || op == "PlaceholderV2" || op.starts_with("Restore");
      for (const Source& s : body.inputs(static_cast<std::int32_t>(i)))
        now |= s.node < 0 || changes[static_cast<std::size_t>(s.node)];
      changes[i] = now;
      more |= now;
    }
  }
  return changes;
}

}  // namespace

void Translation::assign(const TfNode& n, Value* variable, Value* next) {
  if (options_.mode == ImportMode::inference) {
    note("'" + n.name() + "' (" + n.op() + ") gives its new value; the model keeps no state");
    return;
  }
  const auto found = std::ranges::find_if(variables_, [&](const auto& entry) { return entry.second == variable; });
  if (found == variables_.end()) n.unsupported("what it changes is no variable of the model");
  updates_.insert_or_assign(variable, next);
}

/// Nodes of a body that change variables when it runs; of the main graph, those that lead to the named train operation.
std::vector<std::int32_t> Translation::update_nodes(const Body& body) const {
  const bool is_main = &body == main_.get();
  std::vector<bool> is_asked(body.size(), true);
  if (is_main && !options_.train_operations.empty()) {
    std::vector<std::int32_t> roots;
    for (const std::string& name : options_.train_operations)
      roots.push_back(body.find(name.substr(0, name.find(':'))));
    is_asked = ancestors(body, roots);
  }
  const std::vector<bool> changes = is_main ? changing(body) : std::vector<bool>(body.size(), true);
  std::vector<std::int32_t> nodes;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const auto node = static_cast<std::int32_t>(i);
    const std::string& op = body.node(node).op;
    if (!is_asked[i] || (!is_step(op) && !is_plain_assignment(op))) continue;
    if (is_plain_assignment(op)) {
      // What never changes is how a variable begins; what comes from a file belongs to saving.
      const Source value = body.inputs(node).size() > 1 ? body.behind_identities(body.inputs(node)[1]) : Source{};
      const bool is_saving = value.node >= 0 && body.node(value.node).op.starts_with("Restore");
      const bool begins = value.node >= 0 && !changes[static_cast<std::size_t>(value.node)];
      if (is_saving || begins) continue;
    }
    nodes.push_back(node);
  }
  return nodes;
}

/// Assignments of values that never change, by the variable's node.
std::map<std::int32_t, Source> Translation::beginnings() const {
  const std::vector<bool> changes = changing(*main_);
  std::map<std::int32_t, Source> found;
  for (std::size_t i = 0; i < main_->size(); ++i) {
    const auto node = static_cast<std::int32_t>(i);
    if (!is_plain_assignment(main_->node(node).op) || main_->inputs(node).size() < 2) continue;
    const Source variable = main_->behind_identities(main_->inputs(node)[0]), value = main_->inputs(node)[1];
    if (variable.node < 0 || value.node < 0 || !is_variable(main_->node(variable.node).op)) continue;
    if (!changes[static_cast<std::size_t>(value.node)]) found.try_emplace(variable.node, value);
  }
  return found;
}

Value* Translation::value_after(const TfNode& n, Value* variable) {
  // A read that waits for an update sees its result.
  const Body& body = n.scope().body;
  const std::int32_t self = body.find(n.name());
  if (self < 0 || body.controls(self).empty()) return variable;
  const std::vector<bool> before = ancestors(body, {body.controls(self).begin(), body.controls(self).end()});
  for (const std::int32_t node : update_nodes(body)) {
    if (!before[static_cast<std::size_t>(node)] || body.inputs(node).empty()) continue;
    const Operand target = get(n.scope(), body.inputs(node)[0]);
    const bool is_same =
        target.value == variable || (target.resource && target.resource->kind == Resource::Kind::variable &&
                                     this->variable(*target.resource) == variable);
    if (!is_same) continue;
    get(n.scope(), {node, 0});
    if (const auto found = updates_.find(variable); found != updates_.end()) return found->second;
  }
  return variable;
}

std::optional<Tensor> Translation::blank(const Resource& resource) const {
  const std::int32_t node = main_->find(resource.name);
  if (node < 0) return std::nullopt;
  const tf::AttrValue *shape = main_->node(node).find("shape"), *type = main_->node(node).find("dtype");
  const auto* dims = shape ? std::get_if<tf::TensorShape>(shape) : nullptr;
  const auto* dtype = type ? std::get_if<tf::DataType>(type) : nullptr;
  if (!dims || !dtype || dims->unknown_rank) return std::nullopt;
  for (const std::int64_t dim : dims->dims)
    if (dim < 0) return std::nullopt;
  const DType elem = tf::dtype_of(*dtype);
  const std::uint64_t count = tf::element_count(*dims);
  const Tensor zero = Tensor::scalar(0, elem);
  if (zero.bytes().empty() || count > (std::uint64_t{1} << 40)) return std::nullopt;
  const std::uint64_t bytes = count * zero.bytes().size();
  budget_.charge_memory(bytes);
  return Tensor(elem, dims->dims, Bytes::own(std::string(static_cast<std::size_t>(bytes), char{0})));
}

void Translation::add_initialization(TrainingInfo& info, const std::map<std::string, std::string>& names) {
  std::vector<std::pair<std::string, Source>> begins;
  for (const auto& [node, value] : beginnings()) {
    const auto name = names.find(main_->node(node).name);
    if (name == names.end()) continue;
    const bool is_own = info.algorithm && info.algorithm->find(name->second);
    if (is_own || model_.graph->find(name->second)) begins.emplace_back(name->second, value);
  }
  if (begins.empty()) return;
  info.initialization = std::make_unique<Graph>(model_.graph.get());
  Graph& graph = *info.initialization;
  graph.name = "initialization";
  Scope scope(*main_, nullptr, graph, Scope::Kind::body);
  for (const auto& [name, source] : begins) {
    Value* value = get(scope, source).value;
    if (!value) continue;  // its problem is listed
    scope.builder.name_after("init/" + name);
    Value* out = scope.builder.op("Identity", {value});
    graph.rename(out, graph.fresh_name("init/" + name));
    graph.add_output(out);
    out->producer()->name = out->name();
    info.initialization_binding.emplace_back(name, out->name());
  }
  // Constants are made in the main graph, which an initialization does not see.
  Graph::ValueMap own;
  for (Node& node : graph.nodes()) {
    for (std::size_t i = 0; i < node.input_count(); ++i) {
      const Value* v = node.input(i);
      if (!v || &v->graph() == &graph || !v->initializer) continue;
      Value*& copy = own[v];
      if (!copy) copy = graph.add_initializer(graph.fresh_name("init/" + v->name()), *v->initializer);
      node.set_input(i, copy);
    }
  }
}

/// Values that only say how variables begin are no outputs of the model.
void Translation::drop_beginnings() {
  std::set<std::string> names;
  for (const auto& [variable, value] : beginnings()) names.insert(main_->node(value.node).name);
  std::erase_if(outputs_, [&](const Port& port) { return names.contains(port.tensor); });
}

/// Translates whatever makes a step, and finds what it makes small.
std::vector<std::pair<std::string, Value*>> Translation::translate_training() {
  const std::vector<std::int32_t> updates =
      options_.train_outputs.empty() ? update_nodes(*main_) : std::vector<std::int32_t>();
  std::vector<std::int32_t> roots = updates;
  for (const Port& port : options_.train_outputs) roots.push_back(main_->resolve(port.tensor).node);
  const auto add_once = [&](const Port& port) {
    const Source source = main_->resolve(port.tensor);
    if (!cuts_.contains({source.node, source.port})) add_input(port);
  };
  for (const Port& port : options_.train_inputs) add_once(port);
  const std::vector<bool> needed = ancestors(*main_, roots);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const tf::NodeDef& node = main_->node(static_cast<std::int32_t>(i));
    if (needed[i] && node.op.starts_with("Placeholder") && node.op != "PlaceholderWithDefault")
      add_once({node.name, node.name});
  }
  std::vector<std::pair<std::string, Value*>> losses;
  for (const Port& port : options_.train_outputs)
    if (Value* v = get(*scope_, main_->resolve(port.tensor)).value) losses.emplace_back(port.name, v);
  for (const std::int32_t node : updates) get(*scope_, {node, 0});
  if (!losses.empty() || updates.empty()) return losses;
  // No signature says what is made small: a single real number that nothing reads, apart from its own gradient.
  const std::vector<Port> asked = outputs_;
  outputs_.clear();
  find_sinks();
  drop_beginnings();
  const std::vector<Port> sinks = std::exchange(outputs_, asked);
  std::vector<std::pair<std::string, Value*>> unsure;  // whose rank is not known
  for (const Port& port : sinks) {
    Value* v = get(*scope_, main_->resolve(port.tensor)).value;
    if (!v || !is_float(v->type.elem)) continue;
    if (!v->type.shape) unsure.emplace_back(port.name, v);
    if (v->type.shape && v->type.shape->empty()) losses.emplace_back(port.name, v);
  }
  if (losses.empty()) losses = unsure;
  throw_problems();
  if (losses.empty())
    throw Error(Code::unsupported_setting, "nothing in the graph looks like a loss: a real number that nobody reads")
        .hint("name it with --outputs");
  return losses;
}

/// Nodes that inference does not need go into the algorithm, with inputs and variables that only it reads.
void Translation::split_training(const std::vector<std::pair<std::string, Value*>>& losses) {
  Graph& main = *model_.graph;
  std::set<const Value*> kept;
  std::vector<const Value*> stack;
  const auto keep = [&](const Value* v) {
    if (v && kept.insert(v).second) stack.push_back(v);
  };
  for (const Value* v : main.outputs()) keep(v);
  while (!stack.empty()) {
    const Node* node = stack.back()->producer();
    stack.pop_back();
    if (!node) continue;
    for (const Value* v : node->inputs()) keep(v);
    for_each_subgraph(*node, [&](Graph& sub) {
      for_each_graph(sub, [&](Graph& inner) {
        for (const Node& n : inner.nodes())
          for (const Value* v : n.inputs())
            if (v && &v->graph() == &main) keep(v);
        for (const Value* v : inner.outputs())
          if (v && &v->graph() == &main) keep(v);
      });
    });
  }
  TrainingInfo info;
  info.algorithm = std::make_unique<Graph>(&main);
  Graph& algorithm = *info.algorithm;
  algorithm.name = "training";
  const auto order = topological_order(main);
  if (!order) throw Error(Code::cyclic_graph, "the graph has a cycle");
  Graph::ValueMap map;
  std::vector<Node*> moved;
  for (Node* node : *order)
    if (std::ranges::none_of(node->outputs(), [&](const Value* v) { return v && kept.contains(v); }))
      moved.push_back(node);
  std::vector<std::pair<Value*, std::string>> names;  // theirs, once the originals are gone
  const auto take = [&](const Value* v, Value* copy) {
    copy->type = v->type;
    copy->is_declared = v->is_declared;
    map[v] = copy;
    names.emplace_back(copy, v->name());
  };
  const Values inputs(main.inputs().begin(), main.inputs().end());
  for (Value* v : inputs)
    if (!kept.contains(v) && !v->uses().empty()) take(v, algorithm.add_input(main.fresh_name(v->name()), v->type));
  const Values initializers(main.initializers().begin(), main.initializers().end());
  for (Value* v : initializers)
    if (!kept.contains(v)) take(v, algorithm.add_initializer(main.fresh_name(v->name()), *v->initializer));
  for (Node* node : moved) {
    Node* copy = algorithm.add_copy(*node, map);
    for (std::size_t i = 0; i < copy->output_count(); ++i)
      if (copy->output(i)) take(node->output(i), copy->output(i));
  }
  const auto now = [&](Value* v) {
    const auto found = map.find(v);
    return found == map.end() ? v : found->second;
  };
  GraphBuilder g(algorithm);
  const auto put_out = [&](Value* v, const std::string& name) {
    Value* out = g.op("Identity", {now(v)});
    algorithm.rename(out, algorithm.fresh_name(name));
    out->producer()->name = out->name();
    algorithm.add_output(out);
    return out->name();
  };
  for (const auto& [name, value] : losses) put_out(value, name + "/loss");
  std::vector<std::pair<Value*, Value*>> updates(updates_.begin(), updates_.end());
  std::ranges::sort(updates, {}, [](const auto& update) { return update.first->name(); });
  std::vector<std::pair<Value*, std::string>> bindings;
  for (const auto& [variable, next] : updates)
    if (!now(variable)->uses().empty())  // what nothing reads needs no state
      bindings.emplace_back(now(variable), put_out(next, variable->name() + "/next"));
  for (auto node = moved.rbegin(); node != moved.rend(); ++node) main.erase(*node);
  const auto is_moved = [&](const Value& v) { return !kept.contains(&v) && v.uses().empty(); };
  main.erase_inputs_if(is_moved);
  main.erase_initializers_if(is_moved);
  for (const auto& [copy, name] : names)
    if (copy->name() != name && !main.find(name) && !algorithm.find(name)) algorithm.rename(copy, name);
  for (const auto& [variable, next] : bindings) info.update_binding.emplace_back(variable->name(), next);
  for (auto& [name, variable] : variables_) variable = now(variable);
  model_.training.push_back(std::move(info));
}

void Translation::finish_training(const std::vector<std::pair<std::string, Value*>>& losses) {
  if (!updates_.empty()) split_training(losses);
  std::map<std::string, std::string> names;
  for (const auto& [name, variable] : variables_) names.emplace(name, variable->name());
  drop_unused();  // variables too: what is left begins somehow
  TrainingInfo info;
  if (!model_.training.empty()) info = std::move(model_.training.back());
  model_.training.clear();
  add_initialization(info, names);
  if (info.algorithm || info.initialization) model_.training.push_back(std::move(info));
}

}  // namespace ingot::frontends::tensorflow
