#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ingot/ir/opaque_model.h"
#include "ingot/ir/tensor.h"

namespace ingot {

struct GraphView;
/// What an attribute holds. One graph is a list of one; nothing at all stands for what a function's call will give.
using AttributeValue =
    std::variant<std::monostate, float, std::int64_t, std::string, Tensor, SparseTensor, Type, std::vector<float>,
                 std::vector<std::int64_t>, std::vector<std::string>, std::vector<Tensor>, std::vector<SparseTensor>,
                 std::vector<Type>, std::vector<GraphView>>;

struct AttributeView {
  std::string name;
  AttributeValue value;
  std::string reference{};  // inside a function: the function's attribute that gives the value
};

struct NodeView {
  std::string name, domain, op;              // domain "": ai.onnx
  std::vector<std::string> inputs, outputs;  // names of values; "": absent
  std::vector<AttributeView> attributes;
  Metadata metadata;
};

/// An input or output of a graph.
struct PortView {
  std::string name;
  Type type;
  bool has_default = false;  // an input that may be left out
};

struct InitializerView {
  std::string name;
  Tensor value;  // shares the model's bytes; empty where `sparse` is there
  std::optional<SparseTensor> sparse{};
};

struct GraphView {
  std::string name;
  std::vector<PortView> inputs, outputs;
  std::vector<InitializerView> initializers;
  std::vector<NodeView> nodes;  // in the file's order
};

struct FunctionView {
  std::string domain, name;
  std::vector<std::string> attributes;  // that calls give, with and without a default
  GraphView body;
};

// What a model is made of, as it is now. Nothing here follows later changes of the model or copies its weights, and all
// of it may outlive the model. `inputs_of` and `initializers_of` do not walk the nodes.
std::vector<PortView> inputs_of(const Model& model);
std::vector<PortView> outputs_of(const Model& model);
std::vector<InitializerView> initializers_of(const Model& model);
std::vector<NodeView> nodes_of(const Model& model);
std::vector<FunctionView> functions_of(const Model& model);
/// What nodes of the main graph make, with the types that the model states; adjust() with `infer_types` states all.
std::vector<PortView> values_of(const Model& model);

}  // namespace ingot
