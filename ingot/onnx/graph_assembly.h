#pragma once
#include <string>
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot::onnx {

/// Builds a Graph from a file, in which values are known by name. First everything is defined, in file order; then
/// connect() looks the names up, so that a graph whose nodes are not sorted keeps its meaning. A name that two things
/// define means the first; one that nothing defines becomes an undefined value. The graphs around this one must be
/// connected before it.
class GraphAssembly {
 public:
  enum class Kind { graph, function };
  explicit GraphAssembly(Graph& graph, Kind kind = Kind::graph) : graph_(graph), kind_(kind) {}
  Graph& graph() const { return graph_; }

  /// Inputs come before initializers, initializers before nodes. `is_declared`: the file states more than the name.
  void add_input(ValueInfo info, bool is_declared = true);
  void add_input_name(Node* node, std::string name);
  /// An output with what the file states about it; without, if it gives the name only.
  void add_output(ValueInfo info, bool is_declared = true);
  void add_info(ValueInfo info) { infos_.push_back(std::move(info)); }

  void connect();

 private:
  struct NodeInput {
    Node* node;
    std::string name;
  };
  struct Output {
    ValueInfo info;
    bool is_declared;
  };

  Value* resolve(const std::string& name);
  void state(Value& value, ValueInfo&& info);

  Graph& graph_;
  Kind kind_;
  std::vector<NodeInput> node_inputs_;
  std::vector<Output> outputs_;
  std::vector<ValueInfo> infos_;
};

}  // namespace ingot::onnx
