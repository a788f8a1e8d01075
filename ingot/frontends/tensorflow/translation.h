#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/frontends/tensorflow/body.h"
#include "ingot/frontends/tensorflow/import.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot {
class Budget;
}

namespace ingot::frontends::tensorflow {

struct ExampleFeature;

/// A body being translated into a graph. Loops and branches of the old control flow are scopes of their own within
/// the scope around them; a node is translated in the innermost scope that it depends on.
struct Scope {
  enum class Kind { body, loop, branch };

  Scope(const Body& b, Scope* p, Graph& graph, Kind k) : body(b), parent(p), builder(graph), kind(k) {}

  const Body& body;
  Scope* parent;  // of the same body; null for a body's own scope
  GraphBuilder builder;
  Kind kind;
  std::int32_t frame = -1;  // of a loop
  Guard guard{};            // of a branch
  Operands arguments{};     // of a function
  const std::vector<tf::Attr>* call_attrs = nullptr;
  std::string prefix{};  // before the names of nodes: where the call stands
  std::unordered_map<std::int32_t, Operands> done{};

  const tf::AttrValue* call_attr(std::string_view name) const;
  /// The innermost scope from here outwards that the node belongs to.
  Scope& home(std::int32_t node);
};

/// Translates the nodes that outputs need, from their inputs on.
class Translation {
 public:
  Translation(const tf::GraphDef& graph, const ImportOptions& options, const ModelFiles& files);

  /// The whole way: inputs, nodes, outputs.
  ImportResult run();

  // For translators.
  Budget& budget() { return budget_; }
  const tf::GraphDef& source() const { return graph_; }
  const tf::FunctionDef* find_function(std::string_view name) const;
  const Body& body_of(const tf::FunctionDef& function);
  Operand get(Scope& scope, Source source);
  /// What a function gives for these arguments, its nodes put into the builder's graph.
  Operands call(const tf::FunctionDef& function, Operands arguments, const std::vector<tf::Attr>* attrs, Graph& graph,
                const std::string& prefix);
  /// The same; where functions are to be kept and this one can be, the builder gets a node that calls it.
  Operands call_or_keep(const tf::FunctionDef& function, Operands arguments, const std::vector<tf::Attr>* attrs,
                        GraphBuilder& g, const std::string& prefix);
  Value* variable(const Resource& resource);
  /// The node makes `next` of the variable: remembered where the model is to learn, else noted.
  void assign(const TfNode& n, Value* variable, Value* next);
  /// What a node that reads the variable sees: its new value if the node waits for the update.
  Value* value_after(const TfNode& n, Value* variable);
  const ModelFiles& files() const { return files_; }
  /// What a table holds; null: not known.
  const Table* table(const std::string& name);
  /// Operators of this domain, at its newest version, are in the model.
  void use_domain(const std::string& domain);
  Graph& root() { return *model_.graph; }
  /// The input of the model that stands for a feature of serialised examples, in examples.cpp.
  Value* example_input(const Value* examples, const ExampleFeature& feature, Type type);
  /// Complex numbers stand for themselves as pairs along a last axis of size 2.
  Value* mark_complex(Value* pairs);
  bool is_complex(const Value* value) const { return complex_.contains(value); }
  void note(std::string text);
  const ImportOptions& options() const { return options_; }

  // Control flow, in control_flow.cpp.
  using Step = std::function<Operands(Graph&, const Operands&)>;
  /// A Loop: `condition` gives one boolean, `step` the state after a round; invariant state is not carried.
  Operands loop(GraphBuilder& g, const Operands& start, const std::vector<bool>& invariant, const Step& condition,
                const Step& step);
  Operands branch(GraphBuilder& g, Value* condition, const Step& then_branch, const Step& else_branch);

 private:
  struct Pending {
    Scope* scope;
    std::int32_t node;
    std::int32_t port;
  };

  void find_ports();
  void find_sinks();
  std::vector<std::int32_t> reachable() const;
  void check_operators();
  void throw_problems() const;
  void drop_unused();
  std::optional<std::string> custom_domain(std::string_view op) const;
  Operands custom(const TfNode& n, GraphBuilder& g, const std::string& domain, std::size_t outputs);
  void refine_types(const TfNode& n, const Operands& made);
  void add_input(const Port& port);
  void add_output(const Port& port, Value* value);

  void settle_examples();

  // Functions that are kept, in kept_functions.cpp.
  struct Kept;
  std::shared_ptr<Kept> translate_kept(const tf::FunctionDef& function, const Operands& arguments,
                                       const std::vector<tf::Attr>* attrs, Graph& around, const std::string& prefix);

  // Training, in training.cpp.
  std::vector<std::int32_t> update_nodes(const Body& body) const;
  std::map<std::int32_t, Source> beginnings() const;
  std::optional<Tensor> blank(const Resource& resource) const;
  void drop_beginnings();
  void add_initialization(TrainingInfo& info, const std::map<std::string, std::string>& names);
  void split_training(const std::vector<std::pair<std::string, Value*>>& losses);
  void finish_training(const std::vector<std::pair<std::string, Value*>>& losses);
  std::vector<std::pair<std::string, Value*>> translate_training();

  std::vector<Pending> needs(Scope& scope, std::int32_t node);
  void translate(Scope& scope, std::int32_t node);
  Operands translated(Scope& scope, std::int32_t node);
  void ensure(Scope& scope, std::int32_t node);
  void fail(const tf::NodeDef& node, const std::string& why);
  Operands old_loop(Scope& scope, std::int32_t exit);
  Operands old_branch(Scope& scope, std::int32_t merge);
  std::vector<Pending> loop_needs(Scope& scope, std::int32_t exit);
  std::vector<Pending> branch_needs(Scope& scope, std::int32_t merge);
  std::optional<Guard> condition_of(const Body& body, std::int32_t merge) const;

  const tf::GraphDef& graph_;
  const ImportOptions& options_;
  const ModelFiles& files_;
  Budget& budget_;
  Body::FindFunction find_function_;
  std::unordered_map<std::string_view, const tf::FunctionDef*> functions_;
  std::unordered_map<const tf::FunctionDef*, std::unique_ptr<Body>> bodies_;
  std::unique_ptr<Body> main_;
  std::unique_ptr<Scope> scope_;
  std::vector<Port> inputs_, outputs_;
  Model model_;
  std::map<std::string, Value*> variables_;
  std::unordered_map<Value*, Value*> updates_;          // variable -> its value after a step
  std::vector<std::string> blank_;                      // variables without a stored value
  std::optional<std::map<std::string, Table>> tables_;  // found when first asked for
  std::set<const Value*> complex_;
  std::map<std::string, std::shared_ptr<Kept>> kept_;  // by function and what its translation depends on
  std::set<std::string> inlined_;                      // functions that cannot be kept
  struct ExampleInput {
    Value* input = nullptr;
    bool has_default = false;
  };
  std::map<std::pair<const Value*, std::string>, ExampleInput> examples_;  // by the examples and the feature
  std::size_t recurrent_loops_ = 0;                                        // written as LSTM, GRU or RNN
  std::map<std::string, std::vector<std::string>> problems_;               // operator and reason -> nodes
  std::vector<std::string> notes_;
  std::map<std::pair<std::int32_t, std::int32_t>, Value*> cuts_;  // tensors that are inputs of the model
  std::set<std::pair<Scope*, std::int32_t>> open_;                // nodes whose inputs are being translated
  bool found_outputs_ = false, is_bad_graph_ = true;
  int depth_ = 0;
};

}  // namespace ingot::frontends::tensorflow
