// A model as models that follow each other.
#include "ingot/passes/split.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ingot/base/error.h"
#include "ingot/ir/model.h"
#include "ingot/ir/source_notes.h"
#include "ingot/passes/extract.h"

namespace ingot::passes {
namespace {

constexpr std::string_view kStage = "ingot.stage";

class Splitting {
 public:
  explicit Splitting(const Model& model) : model_(model), graph_(*model.graph) {
    const auto order = topological_order(graph_);
    if (!order) throw Error(Code::cyclic_graph, "the graph has a cycle");
    order_ = *order;
    for (Node* node : order_) {
      owner_[&graph_] = nullptr;
      for_each_subgraph(*node,
                        [&](Graph& sub) { for_each_graph(sub, [&](Graph& nested) { owner_[&nested] = node; }); });
    }
  }

  void by_cuts(const std::vector<std::vector<std::string>>& cuts) {
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      names_.push_back("part_" + std::to_string(i));
      for (const std::string& name : cuts[i]) take_ancestors(name, i);
    }
    names_.push_back("part_" + std::to_string(cuts.size()));
    for (const Node* node : order_) part_.try_emplace(node, cuts.size());
  }

  void by_stage() {
    std::size_t current = 0;
    for (const Node* node : order_) {
      const std::string stage(note_of(node->metadata, kStage));
      if (!stage.empty()) {
        const auto found = std::ranges::find(names_, stage);
        current = static_cast<std::size_t>(found - names_.begin());
        if (found == names_.end()) names_.push_back(stage);
      }
      part_[node] = current;
    }
    if (names_.size() < 2)
      throw Error(Code::bad_usage, "the model's nodes do not name two stages").hint("cut by names: --at");
    for (const Node* node : order_)
      for (const Node* before : makers(*node))
        if (part_[before] > part_[node])
          throw Error(Code::bad_usage, "stage '" + names_[part_[before]] + "' gives what stage '" +
                                           names_[part_[node]] + "' needs, and comes after it");
  }

  void by_size(std::uint64_t most) {
    std::unordered_set<const Value*> counted;
    std::uint64_t size = 0;
    std::size_t part = 0;
    for (const Node* node : order_) {
      std::uint64_t more = 0;
      for (const Value* v : reads(*node))
        if (v->initializer && counted.insert(v).second) more += v->initializer->bytes().size();
      if (size && more && size + more > most) {
        ++part;
        size = 0;
        counted.clear();
      }
      size += more;
      part_[node] = part;
    }
    name_parts(part + 1);
  }

  void by_count(std::size_t parts) {
    std::vector<std::uint64_t> sizes;
    std::unordered_set<const Value*> counted;
    std::uint64_t all = 0;
    for (const Node* node : order_) {
      std::uint64_t size = 1;
      for (const Value* v : reads(*node))
        if (v->initializer && counted.insert(v).second) size += v->initializer->bytes().size();
      sizes.push_back(size);
      all += size;
    }
    std::uint64_t sum = 0, place = 0;
    std::size_t part = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      // By the middle of the node, so that a large one does not pull its neighbours along. One that is larger than a
      // part takes the place of several.
      const std::uint64_t wanted = (sum + sizes[i] / 2) * parts / std::max<std::uint64_t>(all, 1);
      const std::uint64_t before = std::exchange(place, std::max(place, std::min<std::uint64_t>(wanted, parts - 1)));
      if (i > 0 && place > before) ++part;
      part_[order_[i]] = part;
      sum += sizes[i];
    }
    name_parts(part + 1);
  }

  std::vector<Part> parts() const {
    std::vector<Part> made;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::vector<std::string> outputs = outputs_of(i);
      if (outputs.empty()) continue;
      Part part{names_[i], model_.clone()};
      extract(part.model, inputs_of(i), outputs);
      part.model.graph->name = model_.graph->name + "_" + names_[i];
      made.push_back(std::move(part));
    }
    return made;
  }

 private:
  void name_parts(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) names_.push_back("part_" + std::to_string(i));
  }

  /// All values of the main graph that a node reads, in its subgraphs too.
  Values reads(const Node& node) const {
    Values values;
    const auto add = [&](const Node& n) {
      for (Value* v : n.inputs())
        if (v && &v->graph() == &graph_) values.push_back(v);
    };
    add(node);
    for_each_subgraph(node, [&](Graph& sub) {
      for_each_graph(sub, [&](Graph& nested) {
        for (const Node& n : nested.nodes()) add(n);
        for (Value* v : nested.outputs())
          if (v && &v->graph() == &graph_) values.push_back(v);
      });
    });
    return values;
  }

  std::vector<const Node*> makers(const Node& node) const {
    std::vector<const Node*> found;
    for (const Value* v : reads(node))
      if (v->producer()) found.push_back(v->producer());
    return found;
  }

  void take_ancestors(const std::string& name, std::size_t part) {
    const Value* value = graph_.find(name);
    if (!value) throw Error(Code::unknown_name, "the model has no value '" + name + "' to cut at");
    std::vector<const Node*> open;
    if (value->producer()) open.push_back(value->producer());
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (!part_.try_emplace(node, part).second) continue;
      for (const Node* before : makers(*node)) open.push_back(before);
    }
  }

  std::vector<std::string> inputs_of(std::size_t part) const {
    std::vector<std::string> names;
    for (const Node* node : order_) {
      if (part_.at(node) != part) continue;
      for (const Value* v : reads(*node)) {
        const bool comes_in = v->producer() && part_.at(v->producer()) != part;
        if (comes_in && std::ranges::find(names, v->name()) == names.end()) names.push_back(v->name());
      }
    }
    return names;
  }

  std::vector<std::string> outputs_of(std::size_t part) const {
    std::vector<std::string> names;
    for (const Node* node : order_) {
      if (part_.at(node) != part) continue;
      for (const Value* v : node->outputs())
        if (v && is_needed_outside(*v, part)) names.push_back(v->name());
    }
    // What no node makes belongs to the end.
    if (part + 1 == names_.size())
      for (const Value* v : graph_.outputs())
        if (!v->producer()) names.push_back(v->name());
    return names;
  }

  bool is_needed_outside(const Value& v, std::size_t part) const {
    return std::ranges::any_of(v.uses(), [&](const Use& use) {
      const Graph* graph = use.node ? &use.node->graph() : use.graph;
      if (graph == &graph_) return !use.node || part_.at(use.node) != part;
      return part_.at(owner_.at(graph)) != part;
    });
  }

  const Model& model_;
  const Graph& graph_;
  std::vector<Node*> order_;
  std::unordered_map<const Graph*, const Node*> owner_;
  std::unordered_map<const Node*, std::size_t> part_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<Part> split(const Model& model, const SplitOptions& options) {
  const int ways = static_cast<int>(!options.cuts.empty()) + static_cast<int>(options.by_stage) +
                   static_cast<int>(options.most_bytes != 0) + static_cast<int>(options.parts != 0);
  if (ways != 1) throw Error(Code::bad_usage, "a model is split in one way: by names, stages, size or number");
  Splitting splitting(model);
  if (!options.cuts.empty()) splitting.by_cuts(options.cuts);
  if (options.by_stage) splitting.by_stage();
  if (options.most_bytes) splitting.by_size(options.most_bytes);
  if (options.parts) splitting.by_count(options.parts);
  return splitting.parts();
}

}  // namespace ingot::passes
