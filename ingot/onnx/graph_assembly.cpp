// Names become links: the second step of reading a graph.
#include "ingot/onnx/graph_assembly.h"

namespace ingot::onnx {

void GraphAssembly::add_input(ValueInfo info, bool is_declared) {
  Value* value = graph_.add_input(std::move(info.name), std::move(info.type));
  value->is_declared = is_declared;
  value->doc_string = std::move(info.doc_string);
  value->metadata = std::move(info.metadata);
  value->unknown = std::move(info.unknown);
}

void GraphAssembly::add_input_name(Node* node, std::string name) { node_inputs_.push_back({node, std::move(name)}); }

void GraphAssembly::add_output(ValueInfo info, bool is_declared) { outputs_.push_back({std::move(info), is_declared}); }

Value* GraphAssembly::resolve(const std::string& name) {
  Value* value = graph_.find_visible(name);
  return value ? value : graph_.add_undefined(name);
}

void GraphAssembly::state(Value& value, ValueInfo&& info) {
  if (value.is_declared)
    value.type = refine(value.type, info.type);
  else if (info.type || info.type.notes)
    value.type = std::move(info.type);
  // A subgraph may hand out a value of an outer graph: what it says does not make the outer graph say it.
  if (&value.graph() == &graph_) value.is_declared = true;
  if (value.doc_string.empty()) value.doc_string = std::move(info.doc_string);
  if (value.metadata.empty()) value.metadata = std::move(info.metadata);
  if (value.unknown.empty()) value.unknown = std::move(info.unknown);
}

void GraphAssembly::connect() {
  for (NodeInput& input : node_inputs_) input.node->add_input(input.name.empty() ? nullptr : resolve(input.name));
  for (Output& output : outputs_) {
    Value* value = resolve(output.info.name);
    graph_.add_output(value);
    if (output.is_declared) state(*value, std::move(output.info));
  }
  for (ValueInfo& info : infos_) {
    Value* value = graph_.find(info.name);
    const bool is_defined = value && !value->is_undefined();
    // In a function, where inputs and outputs are bare names anyway, one more of them says nothing.
    if (kind_ == Kind::function && is_defined && !info.type && !info.type.notes && info.doc_string.empty() &&
        info.metadata.empty() && info.unknown.empty())
      continue;
    if (is_defined)
      state(*value, std::move(info));
    else
      graph_.stray_infos.push_back(std::move(info));
  }
  node_inputs_.clear();
  outputs_.clear();
  infos_.clear();
}

}  // namespace ingot::onnx
