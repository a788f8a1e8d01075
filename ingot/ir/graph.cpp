// Graph, Node and Value: ownership, use lists, names and order.
#include "ingot/ir/graph.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <unordered_set>

#include "ingot/base/current_budget.h"
#include "ingot/ir/has_default.h"

namespace ingot {

/// The names in use in a tree of nested graphs, with how often, and the last suffix tried for each base. They are
/// counted from the first fresh name on: most graphs are only read, copied and thrown away.
struct Graph::Names {
  void count_all() {
    if (is_counted) return;
    is_counted = true;
    for (const Graph* graph : graphs) {
      for (const auto& value : graph->owned_values_) ++count[value->name_];
      for (const Node& node : graph->nodes())
        for (const auto& output : node.outputs_)
          if (output) ++count[output->name_];
    }
  }

  std::unordered_set<const Graph*> graphs;
  bool is_counted = false;
  std::unordered_map<std::string, std::uint32_t> count;
  std::unordered_map<std::string, std::uint32_t> last_suffix;
};

Value::Value(Graph& graph, std::string name) : graph_(&graph), name_(std::move(name)) {}
Value::~Value() = default;

Node::Node(Graph& graph) : graph_(&graph) {}
Node::~Node() = default;

Values Node::inputs() const {
  Values values;
  values.reserve(inputs_.size());
  for (const Slot& slot : inputs_) values.push_back(slot.value);
  return values;
}

void Node::set_input(std::size_t i, Value* value) {
  if (i >= inputs_.size()) inputs_.resize(i + 1);
  graph_->bind(inputs_[i], value, {this, graph_, static_cast<std::uint32_t>(i)});
}

void Node::resize_inputs(std::size_t count) {
  for (std::size_t i = count; i < inputs_.size(); ++i) set_input(i, nullptr);
  inputs_.resize(count);
}

Values Node::outputs() const {
  Values values;
  values.reserve(outputs_.size());
  for (const auto& output : outputs_) values.push_back(output.get());
  return values;
}

Value* Node::add_output(std::string output_name) {
  const auto index = static_cast<std::uint32_t>(outputs_.size());
  if (output_name.empty()) {
    outputs_.push_back(nullptr);
    return nullptr;
  }
  outputs_.emplace_back(new Value(*graph_, std::move(output_name)));
  Value* value = outputs_.back().get();
  value->producer_ = this;
  value->output_index_ = index;
  graph_->name_added(value);
  return value;
}

void Node::resize_outputs(std::size_t count) {
  for (std::size_t i = count; i < outputs_.size(); ++i) {
    if (!outputs_[i]) continue;
    assert(outputs_[i]->uses_.empty());
    graph_->name_removed(outputs_[i].get());
  }
  outputs_.resize(count);
}

std::string Node::label() const {
  if (!name.empty()) return "node '" + name + "'";
  for (const auto& output : outputs_)
    if (output) return "the node that makes '" + output->name() + "'";
  return "a node without a name";
}

Graph::Graph(Graph* parent) : parent_(parent), names_(parent ? parent->names_ : std::make_shared<Names>()) {
  names_->graphs.insert(this);
}

Graph::~Graph() {
  // Subgraphs first, whose nodes may read values of any node; then uses of the values of outer graphs, which stay.
  for (Node* node = first_; node; node = node->next_) node->attributes = {};
  const auto let_go = [this](Slot& slot) {
    if (slot.value && slot.value->graph_ != this) bind(slot, nullptr, {});
  };
  for (Node* node = first_; node; node = node->next_) std::ranges::for_each(node->inputs_, let_go);
  std::ranges::for_each(outputs_, let_go);
  // Names matter to the graphs around this one only.
  names_->graphs.erase(this);
  const bool others_care = names_->is_counted && !names_->graphs.empty();
  for (Node* node = first_; node;) {
    Node* next = node->next_;
    for (const auto& output : node->outputs_)
      if (output && others_care) name_removed(output.get());
    delete node;
    node = next;
  }
  if (others_care)
    for (const auto& value : owned_values_) name_removed(value.get());
}

void Graph::name_added(Value* value) {
  if (names_->is_counted) ++names_->count[value->name_];
  by_name_.add(value);
}

void Graph::name_removed(Value* value) {
  if (names_->is_counted) {
    const auto count = names_->count.find(value->name_);
    if (count != names_->count.end() && --count->second == 0) names_->count.erase(count);
  }
  by_name_.remove(value);
}

void Graph::define(std::unique_ptr<Value> owned) {
  name_added(owned.get());
  owned_values_.push_back(std::move(owned));
}

Value* Graph::add_input(std::string input_name, Type type) {
  Value* value = new Value(*this, std::move(input_name));
  value->type = std::move(type);
  value->is_input_ = true;
  value->is_declared = true;
  define(std::unique_ptr<Value>(value));
  inputs_.push_back(value);
  return value;
}

Value* Graph::add_initializer(std::string initializer_name, Tensor tensor) {
  // An initializer with the name of an input is that input's default.
  Value* value = find(initializer_name);
  if (!value || !value->is_input_ || has_default(*value)) {
    value = new Value(*this, std::move(initializer_name));
    define(std::unique_ptr<Value>(value));
  }
  if (!value->type) value->type = tensor.type();
  value->initializer = std::move(tensor);
  initializers_.push_back(value);
  return value;
}

Value* Graph::add_sparse_initializer(std::string initializer_name, SparseTensor tensor) {
  Value* value = find(initializer_name);
  if (!value || !value->is_input_ || has_default(*value)) {
    value = new Value(*this, std::move(initializer_name));
    define(std::unique_ptr<Value>(value));
  }
  if (!value->type) value->type = tensor.type();
  value->sparse_initializer = std::make_unique<SparseTensor>(std::move(tensor));
  initializers_.push_back(value);
  return value;
}

Value* Graph::add_undefined(std::string value_name) {
  Value* value = new Value(*this, std::move(value_name));
  define(std::unique_ptr<Value>(value));
  return value;
}

Value* Graph::find_visible(std::string_view value_name) const {
  for (const Graph* g = this; g; g = g->parent_)
    if (Value* value = g->find(value_name)) return value;
  return nullptr;
}

void Graph::rename(Value* value, std::string new_name) {
  assert(value->graph_ == this);
  if (new_name.empty()) new_name = fresh_name({});  // an empty name means that there is no value
  name_removed(value);
  value->name_ = std::move(new_name);
  name_added(value);
}

std::string Graph::fresh_name(std::string_view base) {
  names_->count_all();
  std::string candidate(base.empty() ? "value" : base);
  if (!names_->count.contains(candidate)) return candidate;
  std::uint32_t& suffix = names_->last_suffix[candidate];
  const std::string stem = candidate + '_';
  do candidate = stem + std::to_string(++suffix);
  while (names_->count.contains(candidate));
  return candidate;
}

Values Graph::outputs() const {
  Values values;
  values.reserve(outputs_.size());
  for (const Slot& slot : outputs_) values.push_back(slot.value);
  return values;
}

void Graph::set_output(std::size_t i, Value* value) {
  if (i >= outputs_.size()) outputs_.resize(i + 1);
  bind(outputs_[i], value, {nullptr, this, static_cast<std::uint32_t>(i)});
}

void Graph::resize_outputs(std::size_t count) {
  for (std::size_t i = count; i < outputs_.size(); ++i) set_output(i, nullptr);
  outputs_.resize(count);
}

void Graph::bind(Slot& slot, Value* value, Use use) {
  if (slot.value) {
    // Swap with the last use and tell that use's slot its new place.
    std::vector<Use>& uses = slot.value->uses_;
    const std::uint32_t hole = slot.use;
    if (hole + 1 != uses.size()) {
      uses[hole] = uses.back();
      const Use& moved = uses[hole];
      (moved.node ? moved.node->inputs_[moved.index] : moved.graph->outputs_[moved.index]).use = hole;
    }
    uses.pop_back();
  }
  slot.value = nullptr;  // where there is no memory for the new use
  if (!value) return;
  value->uses_.push_back(use);
  slot = {value, static_cast<std::uint32_t>(value->uses_.size() - 1)};
}

namespace {

/// Drops the values that are no longer anything and that nobody reads.
template <class Forget> void erase_undefined(std::vector<std::unique_ptr<Value>>& values, Forget forget) {
  std::erase_if(values, [&](const std::unique_ptr<Value>& v) {
    if (!v->is_undefined() || !v->uses().empty()) return false;
    forget(v.get());
    return true;
  });
}

}  // namespace

void Graph::erase_inputs_if(const std::function<bool(const Value&)>& unwanted) {
  std::erase_if(inputs_, [&](Value* v) {
    if (!unwanted(*v)) return false;
    v->is_input_ = false;
    return true;
  });
  erase_undefined(owned_values_, [this](Value* v) { name_removed(v); });
}

void Graph::erase_initializers_if(const std::function<bool(const Value&)>& unwanted) {
  std::erase_if(initializers_, [&](Value* v) {
    if (!unwanted(*v)) return false;
    v->initializer.reset();
    v->sparse_initializer.reset();
    return true;
  });
  erase_undefined(owned_values_, [this](Value* v) { name_removed(v); });
}

void Graph::set_is_input(Value* initializer, bool is_input) {
  if (initializer->is_input_ == is_input) return;
  initializer->is_input_ = is_input;
  if (is_input)
    inputs_.push_back(initializer);
  else
    std::erase(inputs_, initializer);
}

void Graph::close_defaults() {
  std::erase_if(inputs_, [](Value* v) {
    const bool is_closed = has_default(*v);
    if (is_closed) v->is_input_ = false;
    return is_closed;
  });
}

Node* Graph::add_node(std::string op, std::string domain, Node* before) {
  count_step();
  Node* node = new Node(*this);
  node->op = std::move(op);
  node->domain = std::move(domain);
  ++node_count_;
  node->next_ = before;
  node->previous_ = before ? before->previous_ : last_;
  (node->previous_ ? node->previous_->next_ : first_) = node;
  (before ? before->previous_ : last_) = node;
  return node;
}

void Graph::erase(Node* node) {
  node->attributes = {};
  node->resize_inputs(0);
  node->resize_outputs(0);
  (node->previous_ ? node->previous_->next_ : first_) = node->next_;
  (node->next_ ? node->next_->previous_ : last_) = node->previous_;
  --node_count_;
  delete node;
}

void Graph::move_before(Node* node, Node* before) {
  if (node == before || node->next_ == before) return;
  (node->previous_ ? node->previous_->next_ : first_) = node->next_;
  (node->next_ ? node->next_->previous_ : last_) = node->previous_;
  node->next_ = before;
  node->previous_ = before ? before->previous_ : last_;
  (node->previous_ ? node->previous_->next_ : first_) = node;
  (before ? before->previous_ : last_) = node;
}

void Graph::replace_all_uses(Value* from, Value* to) {
  if (from == to) return;
  while (!from->uses_.empty()) {
    const Use use = from->uses_.back();
    if (use.node)
      use.node->set_input(use.index, to);
    else
      use.graph->set_output(use.index, to);
  }
}

void for_each_subgraph(const Node& node, const std::function<void(Graph&)>& visit) {
  for (const Attribute& a : node.attributes) {
    if (const auto* graph = std::get_if<GraphPtr>(&a.value)) {
      if (*graph) visit(**graph);
    } else if (const auto* graphs = std::get_if<std::vector<GraphPtr>>(&a.value)) {
      for (const GraphPtr& g : *graphs) visit(*g);
    }
  }
}

void for_each_graph(Graph& graph, const std::function<void(Graph&)>& visit) {
  std::vector<Graph*> open{&graph};
  while (!open.empty()) {
    Graph* g = open.back();
    open.pop_back();
    visit(*g);
    const std::size_t mark = open.size();
    for (Node& node : g->nodes()) for_each_subgraph(node, [&](Graph& inner) { open.push_back(&inner); });
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(mark), open.end());
  }
}

namespace {

/// The node of `graph` in which the use stands, directly or through subgraphs; null: elsewhere.
Node* node_in(const Graph& graph, const Use& use, const std::unordered_map<const Graph*, Node*>& owner) {
  const Graph* g = use.node ? &use.node->graph() : use.graph;
  Node* node = use.node;
  while (g && g != &graph) {
    const auto it = owner.find(g);
    if (it == owner.end()) return nullptr;
    node = it->second;
    g = &node->graph();
  }
  return g ? node : nullptr;
}

}  // namespace

std::optional<std::vector<Node*>> topological_order(const Graph& graph) {
  std::unordered_map<const Graph*, Node*> owner;  // of each nested graph
  std::unordered_map<const Node*, std::uint32_t> position;
  std::vector<Node*> nodes;
  nodes.reserve(graph.node_count());
  position.reserve(graph.node_count());
  for (Node& node : graph.nodes()) {
    count_step();
    position.emplace(&node, static_cast<std::uint32_t>(nodes.size()));
    nodes.push_back(&node);
    std::vector<std::pair<Graph*, Node*>> open;
    for_each_subgraph(node, [&](Graph& g) { open.emplace_back(&g, &node); });
    while (!open.empty()) {
      const auto [g, holder] = open.back();
      open.pop_back();
      owner.emplace(g, holder);
      for (Node& inner : g->nodes()) for_each_subgraph(inner, [&](Graph& sub) { open.emplace_back(&sub, &inner); });
    }
  }
  const auto for_each_reader = [&](Node* node, auto&& act) {
    for (std::size_t i = 0; i < node->output_count(); ++i) {
      if (!node->output(i)) continue;
      for (const Use& use : node->output(i)->uses())
        if (Node* reader = node_in(graph, use, owner)) act(position.at(reader));
    }
  };
  // Kahn's algorithm, where it is needed; a heap by original position keeps a sorted graph as it is.
  std::vector<std::uint32_t> waiting(nodes.size(), 0);
  bool is_sorted = true;
  for (std::uint32_t i = 0; i < nodes.size(); ++i)
    for_each_reader(nodes[i], [&](std::uint32_t reader) {
      ++waiting[reader];
      is_sorted &= reader > i;
    });
  if (is_sorted) return nodes;
  std::vector<std::uint32_t> ready;
  const auto later = std::greater<>{};
  for (std::uint32_t i = 0; i < nodes.size(); ++i)
    if (waiting[i] == 0) ready.push_back(i);
  std::make_heap(ready.begin(), ready.end(), later);
  std::vector<Node*> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    Node* node = nodes[ready.back()];
    ready.pop_back();
    order.push_back(node);
    for_each_reader(node, [&](std::uint32_t reader) {
      if (--waiting[reader] == 0) {
        ready.push_back(reader);
        std::push_heap(ready.begin(), ready.end(), later);
      }
    });
  }
  if (order.size() != nodes.size()) return std::nullopt;
  return order;
}

}  // namespace ingot
