#pragma once
#include <functional>

#include "ingot/backends/tflite/operators.h"
#include "ingot/ir/model.h"

namespace ingot::backends::tflite {

/// An operator of TFLite that ONNX has no words for stands in a model as a call of a function of Ingot's, with the
/// operator itself as an attribute. Functions all of whose calls have such an attribute that fits what they read and
/// write stay calls, which are emitted as that operator. Custom operators stay where the options allow them.
std::function<bool(const Function&)> called_operators(const Model& model, const ExportOptions& options);

/// Variables of such operators are theirs alone: takes them out of the graph's inputs and outputs.
void take_own_states(Graph& graph);

bool is_called_operator(const Node& node);
Refused refuse_called_operator(const Node& node);
void emit_called_operator(NodeOut& n);

}  // namespace ingot::backends::tflite
