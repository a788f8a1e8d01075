#pragma once
#include <optional>

#include "ingot/formats/tensorflow/graph_def.h"
#include "ingot/frontends/keras/layer.h"

namespace ingot::frontends::keras {

/// An input of a node: what flows in, or a constant.
struct NodeInput {
  IrValue* tensor = nullptr;
  std::optional<Tensor> constant{};
};

/// One node of a TensorFlow graph, translated as TensorFlow's own graphs are; gives `outputs` values. The node's inputs
/// are those of the list.
Values translate_node(Call& call, formats::tensorflow::NodeDef node, const std::vector<NodeInput>& inputs,
                      std::size_t outputs);

/// Keras's layer around a node of TensorFlow.
void tensorflow_op_layer(Call& call);

}  // namespace ingot::frontends::keras
