// What every model from PyTorch begins and ends with.
#include "ingot/frontends/torch/finish.h"

#include "ingot/ir/drop_unread.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/versions.h"

namespace ingot::frontends::torch {

Model empty_model(const std::string& name) {
  Model model;
  model.producer_name = "ingot";
  model.opsets.set("", ops::newest_opset(""));
  model.ir_version = ops::ir_version_for(model.opsets);
  model.graph->name = name;
  return model;
}

void finish(Model& model) {
  drop_unread(model);
  for (const GraphPlace& place : all_graphs(model))
    for (Node& node : place.graph->nodes()) {
      if (node.output()) node.name = node.output()->name();
      if (node.domain.empty() || model.opsets.version(node.domain)) continue;
      const int newest = ops::newest_opset(node.domain);
      model.opsets.set(node.domain, newest ? newest : 1);
    }
  model.ir_version = ops::ir_version_for(model.opsets);
}

}  // namespace ingot::frontends::torch
