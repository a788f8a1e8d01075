// A model among targets.
#include "ingot/passes/partition/partition.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ingot/base/error.h"

namespace ingot::passes {
namespace {

std::uint64_t bytes_of(const Value& v) {
  if (!v.type.is_tensor() || !v.type.shape) return 1;
  std::uint64_t count = 1;
  for (const Dim& d : *v.type.shape)
    if (d.is_known() && d.value() > 0) count *= static_cast<std::uint64_t>(d.value());
  constexpr std::uint64_t kText = 16;
  const std::uint64_t bits =
      v.type.elem == DType::string ? kText * 8 : static_cast<std::uint64_t>(bits_of(v.type.elem));
  return std::max<std::uint64_t>(1, count * bits / 8);
}

/// All of a model but what its graph holds.
Model frame_of(const Model& model) {
  Model frame = model.clone();
  frame.graph = std::make_unique<Graph>();
  return frame;
}

class Work {
 public:
  Work(const Model& model, const PartitionOptions& options) : model_(model), graph_(*model.graph), options_(options) {
    const auto order = topological_order(graph_);
    if (!order) throw Error(Code::cyclic_graph, "the graph has a cycle");
    order_ = *order;
    for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
    for (const Value* v : graph_.outputs()) outputs_.insert(v);
    frame_ = frame_of(model);
  }

  Partition run() {
    colour();
    count();
    if (options_.least_nodes > 1) move_small();
    Division division = divide(pieces_);
    const auto tied = tied_groups();
    while (hand_on_tied(tied, division)) division = divide(pieces_);
    Partition made;
    made.crossing = crossing_bytes(pieces_, division);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      nodes_[i].part = division.part_of[i];
      made.nodes.push_back(nodes_[i]);
    }
    std::vector<std::vector<std::size_t>> nodes(division.colours.size());
    for (std::size_t i = 0; i < order_.size(); ++i) nodes[division.part_of[i]].push_back(i);
    for (std::size_t p = 0; p < nodes.size(); ++p) made.parts.push_back(part(p, division, nodes[p]));
    if (auto rest = what_no_node_makes(nodes.size())) made.parts.push_back(std::move(*rest));
    made.crossings = crossings(division);
    return made;
  }

 private:
  void colour() {
    std::string problems;
    for (const Node* node : order_) {
      PartitionNode& row = nodes_.emplace_back();
      row.node = node->label();
      row.op = node->domain.empty() ? node->op : node->domain + "." + node->op;
      std::size_t target = 0;
      for (; target < options_.targets.size(); ++target) {
        const auto no = why_not_run(options_.targets[target], *node, model_.opsets);
        if (!no) break;
        row.refusals.emplace_back(options_.targets[target].name, *no);
      }
      if (target == options_.targets.size())
        problems += "\n  " + row.node + " (" + row.op +
                    "): " + (row.refusals.empty() ? std::string("no target") : row.refusals.back().second.reason);
      pieces_.colours.push_back(target);
    }
    if (!problems.empty())
      throw Error(Code::unsupported_feature, "no target runs all of the model:" + problems)
          .hint("end the list with a target that runs everything: --targets ...,ingot");
  }

  void count() {
    std::unordered_map<const Value*, std::size_t> numbers;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      std::uint64_t weights = 0;
      for (const Value* v : reads(*order_[i])) {
        if (v->initializer) weights += v->initializer->bytes().size();
        if (!v->producer()) continue;
        const auto [it, is_new] = numbers.try_emplace(v, pieces_.bytes.size());
        if (is_new) pieces_.bytes.push_back(bytes_of(*v));
        pieces_.edges.push_back({place_.at(v->producer()), i, it->second});
        readers_[v].push_back(i);
      }
      pieces_.weights.push_back(weights);
    }
    for (const PartitionTarget& target : options_.targets) pieces_.limits.push_back(target.most_bytes);
  }

  /// A part that is not worth its crossings goes to the next target that runs all of it.
  void move_small() {
    for (std::size_t c = 0; c + 1 < options_.targets.size(); ++c) {
      const Division division = divide(pieces_);
      std::vector<std::size_t> sizes(division.colours.size(), 0);
      for (const std::size_t p : division.part_of) ++sizes[p];
      for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::size_t p = division.part_of[i];
        if (division.colours[p] != c || sizes[p] >= options_.least_nodes) continue;
        hand_on(i, {"PART_TOO_SMALL", "its part would have " + std::to_string(sizes[p]) + " nodes", "--min-nodes 1"});
      }
    }
  }

  /// Gives a node to the next target that runs it; false: there is none.
  bool hand_on(std::size_t node, const Fallback& why) {
    std::size_t& colour = pieces_.colours[node];
    for (std::size_t next = colour + 1; next < options_.targets.size(); ++next) {
      auto no = why_not_run(options_.targets[next], *order_[node], model_.opsets);
      if (no) continue;
      nodes_[node].refusals.emplace_back(options_.targets[colour].name, why);
      colour = next;
      return true;
    }
    return false;
  }

  /// Nodes that hand each other what is no tensor, or of no known type: only Ingot takes that from other parts.
  struct Tied {
    std::vector<std::size_t> nodes;
    const Value* value = nullptr;  // one of those
    bool is_port = false;          // such a value is an input or an output of the model
  };
  std::vector<Tied> tied_groups() const {
    std::vector<std::size_t> above(order_.size());
    for (std::size_t i = 0; i < above.size(); ++i) above[i] = i;
    const auto root = [&](std::size_t i) {
      for (; above[i] != i; i = above[i]) above[i] = above[above[i]];
      return i;
    };
    std::vector<std::pair<std::size_t, const Value*>> ties;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      for (const Value* v : reads(*order_[i]))
        if (!v->type.is_tensor() && (v->producer() || v->is_input())) {
          ties.emplace_back(i, v);
          if (v->producer()) above[root(i)] = root(place_.at(v->producer()));
        }
      for (const Value* v : order_[i]->outputs())
        if (v && !v->type.is_tensor() && outputs_.contains(v)) ties.emplace_back(i, v);
    }
    std::unordered_map<std::size_t, std::size_t> places;
    std::vector<Tied> groups;
    for (const auto& [i, v] : ties) {
      const auto [it, is_new] = places.try_emplace(root(i), groups.size());
      Tied& group = is_new ? groups.emplace_back() : groups[it->second];
      group.value = v;
      group.is_port |= v->is_input() || outputs_.contains(v);
    }
    for (std::size_t i = 0; i < order_.size(); ++i)
      if (const auto it = places.find(root(i)); it != places.end()) groups[it->second].nodes.push_back(i);
    return groups;
  }

  bool hand_on_tied(const std::vector<Tied>& groups, const Division& division) {
    bool has_moved = false;
    for (const Tied& group : groups) {
      const auto is_elsewhere = [&](std::size_t i) {
        return division.part_of[i] != division.part_of[group.nodes.front()];
      };
      if (!group.is_port && std::ranges::none_of(group.nodes, is_elsewhere)) continue;
      const Fallback why{
          "UNSUPPORTED_NODE_INPUT",
          "'" + group.value->name() + "' is no tensor: nothing else passes into its parts and out of them", ""};
      for (const std::size_t i : group.nodes)
        if (!options_.targets[pieces_.colours[i]].takes_all) has_moved |= hand_on(i, why);
    }
    return has_moved;
  }

  /// The values of the main graph that a node reads, in its subgraphs too, each once.
  Values reads(const Node& node) const {
    Values values;
    const auto add = [&](Value* v) {
      if (v && &v->graph() == &graph_ && std::ranges::find(values, v) == values.end()) values.push_back(v);
    };
    for (Value* v : node.inputs()) add(v);
    for_each_subgraph(node, [&](Graph& sub) {
      for_each_graph(sub, [&](Graph& nested) {
        for (const Node& n : nested.nodes())
          for (Value* v : n.inputs()) add(v);
        for (Value* v : nested.outputs()) add(v);
      });
    });
    return values;
  }

  /// Made anew from its nodes: a copy of the whole for each part would take long where there are many.
  PartitionPart part(std::size_t number, const Division& division, const std::vector<std::size_t>& nodes) const {
    PartitionPart made{"part_" + std::to_string(number), options_.targets[division.colours[number]].name, nodes.size(),
                       frame_.clone()};
    Graph& graph = *made.model.graph;
    graph.name = graph_.name + "_" + made.name;
    Graph::ValueMap map;
    std::vector<Value*> outputs;
    for (const std::size_t i : nodes) {
      for (const Value* v : reads(*order_[i]))
        if (!map.contains(v)) map[v] = brought(graph, *v);
      graph.add_copy(*order_[i], map);
      for (const Value* v : order_[i]->outputs())
        if (v && map.at(v)->name() != v->name() && !graph.find(v->name()))
          graph.rename(map.at(v), v->name());  // a body has the name too, and parts find each other by theirs
      for (const Value* v : order_[i]->outputs())
        if (v && is_needed_outside(v, number, division)) outputs.push_back(map.at(v));
    }
    for (Value* v : outputs) {
      v->is_declared = true;
      graph.add_output(v);
    }
    return made;
  }

  /// Outputs of the model that are weights or inputs: a part of no nodes gives them, which needs no target.
  std::optional<PartitionPart> what_no_node_makes(std::size_t number) const {
    PartitionPart made{"part_" + std::to_string(number), "ingot", 0, frame_.clone()};
    Graph& graph = *made.model.graph;
    graph.name = graph_.name + "_" + made.name;
    for (const Value* v : graph_.outputs())
      if (!v->producer() && !graph.find(v->name())) graph.add_output(brought(graph, *v));
    for (Value* v : graph.outputs()) v->is_declared = true;
    return graph.output_count() ? std::optional(std::move(made)) : std::nullopt;
  }

  /// What a part reads and does not make: a weight, or an input.
  static Value* brought(Graph& graph, const Value& v) {
    if (v.sparse_initializer)
      throw Error(Code::unsupported_feature, "'" + v.name() + "' is a sparse weight, which no part can have");
    Value* copy = nullptr;
    if (v.initializer && !v.producer()) {
      copy = graph.add_initializer(v.name(), *v.initializer);
      if (v.is_input()) graph.set_is_input(copy, true);
    } else {
      if (!v.type)
        throw Error(Code::bad_usage, "the type of '" + v.name() + "' is not known: no part can begin with it");
      copy = graph.add_input(v.name(), v.type);
    }
    copy->type = v.type;
    copy->is_declared = copy->is_input();
    copy->doc_string = v.doc_string;
    copy->metadata = v.metadata;
    return copy;
  }

  bool is_needed_outside(const Value* v, std::size_t number, const Division& division) const {
    if (outputs_.contains(v)) return true;
    const auto it = readers_.find(v);
    if (it == readers_.end()) return false;
    return std::ranges::any_of(it->second, [&](std::size_t i) { return division.part_of[i] != number; });
  }

  std::size_t crossings(const Division& division) const {
    std::size_t count = 0;
    for (const auto& [v, list] : readers_) {
      if (!v->producer()) continue;
      const std::size_t home = division.part_of[place_.at(v->producer())];
      count += std::ranges::any_of(list, [&](std::size_t i) { return division.part_of[i] != home; });
    }
    return count;
  }

  const Model& model_;
  const Graph& graph_;
  const PartitionOptions& options_;
  std::vector<Node*> order_;
  std::unordered_map<const Node*, std::size_t> place_;
  std::unordered_map<const Value*, std::vector<std::size_t>> readers_;
  std::unordered_set<const Value*> outputs_;
  std::vector<PartitionNode> nodes_;
  Model frame_;  // all but the graph
  Pieces pieces_;
};

}  // namespace

Partition partition(const Model& model, const PartitionOptions& options) {
  if (options.targets.empty()) throw Error(Code::bad_usage, "there is no target");
  if (!model.training.empty())
    throw Error(Code::bad_usage, "a model with training information is not divided")
        .hint("'ingot strip-training' takes it out");
  return Work(model, options).run();
}

namespace {

/// A part as a function of what it reads, weights included, and the call of it in `graph`.
std::unique_ptr<Function> called(Graph& graph, const PartitionPart& part, const OpsetImports& opsets) {
  auto function = std::make_unique<Function>();
  function->domain = kPartDomain;
  function->name = part.name;
  function->opsets = opsets;
  function->doc_string = "runs on " + part.target;
  function->metadata.emplace_back("ingot.target", part.target);
  function->body = std::make_unique<Graph>();
  Graph& body = *function->body;
  body.is_function_body = true;
  body.name = part.name;
  const Graph& from = *part.model.graph;
  Graph::ValueMap map;
  std::vector<const Value*> inputs;
  const auto add = [&](const Value* v) {
    if (map.contains(v)) return;
    map[v] = body.add_input(v->name());
    inputs.push_back(v);
  };
  for (const Value* v : from.inputs()) add(v);
  for (const Value* v : from.initializers()) add(v);
  for (const Node& node : from.nodes()) body.add_copy(node, map);
  Node* call = graph.add_node(part.name, std::string(kPartDomain));
  call->name = part.name;
  call->metadata.emplace_back("ingot.target", part.target);
  for (const Value* v : inputs) {
    Value* mine = graph.find(v->name());
    call->add_input(mine ? mine : graph.add_initializer(v->name(), *v->initializer));
  }
  for (const Value* v : from.outputs()) {
    body.add_output(map.at(v));
    call->add_output(v->name())->type = v->type;
  }
  return function;
}

}  // namespace

Model as_functions(const Model& model, const Partition& partition) {
  Model made = frame_of(model);
  Graph& graph = *made.graph;
  graph.name = model.graph->name;
  for (const Value* v : model.graph->inputs()) {
    Value* mine = v->initializer ? graph.add_initializer(v->name(), *v->initializer) : graph.add_input(v->name());
    if (v->initializer) graph.set_is_input(mine, true);
    mine->type = v->type;
    mine->is_declared = true;
  }
  for (const PartitionPart& part : partition.parts)
    if (part.nodes) made.functions.push_back(called(graph, part, model.opsets));
  for (const Value* v : model.graph->outputs()) {
    Value* mine = graph.find(v->name());
    if (!mine) mine = graph.add_initializer(v->name(), *v->initializer);  // what no node makes
    mine->is_declared = true;
    graph.add_output(mine);
  }
  made.opsets.set(kPartDomain, 1);
  constexpr std::int64_t kHasMetadata = 10;
  made.ir_version = std::max(made.ir_version, kHasMetadata);
  return made;
}

}  // namespace ingot::passes
