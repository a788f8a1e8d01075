// The part of a graph that trains: what makes a step, what it makes small, and how variables begin.
#include "ingot/frontends/tensorflow/training.h"

#include "ingot/base/error.h"
#include "ingot/frontends/tensorflow/model_inputs.h"
#include "ingot/frontends/tensorflow/training_nodes.h"
#include "ingot/frontends/tensorflow/training_split.h"
#include "ingot/ir/drop_unread.h"

namespace ingot::frontends::tensorflow {
namespace {

/// What a step reads and inference does not becomes an input too.
void add_training_inputs(Translation& t, const std::vector<std::int32_t>& roots) {
  const Body& main = t.main();
  const auto add_once = [&](const Port& port) {
    const Source source = main.resolve(port.tensor);
    if (t.is_cut(source)) return;
    // What both signatures call by one name is one input.
    Value* same = t.root().find(port.name);
    const bool is_same = same && same->is_input() && (port.dtype == DType::undefined || same->type.elem == port.dtype);
    if (is_same)
      t.cut(source, same);
    else
      add_input(t, port);
  };
  for (const Port& port : t.options().train_inputs) add_once(port);
  const std::vector<bool> needed = ancestors(main, roots);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const tf::NodeDef& node = main.node(static_cast<std::int32_t>(i));
    if (needed[i] && node.op.starts_with("Placeholder") && node.op != "PlaceholderWithDefault")
      add_once({node.name, node.name});
  }
}

/// No signature says what is made small: a single real number that nothing reads, apart from its own gradient.
Losses likely_losses(Translation& t) {
  const Body& main = t.main();
  std::vector<Port> sinks = find_sinks(main);
  drop_beginnings(main, sinks);
  Losses losses, unsure;  // unsure: whose rank is not known
  for (const Port& port : sinks) {
    Value* v = t.get(t.main_scope(), main.resolve(port.tensor)).value;
    if (!v || !is_float(v->type.elem)) continue;
    if (!v->type.shape) unsure.emplace_back(port.name, v);
    if (v->type.shape && v->type.shape->empty()) losses.emplace_back(port.name, v);
  }
  return losses.empty() ? unsure : losses;
}

/// Constants are made in the main graph, which an initialization does not see.
void copy_outer_constants(Graph& graph) {
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

/// `names`: of the variables, by the names of their nodes.
void add_initialization(Translation& t, TrainingInfo& info, const std::map<std::string, std::string>& names) {
  const Body& main = t.main();
  std::vector<std::pair<std::string, Source>> begins;
  for (const auto& [node, value] : beginnings(main)) {
    const auto name = names.find(main.node(node).name);
    if (name == names.end()) continue;
    const bool is_own = info.algorithm && info.algorithm->find(name->second);
    if (is_own || t.root().find(name->second)) begins.emplace_back(name->second, value);
  }
  if (begins.empty()) return;
  info.initialization = std::make_unique<Graph>(&t.root());
  Graph& graph = *info.initialization;
  graph.name = "initialization";
  Scope scope(main, nullptr, graph, Scope::Kind::body);
  for (const auto& [name, source] : begins) {
    Value* value = t.get(scope, source).value;
    if (!value) continue;  // its problem is listed
    scope.builder.name_after("init/" + name);
    Value* out = scope.builder.op("Identity", {value});
    graph.rename(out, graph.fresh_name("init/" + name));
    graph.add_output(out);
    out->producer()->name = out->name();
    info.initialization_binding.emplace_back(name, out->name());
  }
  copy_outer_constants(graph);
}

}  // namespace

Losses translate_training(Translation& t) {
  const Body& main = t.main();
  const std::vector<Port>& outputs = t.options().train_outputs;
  const std::vector<std::int32_t> updates = outputs.empty() ? t.update_nodes(main) : std::vector<std::int32_t>();
  std::vector<std::int32_t> roots = updates;
  for (const Port& port : outputs) roots.push_back(main.resolve(port.tensor).node);
  add_training_inputs(t, roots);
  Losses losses;
  for (const Port& port : outputs)
    if (Value* v = t.get(t.main_scope(), main.resolve(port.tensor)).value) losses.emplace_back(port.name, v);
  for (const std::int32_t node : updates) t.get(t.main_scope(), {node, 0});
  if (!losses.empty() || updates.empty()) return losses;
  losses = likely_losses(t);
  t.throw_problems();
  if (losses.empty())
    throw Error(Code::unsupported_setting, "nothing in the graph looks like a loss: a real number that nobody reads")
        .hint("name it with --outputs");
  return losses;
}

void finish_training(Translation& t, const Losses& losses) {
  Model& model = t.model();
  if (!t.variables().updates().empty()) model.training.push_back(split_training(t.root(), t.variables(), losses));
  std::map<std::string, std::string> names;
  for (const auto& [name, variable] : t.variables().all()) names.emplace(name, variable->name());
  drop_unread(model);  // variables too: what is left begins somehow
  TrainingInfo info;
  if (!model.training.empty()) info = std::move(model.training.back());
  model.training.clear();
  add_initialization(t, info, names);
  if (info.algorithm || info.initialization) model.training.push_back(std::move(info));
}

}  // namespace ingot::frontends::tensorflow
