#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingot/ir/attribute.h"
#include "ingot/ir/name_table.h"

namespace ingot {

class Graph;
class Node;
class Value;
using Values = std::vector<Value*>;

/// One place that reads a value: input `index` of `node`, or, where node is null, output `index` of `graph`.
struct Use {
  Node* node = nullptr;
  Graph* graph = nullptr;
  std::uint32_t index = 0;
};

/// What one edge of the graph carries. Its address is its identity. A node owns its outputs; the graph owns its
/// inputs, its initializers and the undefined names that a broken file uses.
class Value {
 public:
  Value(const Value&) = delete;
  ~Value();

  const std::string& name() const { return name_; }
  /// Null: a graph input, an initializer, or a name nothing defines.
  Node* producer() const { return producer_; }
  std::uint32_t output_index() const { return output_index_; }
  Graph& graph() const { return *graph_; }
  std::span<const Use> uses() const { return uses_; }
  bool is_input() const { return is_input_; }
  bool is_undefined() const { return !producer_ && !is_input_ && !initializer && !sparse_initializer; }

  Type type;
  /// The stored value of an initializer; of an input, its default.
  std::optional<Tensor> initializer;
  std::unique_ptr<SparseTensor> sparse_initializer;
  /// The file states this value's type (graph inputs and outputs always do); others are written without.
  bool is_declared = false;
  std::string doc_string;
  Metadata metadata;
  std::string unknown;

  /// Elements of a small integer tensor as far as inference knows them (rank 0 or 1); null: not known.
  std::shared_ptr<const std::vector<Dim>> known_ints;

 private:
  friend class Graph;
  friend class Node;
  Value(Graph& graph, std::string name);

  Graph* graph_;
  std::string name_;
  Node* producer_ = nullptr;
  std::uint32_t output_index_ = 0;
  bool is_input_ = false;
  std::vector<Use> uses_;
};

/// A slot that reads a value and knows its place in the value's list of uses, so that both change in O(1).
struct Slot {
  Value* value = nullptr;
  std::uint32_t use = 0;
};

/// One application of an operator. Made by, owned by and linked into a Graph.
class Node {
 public:
  Node(const Node&) = delete;
  ~Node();

  std::string name, domain, op, overload, doc_string;
  Attributes attributes;
  Metadata metadata;
  std::string device_configurations;  // the raw messages, each with its tag
  std::string unknown;

  std::size_t input_count() const { return inputs_.size(); }
  /// Null: an optional input that is absent, also beyond the last one.
  Value* input(std::size_t i) const { return i < inputs_.size() ? inputs_[i].value : nullptr; }
  Values inputs() const;
  void set_input(std::size_t i, Value* value);  // grows the list when needed
  void add_input(Value* value) { set_input(inputs_.size(), value); }
  void resize_inputs(std::size_t count);

  std::size_t output_count() const { return outputs_.size(); }
  /// Null: an output that the node does not produce.
  Value* output(std::size_t i = 0) const { return i < outputs_.size() ? outputs_[i].get() : nullptr; }
  Values outputs() const;
  /// Adds an output; an empty name means "not produced".
  Value* add_output(std::string name);
  /// Drops trailing outputs; they must be unused.
  void resize_outputs(std::size_t count);

  Graph& graph() const { return *graph_; }
  Node* next() const { return next_; }
  Node* previous() const { return previous_; }

  bool is(std::string_view op_type, std::string_view op_domain = "") const {
    return op == op_type && domain == op_domain;
  }
  /// "node 'conv1'", or by its first output where it has no name.
  std::string label() const;

 private:
  friend class Graph;
  explicit Node(Graph& graph);

  Graph* graph_;
  Node *next_ = nullptr, *previous_ = nullptr;
  std::vector<Slot> inputs_;
  std::vector<std::unique_ptr<Value>> outputs_;
};

/// Which tensors hold a value's quantisation parameters (GraphProto.quantization_annotation).
struct QuantizationAnnotation {
  std::string tensor_name;
  Metadata parameters;  // SCALE_TENSOR, ZERO_POINT_TENSOR -> tensor name
  std::string unknown;
};

/// What a file says about a value by its name (ValueInfoProto).
struct ValueInfo {
  std::string name;
  Type type;
  std::string doc_string;
  Metadata metadata;
  std::string unknown;
};

/// Owns nodes, in file order, and values. A subgraph sees the values of its parent graphs.
class Graph {
 public:
  /// `parent`: the graph whose values this one may read; null for a model's or function's own graph.
  explicit Graph(Graph* parent = nullptr);
  ~Graph();
  Graph(const Graph&) = delete;

  std::string name, doc_string;
  Metadata metadata;
  std::vector<QuantizationAnnotation> quantization;
  /// What the file states about names that this graph does not define; what it states about others is in the values.
  std::vector<ValueInfo> stray_infos;
  std::string unknown;
  bool is_function_body = false;  // then it has no initializers: constants are Constant nodes
  Graph* parent() const { return parent_; }

  // Values. Names are unique in a valid model; a broken file may repeat them, and the first keeps the name.
  Value* add_input(std::string name, Type type = {});
  Value* add_initializer(std::string name, Tensor value);
  Value* add_sparse_initializer(std::string name, SparseTensor value);
  /// A name that a broken file uses and nothing defines.
  Value* add_undefined(std::string name);
  /// A value defined in this very graph, or null.
  Value* find(std::string_view value_name) const { return by_name_.find(value_name); }
  /// The same, looking outwards through the parents too.
  Value* find_visible(std::string_view name) const;
  void rename(Value* value, std::string name);
  /// A name that no value in this graph, its parents or its subgraphs has: `base`, or base_1, base_2 ...
  std::string fresh_name(std::string_view base);

  std::span<Value* const> inputs() const { return inputs_; }
  std::span<Value* const> initializers() const { return initializers_; }
  Values outputs() const;
  std::size_t output_count() const { return outputs_.size(); }
  Value* output(std::size_t i) const { return i < outputs_.size() ? outputs_[i].value : nullptr; }
  void add_output(Value* value) { set_output(outputs_.size(), value); }
  void set_output(std::size_t i, Value* value);
  void resize_outputs(std::size_t count);

  /// Removes inputs and initializers for which `unwanted` holds; they must be unused. Linear in their number.
  void erase_inputs_if(const std::function<bool(const Value&)>& unwanted);
  void erase_initializers_if(const std::function<bool(const Value&)>& unwanted);
  /// Makes an initializer also an input (IR <= 3), or an input with a default a plain initializer.
  void set_is_input(Value* initializer, bool is_input);
  /// Makes all inputs with a default plain initializers. Linear in their number.
  void close_defaults();

  // Nodes.
  /// Adds an empty node before `before` (null: at the end). Outputs are added by the caller.
  Node* add_node(std::string op, std::string domain = {}, Node* before = nullptr);
  /// The node's outputs must be unused.
  void erase(Node* node);
  void move_before(Node* node, Node* before);
  Node* first() const { return first_; }
  Node* last() const { return last_; }
  std::size_t node_count() const { return node_count_; }

  /// Walks the nodes; the current node may be erased while walking, and nodes may be added anywhere.
  class Iterator {
   public:
    explicit Iterator(Node* node) : node_(node), next_(node ? node->next() : nullptr) {}
    Node& operator*() const { return *node_; }
    Iterator& operator++() {
      node_ = next_;
      next_ = node_ ? node_->next() : nullptr;
      return *this;
    }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return a.node_ != b.node_; }

   private:
    Node *node_, *next_;
  };
  struct Range {
    Node* first;
    Iterator begin() const { return Iterator(first); }
    Iterator end() const { return Iterator(nullptr); }
  };
  Range nodes() const { return {first_}; }

  /// Every reader of `from`, graph outputs included, reads `to` instead.
  void replace_all_uses(Value* from, Value* to);

  /// A deep copy; weights stay shared. `map` says what stands for the values of outer graphs (those it does not
  /// know stay themselves) and afterwards also holds the copy of every value of this graph and its subgraphs.
  using ValueMap = std::unordered_map<const Value*, Value*>;
  GraphPtr clone(Graph* parent, ValueMap& map) const;
  GraphPtr clone() const;
  /// Copies a node of any graph into this one, reading through `map`; its outputs get names as near to the
  /// old ones as `prefix` and uniqueness allow, and are entered into `map`.
  Node* add_copy(const Node& node, ValueMap& map, Node* before = nullptr, std::string_view prefix = {});

 private:
  friend class Node;
  struct Names;

  void define(std::unique_ptr<Value> owned);
  void bind(Slot& slot, Value* value, Use use);
  void name_added(Value* value);
  void name_removed(Value* value);

  Graph* parent_;
  std::shared_ptr<Names> names_;  // of the whole tree of graphs: what fresh_name avoids
  NameTable by_name_;
  std::vector<std::unique_ptr<Value>> owned_values_;
  std::vector<Value*> inputs_, initializers_;
  std::vector<Slot> outputs_;
  Node *first_ = nullptr, *last_ = nullptr;
  std::size_t node_count_ = 0;
};

/// Calls `visit` for each graph held by the node's attributes.
void for_each_subgraph(const Node& node, const std::function<void(Graph&)>& visit);
/// Calls `visit` for the graph and all graphs nested in it, outer ones first. Iterative.
void for_each_graph(Graph& graph, const std::function<void(Graph&)>& visit);
/// The nodes in an order in which each follows those it reads from, subgraphs' reads included;
/// null in case of a cycle. Stable: a sorted graph keeps its order.
std::optional<std::vector<Node*>> topological_order(const Graph& graph);

}  // namespace ingot
