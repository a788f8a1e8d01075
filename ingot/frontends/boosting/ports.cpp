// Inputs and outputs of classic models, as users of ONNX know them.
#include "ingot/frontends/boosting/ports.h"

#include "ingot/base/error.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/versions.h"

namespace ingot::frontends::boosting {

void add_output(Graph& graph, Value* value, const std::string& name) {
  bool is_free = value->producer() != nullptr;
  for (const Use& use : value->uses()) is_free &= use.node != nullptr;
  if (!is_free) {
    GraphBuilder g(graph);
    value = g.op("Identity", {value});
  }
  if (Value* other = graph.find(name); other && other != value)
    graph.rename(value, graph.fresh_name(name));
  else
    graph.rename(value, name);
  value->is_declared = true;
  graph.add_output(value);
}

void add_class_outputs(Graph& graph, Value* label, Value* probabilities, Value* scores, const ClassNames& names,
                       const Wishes& wishes) {
  GraphBuilder g(graph);
  if (label) add_output(graph, label, "label");
  if (wishes.raw_scores && scores) return add_output(graph, scores, "scores");
  if (wishes.raw_scores) throw Error(Code::unsupported_setting, "the model has no scores but its probabilities");
  if (!probabilities) {
    if (scores) add_output(graph, scores, "scores");
    return;
  }
  if (!wishes.zipmap) return add_output(graph, probabilities, "probabilities");
  if (names.texts.empty() && names.integers.empty())
    throw Error(Code::unsupported_setting, "the model says more than one thing of a row, which no map can hold")
        .hint("leave --zipmap out");
  Attrs attrs;
  if (!names.texts.empty())
    attrs.push_back({"classlabels_strings", names.texts});
  else
    attrs.push_back({"classlabels_int64s", names.integers});
  add_output(graph, g.op("ZipMap", {g.cast(probabilities, DType::f32)}, attrs), "probabilities");
}

Model new_model(const std::string& name) {
  Model model;
  model.producer_name = "ingot";
  model.opsets.set("", ops::newest_opset(""));
  model.graph->name = name;
  return model;
}

void finish_model(Model& model) {
  drop_unread(*model.graph);
  for (const GraphPlace& place : all_graphs(model))
    for (Node& node : place.graph->nodes()) {
      if (node.output()) node.name = node.output()->name();
      if (node.domain.empty() || model.opsets.version(node.domain)) continue;
      const int newest = ops::newest_opset(node.domain);
      model.opsets.set(node.domain, newest ? newest : 1);
    }
  model.ir_version = ops::ir_version_for(model.opsets);
}

}  // namespace ingot::frontends::boosting
