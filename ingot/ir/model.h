#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot {

struct OpsetImport {
  std::string domain;  // "" is ai.onnx
  std::int64_t version = 0;
  std::string unknown;
};

/// Opset imports, of a model or of a function.
class OpsetImports : public std::vector<OpsetImport> {
 public:
  using std::vector<OpsetImport>::vector;
  /// The version imported for a domain ("ai.onnx" and "" are one); 0: none.
  std::int64_t version(std::string_view domain) const;
  void set(std::string_view domain, std::int64_t version);
};

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

struct DeviceConfiguration {
  std::string name;
  std::int32_t device_count = 0;
  std::vector<std::string> devices;
  std::string unknown;
};

/// A whole ONNX model.
class Model {
 public:
  Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&& other) noexcept;
  ~Model();

  std::int64_t ir_version = 0;
  OpsetImports opsets;
  std::string producer_name, producer_version, domain, doc_string;
  std::int64_t model_version = 0;
  Metadata metadata;
  std::unique_ptr<Graph> graph;
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<TrainingInfo> training;
  std::vector<DeviceConfiguration> device_configurations;
  std::string unknown;

  const Function* find_function(std::string_view domain, std::string_view name, std::string_view overload = {}) const;
  Model clone() const;
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
