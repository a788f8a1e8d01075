// The part of a graph that trains becomes a graph of its own.
#include "ingot/frontends/tensorflow/training_split.h"

#include <algorithm>
#include <unordered_set>

#include "ingot/base/error.h"

namespace ingot::frontends::tensorflow {
namespace {

/// What the outputs of a graph depend on, inner graphs included.
std::unordered_set<const Value*> needed_values(Graph& main) {
  std::unordered_set<const Value*> needed;
  std::vector<const Value*> stack;
  const auto need = [&](const Value* v) {
    if (v && needed.insert(v).second) stack.push_back(v);
  };
  const auto need_outer = [&](const Value* v) {
    if (v && &v->graph() == &main) need(v);
  };
  for (const Value* v : main.outputs()) need(v);
  while (!stack.empty()) {
    const Node* node = stack.back()->producer();
    stack.pop_back();
    if (!node) continue;
    for (const Value* v : node->inputs()) need(v);
    for_each_subgraph(*node, [&](Graph& sub) {
      for_each_graph(sub, [&](Graph& inner) {
        for (const Node& n : inner.nodes())
          for (const Value* v : n.inputs()) need_outer(v);
        for (const Value* v : inner.outputs()) need_outer(v);
      });
    });
  }
  return needed;
}

class Split {
 public:
  Split(Graph& main, Graph& algorithm) : main_(main), algorithm_(algorithm), kept_(needed_values(main)) {}

  /// Copies of what inference does not need.
  void copy() {
    const auto order = topological_order(main_);
    if (!order) throw Error(Code::cyclic_graph, "the graph has a cycle");
    for (Node* node : *order)
      if (std::ranges::none_of(node->outputs(), [&](const Value* v) { return v && kept_.contains(v); }))
        moved_.push_back(node);
    const Values inputs(main_.inputs().begin(), main_.inputs().end());
    for (Value* v : inputs)
      if (!kept_.contains(v) && !v->uses().empty()) take(v, algorithm_.add_input(main_.fresh_name(v->name()), v->type));
    const Values initializers(main_.initializers().begin(), main_.initializers().end());
    for (Value* v : initializers)
      if (!kept_.contains(v)) take(v, algorithm_.add_initializer(main_.fresh_name(v->name()), *v->initializer));
    for (Node* node : moved_) {
      Node* copy = algorithm_.add_copy(*node, map_);
      for (std::size_t i = 0; i < copy->output_count(); ++i)
        if (copy->output(i)) take(node->output(i), copy->output(i));
    }
  }

  /// Where a value is now.
  Value* now(Value* v) const {
    const auto found = map_.find(v);
    return found == map_.end() ? v : found->second;
  }

  /// Takes the originals out; the copies get their names.
  void erase() {
    for (auto node = moved_.rbegin(); node != moved_.rend(); ++node) main_.erase(*node);
    const auto is_moved = [&](const Value& v) { return !kept_.contains(&v) && v.uses().empty(); };
    main_.erase_inputs_if(is_moved);
    main_.erase_initializers_if(is_moved);
    for (const auto& [copy, name] : names_)
      if (copy->name() != name && !main_.find(name) && !algorithm_.find(name)) algorithm_.rename(copy, name);
  }

 private:
  void take(const Value* v, Value* copy) {
    copy->type = v->type;
    copy->is_declared = v->is_declared;
    map_[v] = copy;
    names_.emplace_back(copy, v->name());
  }

  Graph &main_, &algorithm_;
  std::unordered_set<const Value*> kept_;
  Graph::ValueMap map_;
  std::vector<Node*> moved_;
  std::vector<std::pair<Value*, std::string>> names_;  // of copies, once the originals are gone
};

}  // namespace

TrainingInfo split_training(Graph& main, Variables& variables, const Losses& losses) {
  TrainingInfo info;
  info.algorithm = std::make_unique<Graph>(&main);
  Graph& algorithm = *info.algorithm;
  algorithm.name = "training";
  Split split(main, algorithm);
  split.copy();
  GraphBuilder g(algorithm);
  const auto put_out = [&](Value* v, const std::string& name) {
    Value* out = g.op("Identity", {split.now(v)});
    algorithm.rename(out, algorithm.fresh_name(name));
    out->producer()->name = out->name();
    algorithm.add_output(out);
    return out->name();
  };
  for (const auto& [name, value] : losses) put_out(value, name + "/loss");
  std::vector<std::pair<Value*, Value*>> updates(variables.updates().begin(), variables.updates().end());
  std::ranges::sort(updates, {}, [](const auto& update) { return update.first->name(); });
  std::vector<std::pair<Value*, std::string>> bindings;
  for (const auto& [variable, next] : updates)
    if (!split.now(variable)->uses().empty())  // what nothing reads needs no state
      bindings.emplace_back(split.now(variable), put_out(next, variable->name() + "/next"));
  split.erase();
  for (const auto& [variable, next] : bindings) info.update_binding.emplace_back(variable->name(), next);
  variables.replace([&](Value* v) { return split.now(v); });
  return info;
}

}  // namespace ingot::frontends::tensorflow
