#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot::backends::torch {

/// A node as one of torch.nn's layers.
struct Layer {
  std::string made;    // "nn.Conv2d(3, 8, 3)"
  const Value* input;  // what the layer is called with
  /// The layer's own tensors: their names in it, the initializers they come from, their values.
  struct Field {
    std::string name;
    const Value* value;  // null: it is the layer's alone
    Tensor tensor;
    bool is_transposed = false;
  };
  std::vector<Field> fields{};
  std::vector<const Node*> parts{};  // other nodes that the layer stands for
};

/// Nothing: the node is no layer of whose weights all are parameters of the module by `is_own`.
std::optional<Layer> layer_of(const Node& node, const std::function<bool(const Value&)>& is_own);

/// A name for a layer: what its tensors are called before ".weight" and ".bias", or the node's, or the operator's.
std::string path_of(const Node& node, const Layer& layer);

}  // namespace ingot::backends::torch
