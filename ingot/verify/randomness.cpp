// Which outputs are random.
#include "ingot/verify/randomness.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ingot/ir/source_notes.h"

namespace ingot::verify {
namespace {

using Name = std::pair<std::string, std::string>;  // domain and operator

bool draws(const Node& node) {
  for (const char* op :
       {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"})
    if (node.is(op)) return true;
  return false;
}

std::string name_of(const Node& node) {
  if (const std::string_view source = note_of(node.metadata, kSource); !source.empty()) return std::string(source);
  if (!node.name.empty()) return node.name;
  return node.outputs().empty() || !node.output(0) ? node.op : node.output(0)->name();
}

class Search {
 public:
  explicit Search(const Model& model) {
    // Functions may call each other.
    for (bool grows = true; grows;) {
      grows = false;
      for (const auto& function : model.functions) {
        const Name name{function->domain, function->name};
        if (random_.contains(name) || found_in(*function->body).empty()) continue;
        grows = random_.insert(name).second;
      }
    }
  }

  /// What draws inside of a graph, and what is nested in it.
  std::string found_in(Graph& graph) const {
    std::string found;
    for_each_graph(graph, [&](Graph& inner) {
      for (const Node& node : inner.nodes())
        if (found.empty() && (draws(node) || random_.contains({node.domain, node.op}))) found = name_of(node);
    });
    return found;
  }

  std::string found_by(const Node& node) const {
    if (draws(node) || random_.contains({node.domain, node.op})) return name_of(node);
    std::string found;
    for_each_subgraph(node, [&](Graph& inner) {
      if (found.empty()) found = found_in(inner);
    });
    return found;
  }

 private:
  std::set<Name> random_;
};

}  // namespace

std::string random_origin(const Model& model, const std::string& output) {
  const Search search(model);
  const Value* start = model.graph->find(output);
  std::vector<const Node*> pending;
  std::unordered_set<const Node*> seen;
  const auto follow = [&](const Value* v) {
    const Node* node = v ? v->producer() : nullptr;
    if (node && &node->graph() == model.graph.get() && seen.insert(node).second) pending.push_back(node);
  };
  follow(start);
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (std::string found = search.found_by(*node); !found.empty()) return found;
    for (const Value* v : node->inputs()) follow(v);
    for_each_subgraph(*node, [&](Graph& nested) {
      for_each_graph(nested, [&](Graph& inner) {
        for (const Node& reader : inner.nodes())
          for (const Value* v : reader.inputs()) follow(v);
        for (const Value* v : inner.outputs()) follow(v);
      });
    });
  }
  return {};
}

std::unordered_set<std::string> random_values(const Model& model) {
  const Search search(model);
  std::unordered_set<std::string> names;
  const auto reads = [&](const Node& node) {
    return std::ranges::any_of(node.inputs(), [&](const Value* v) { return v && names.contains(v->name()); });
  };
  for (const Node& node : model.graph->nodes()) {
    bool is_random = reads(node) || !search.found_by(node).empty();
    for_each_subgraph(node, [&](Graph& nested) {
      for_each_graph(nested, [&](Graph& inner) {
        for (const Node& reader : inner.nodes()) is_random = is_random || reads(reader);
      });
    });
    for (const Value* v : node.outputs())
      if (is_random && v) names.insert(v->name());
  }
  return names;
}

}  // namespace ingot::verify
