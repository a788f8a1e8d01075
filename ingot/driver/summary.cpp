// A model at a glance.
#include "ingot/driver/summary.h"

#include <unordered_map>

#include "ingot/ir/has_default.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/fit_ir_version.h"

namespace ingot::driver {
namespace {

std::string full_name(std::string_view domain, std::string_view name) {
  const std::string_view d = normal_domain(domain);
  return d.empty() ? std::string(name) : std::string(d) + "." + std::string(name);
}

std::string type_of(const Value& value) { return value.type ? value.type.str() : "?"; }

}  // namespace

Summary summarise(const Model& model) {
  Summary s;
  s.ir_version = model.ir_version;
  s.model_version = model.model_version;
  s.producer = model.producer_name + (model.producer_version.empty() ? "" : " " + model.producer_version);
  s.domain = model.domain;
  s.graph_name = model.graph->name;
  s.doc_string = model.doc_string;
  for (const auto& entry : model.metadata)
    if (entry.first != passes::kNodeMetadataProperty) s.metadata.push_back(entry);  // of nodes, not of the model
  for (const OpsetImport& o : model.opsets)
    s.opsets.emplace_back(normal_domain(o.domain).empty() ? "ai.onnx" : o.domain, o.version);
  for (const Value* v : model.graph->inputs()) {
    const bool is_optional = has_default(*v);
    if (!is_optional || model.ir_version >= 4) s.inputs.push_back({v->name(), type_of(*v), is_optional});
  }
  for (const Value* v : model.graph->outputs()) s.outputs.push_back({v->name(), type_of(*v), false});

  std::unordered_map<std::string, std::size_t> calls;
  for_each_graph(*model.graph, [&](Graph& g) {
    s.nodes += g.node_count();
    if (g.parent()) ++s.subgraphs;
    for (const Node& node : g.nodes()) {
      const std::string name = full_name(node.domain, node.op);
      ++s.operators[name];
      if (!model.functions.empty()) ++calls[name];
      for (const auto& [key, value] : node.metadata)
        if (key == "ingot.stage") ++s.stages[value];
    }
    for (const Value* v : g.initializers()) {
      const Tensor& t = v->initializer ? *v->initializer : v->sparse_initializer->values;
      const auto elements = static_cast<std::uint64_t>(t.size());
      std::uint64_t bytes = t.bytes().size();
      if (t.dtype() == DType::string)
        for (const std::string& text : t.strings()) bytes += text.size();
      s.parameter_elements += elements;
      s.parameter_bytes += bytes;
      s.parameters.push_back(
          {v->name(), (v->initializer ? t.type() : v->sparse_initializer->type()).str(), elements, bytes});
    }
  });
  for (const auto& f : model.functions) {
    const std::string name = full_name(f->domain, f->name);
    s.functions.push_back({name, f->body->node_count(), calls[name]});
  }
  for (const TrainingInfo& t : model.training) {
    Summary::Training line;
    line.has_initialization = t.initialization != nullptr;
    line.has_algorithm = t.algorithm != nullptr;
    if (t.algorithm) line.algorithm_nodes = t.algorithm->node_count();
    for (const auto& [key, value] : t.update_binding) line.state.push_back(key);
    s.training.push_back(std::move(line));
  }
  return s;
}

std::string readable_text(const Model& model) {
  Model shown = model.clone();
  passes::restore_node_metadata(shown);  // old files keep what is said of nodes in one long property
  return onnx::to_text(shown, onnx::TextOptions::for_people());
}

}  // namespace ingot::driver
