#pragma once
#include <string>

#include "ingot/formats/tflite/model.h"

namespace ingot::formats::tflite {

/// One operator with its tensors as a file of its own, for graphs of other formats to carry. Inputs and outputs of its
/// subgraph are what the carrier hands in and takes out, in that order: tensors of the operator, also variables, which
/// come in with their value and go out with the next. Of the other tensors constants have their data.
std::string lone_operator(const Model& model, const SubGraph& graph, const Operator& op,
                          const std::vector<std::int32_t>& inputs, const std::vector<std::int32_t>& outputs);

/// Reads it again. Throws an Error unless it is one operator whose outputs are all there.
Model read_lone_operator(const Bytes& file);

}  // namespace ingot::formats::tflite
