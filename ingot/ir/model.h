#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/ir/graph.h"
#include "ingot/ir/opaque_model.h"

namespace ingot {

/// A model-local function: an operator that the model defines by a graph.
struct Function {
  Function();
  Function(Function&&) noexcept;
  ~Function();

  std::string domain, name, overload, doc_string;
  OpsetImports opsets;
  std::vector<std::string> attributes;        // without a default
  std::vector<Attribute> attribute_defaults;  // graphs in them see no outer values
  Metadata metadata;
  std::string unknown;
  /// Inputs and outputs are the function's formal ones, in order, as a rule without types.
  std::unique_ptr<Graph> body;
};

/// TrainingInfoProto: how to initialise the state and how to make one step.
/// `algorithm` has the model's graph as parent: it reads inference values as a subgraph would.
struct TrainingInfo {
  std::unique_ptr<Graph> initialization;  // null: absent
  std::unique_ptr<Graph> algorithm;
  Metadata initialization_binding;  // state variable -> output
  Metadata update_binding;
  std::string unknown;
};

/// All graphs of a model with what they stand in: the main graph, functions' bodies, training graphs, and
/// the graphs nested in each, outer ones first.
struct GraphPlace {
  Graph* graph;
  const Function* function;      // null: not in a function
  const TrainingInfo* training;  // null: not in training info
};
std::vector<GraphPlace> all_graphs(const Model& model);

/// The operator domain with "ai.onnx" spelt "".
std::string_view normal_domain(std::string_view domain);

/// Checks the invariants of the IR itself (use lists, ownership, scoping); a breach is a bug in Ingot.
/// Every pass is followed by this in debug builds.
void check_invariants(const Model& model);
void check_invariants(const Graph& graph);

}  // namespace ingot
