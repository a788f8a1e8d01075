#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "ingot/ir/model.h"

namespace ingot::passes::rules {

/// 'name', fit to be printed: control characters escaped, long names shortened.
std::string quoted(std::string_view name);
/// "Conv", or with its domain where that is not ai.onnx: "com.acme.Conv".
std::string op_name(std::string_view domain, std::string_view op);
std::string domain_name(std::string_view domain);  // "" is ai.onnx
/// "function 'acme.f'", or "'acme.f:overload'".
std::string function_name(const Function& function);

/// Says where in the model something is. Built as problems are found: a model without any pays nothing.
class Places {
 public:
  explicit Places(const Model& model);
  /// For copies of a model whose roots were named by name_roots.
  Places() = default;

  /// "graph", "function 'f'", "node 'if' (If), then_branch": the graph itself.
  std::string of(const Graph& graph);
  std::string of(const Node& node);
  /// As an input, initializer or other value of its graph.
  std::string of(const Value& value);
  /// Something else inside a graph: "graph: output 0".
  std::string in(const Graph& graph, std::string_view what);

  /// To be called where graphs have been destroyed: others may have their addresses now.
  void forget_nested();

 private:
  struct Holder {
    const Node* node;
    std::string attribute;
  };

  const Holder* holder(const Graph& graph);
  /// What stands before something in this graph; empty for the main graph.
  std::string prefix(const Graph& graph);

  std::unordered_map<const Graph*, std::string> roots_;
  std::unordered_map<const Graph*, Holder> holders_;
  std::unordered_set<const Graph*> searched_;
};

/// Makes the graphs of a model, of its functions and of its training carry their places as names, so that copies of
/// them, made while inferring, still tell.
void name_roots(Model& model);

}  // namespace ingot::passes::rules
