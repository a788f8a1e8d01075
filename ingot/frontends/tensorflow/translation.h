#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ingot/frontends/custom_operators.h"
#include "ingot/frontends/notes.h"
#include "ingot/frontends/problems.h"
#include "ingot/frontends/tensorflow/bodies.h"
#include "ingot/frontends/tensorflow/example_inputs.h"
#include "ingot/frontends/tensorflow/import.h"
#include "ingot/frontends/tensorflow/kept_functions.h"
#include "ingot/frontends/tensorflow/lookup_tables.h"
#include "ingot/frontends/tensorflow/scope.h"
#include "ingot/frontends/tensorflow/variables.h"

namespace ingot {
class Budget;
}

namespace ingot::frontends::tensorflow {

/// A graph on its way into a model: each node is translated when something needs it, its inputs first.
class Translation {
 public:
  Translation(const tf::GraphDef& graph, const ImportOptions& options, const ModelFiles& files);

  // What is translated.
  const ImportOptions& options() const { return options_; }
  Budget& budget() { return budget_; }
  Bodies& bodies() { return bodies_; }
  const Body& main() const { return bodies_.main(); }
  const CustomOperators& custom_operators() const { return custom_operators_; }
  Variables& variables() { return variables_; }
  LookupTables& lookup_tables() { return lookup_tables_; }
  ExampleInputs& examples() { return examples_; }
  /// Nodes of a body that change variables when it runs.
  std::vector<std::int32_t> update_nodes(const Body& body) const;

  // What it becomes.
  Model& model() { return model_; }
  Graph& root() { return *model_.graph; }
  Scope& main_scope() { return main_scope_; }
  /// Operators of this domain, at its newest version, are in the model.
  void use_domain(const std::string& domain);
  void note(std::string text) { notes_.add(std::move(text)); }
  Notes& notes() { return notes_; }
  Problems& problems() { return problems_; }
  /// Throws if any node could not be translated.
  void throw_problems() const;
  /// Values were read before an operator further on told their rank.
  bool has_late_ranks() const { return has_late_ranks_; }
  /// Complex numbers stand for themselves as pairs along a last axis of size 2.
  Value* mark_complex(Value* pairs);
  bool is_complex(const Value* value) const { return complex_.contains(value); }
  std::set<const Value*>& complex_values() { return complex_; }

  /// The graph is cut here: a tensor of the main graph that is an input of the model.
  void cut(Source source, Value* input) { cuts_[{source.node, source.port}] = input; }
  bool is_cut(Source source) const { return cuts_.contains({source.node, source.port}); }

  Operand get(Scope& scope, Source source);
  /// What a function gives for these arguments, its nodes put into the builder's graph.
  Operands call(const tf::FunctionDef& function, Operands arguments, const std::vector<tf::Attr>* attrs, Graph& graph,
                const std::string& prefix);
  /// The same; where functions are to be kept and this one can be, the builder gets a node that calls it.
  Operands call_or_keep(const tf::FunctionDef& function, Operands arguments, const std::vector<tf::Attr>* attrs,
                        GraphBuilder& g, const std::string& prefix);

 private:
  void ensure(Scope& scope, std::int32_t node);
  void translate(Scope& scope, std::int32_t node);
  Operands translated(Scope& scope, std::int32_t node);
  void widen_halves(const tf::NodeDef& def, GraphBuilder& g, Operands& inputs);
  Operands custom(const TfNode& n, GraphBuilder& g, const std::string& domain, std::size_t outputs);

  const ImportOptions& options_;
  Budget& budget_;
  Bodies bodies_;
  /// A text operator as the user wants those that ONNX lacks; nothing: as any other operator.
  std::optional<Values> own_text(const TfNode& n, GraphBuilder& g) const;

  CustomOperators custom_operators_;
  Model model_;
  Scope main_scope_;
  Variables variables_;
  LookupTables lookup_tables_;
  ExampleInputs examples_;
  KeptFunctions kept_functions_;
  Problems problems_;
  Notes notes_;
  std::set<const Value*> complex_;
  std::map<std::pair<std::int32_t, std::int32_t>, Value*> cuts_;
  std::set<std::pair<Scope*, std::int32_t>> open_;  // nodes whose inputs are being translated
  int depth_ = 0;                                   // of functions within functions
  bool has_late_ranks_ = false;
};

}  // namespace ingot::frontends::tensorflow
