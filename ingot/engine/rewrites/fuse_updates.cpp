// What replaces the inputs of a run is computed at its end, in one pass over memory, and over what it replaces.
#include "ingot/engine/rewrites/fuse_updates.h"

#include <algorithm>
#include <unordered_map>

#include "ingot/engine/domain.h"
#include "ingot/engine/element_step.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

constexpr std::string_view kUpdate = "Update";
constexpr std::size_t kMostSteps = 32, kMostInputs = 16;

/// An update by what the graph knows.
struct Pair {
  Value* old;
  std::size_t output;
  const Update* update;
};

std::vector<Pair> pairs_of(Graph& graph, const std::vector<Update>& updates, const std::vector<std::string>& names) {
  std::unordered_map<std::string, Value*> inputs;
  for (Value* v : graph.inputs()) inputs[v->name()] = v;
  std::unordered_map<std::string, std::size_t> outputs;
  for (std::size_t i = 0; i < names.size(); ++i) outputs[names[i]] = i;
  std::vector<Pair> pairs;
  for (const Update& update : updates) {
    const auto in = inputs.find(update.input);
    const auto out = outputs.find(update.output);
    if (in != inputs.end() && out != outputs.end()) pairs.push_back({in->second, out->second, &update});
  }
  return pairs;
}

bool is_output(const Value* v) {
  return std::ranges::any_of(v->uses(), [](const Use& use) { return !use.node; });
}

/// An output is what Identity reads, unless that has a name of its own outside.
void skip_identity(Graph& graph, const Pair& pair) {
  Value* v = graph.output(pair.output);
  Node* node = v->producer();
  if (!node || !node->is("Identity") || !node->input(0)->producer() || &node->input(0)->producer()->graph() != &graph ||
      is_output(node->input(0)))
    return;
  Value* before = node->input(0);
  graph.replace_all_uses(v, before);
  graph.erase(node);
}

bool is_single(const Value* v) {
  const auto dims = v->type.is_tensor() && v->type.shape ? static_dims(*v->type.shape) : std::nullopt;
  return dims && tensor_size(*dims) == 1;
}

/// The nodes that make one parameter's update and what goes with it.
class Region {
 public:
  explicit Region(Node& last) : shape_of_(last.output(0)) {
    if (!static_dims(*shape_of_->type.shape) || !can_take(last)) return;
    nodes_.push_back(&last);
    for (bool grows = true; grows;) grows = grow();
    for (const Node* node : nodes_)
      for (std::size_t i = 0; i < operands(*node); ++i) {
        Value* v = node->input(i);
        if (!is_made(v) && std::ranges::find(inputs_, v) == inputs_.end()) inputs_.push_back(v);
      }
    if (inputs_.size() > kMostInputs) nodes_.clear();
  }

  bool is_empty() const { return nodes_.empty(); }

  Node* write(const std::vector<Pair>& pairs, const std::unordered_map<const Value*, std::size_t>& pair_of) const {
    std::unordered_map<const Value*, std::uint32_t> registers;
    for (const Value* v : inputs_) registers.emplace(v, static_cast<std::uint32_t>(registers.size()));
    std::vector<ElementStep> steps;
    std::vector<std::int64_t> made, over, watched;
    Values results;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      const Node& node = *nodes_[i];
      ElementStep step = *step_for(node);
      step.x = registers.at(node.input(0));
      if (step.is_binary) step.y = registers.at(node.input(1));
      steps.push_back(step);
      const auto index = static_cast<std::uint32_t>(registers.size());
      registers[node.output(0)] = index;
      if (!is_output(node.output(0))) continue;
      results.push_back(node.output(0));
      made.push_back(index);
      const auto pair = pair_of.find(node.output(0));
      const Value* old = pair == pair_of.end() ? nullptr : pairs[pair->second].old;
      const auto at = std::ranges::find(inputs_, old);
      const bool can_replace = at != inputs_.end() && have_same_shape(old, node.output(0)) && !is_output(old);
      over.push_back(can_replace ? at - inputs_.begin() : -1);
      watched.push_back(old && pairs[pair->second].update->must_be_finite ? 1 : 0);
    }
    Graph& graph = nodes_.front()->graph();
    GraphBuilder g(graph, nodes_.front());
    Attrs attrs = attributes_of(steps);
    attrs.emplace_back("made", made);
    attrs.emplace_back("over", over);
    attrs.emplace_back("watched", watched);
    Node* fused = g.node(kUpdate, kEngineDomain, inputs_, attrs, results.size());
    fused->name = names_of(std::vector<Node*>{nodes_.front()});
    for (std::size_t i = 0; i < results.size(); ++i) {
      fused->output(i)->type = results[i]->type;
      graph.replace_all_uses(results[i], fused->output(i));
    }
    for (Node* node : nodes_) graph.erase(node);
    return fused;
  }

 private:
  static std::size_t operands(const Node& node) { return step_for(node)->is_binary ? 2 : 1; }
  bool is_made(const Value* v) const {
    return v->producer() && std::ranges::find(nodes_, v->producer()) != nodes_.end();
  }

  /// Operands are whole or single numbers.
  bool can_take(const Node& node) const {
    if (!step_for(node) || !have_same_shape(node.output(0), shape_of_)) return false;
    for (std::size_t i = 0; i < operands(node); ++i)
      if (!have_same_shape(node.input(i), shape_of_) && !is_single(node.input(i))) return false;
    return true;
  }

  /// Takes in one more node whose result nobody else reads, unless it is an output. Readers come before.
  bool grow() {
    if (nodes_.size() >= kMostSteps) return false;
    for (const Node* reader : nodes_)
      for (std::size_t i = 0; i < operands(*reader); ++i) {
        const Value* v = reader->input(i);
        Node* node = v->producer();
        if (!node || &node->graph() != &reader->graph() || is_made(v) || !can_take(*node)) continue;
        const bool is_own = std::ranges::all_of(v->uses(), [&](const Use& use) {
          return !use.node || std::ranges::find(nodes_, use.node) != nodes_.end();
        });
        if (!is_own) continue;
        nodes_.push_back(node);
        return true;
      }
    return false;
  }

  const Value* shape_of_;
  std::vector<Node*> nodes_;  // readers before what they read
  Values inputs_;
};

}  // namespace

bool is_update(const Node& node) { return node.op == kUpdate && node.domain == kEngineDomain; }

void fuse_updates(Graph& graph, const std::vector<Update>& updates, const std::vector<std::string>& output_names) {
  const std::vector<Pair> pairs = pairs_of(graph, updates, output_names);
  for (const Pair& pair : pairs) skip_identity(graph, pair);
  std::unordered_map<const Value*, std::size_t> pair_of;
  for (std::size_t i = 0; i < pairs.size(); ++i) pair_of.emplace(graph.output(pairs[i].output), i);
  std::vector<Node*> made;
  for (const Pair& pair : pairs) {
    Value* v = graph.output(pair.output);
    Node* node = v->producer();
    if (!node || !v->type.shape || !step_for(*node)) continue;
    // What other nodes read cannot be computed last.
    if (std::ranges::any_of(v->uses(), [](const Use& use) { return use.node != nullptr; })) continue;
    const Region region(*node);
    if (!region.is_empty()) made.push_back(region.write(pairs, pair_of));
  }
  // What two of them read, neither writes over.
  for (Node* node : made) {
    std::vector<std::int64_t> over = node->attributes.ints_or("over", {});
    for (std::int64_t& input : over) {
      if (input < 0) continue;
      for (const Use& use : node->input(static_cast<std::size_t>(input))->uses())
        if (use.node && use.node != node && is_update(*use.node)) input = -1;
    }
    node->attributes.set({"over", over});
  }
}

}  // namespace ingot::engine
