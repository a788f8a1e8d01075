// Subgraphs of nodes that are differentiated.
#include "ingot/train/subgraphs.h"

#include "ingot/base/error.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/sequence/elements.h"

namespace ingot::train {

Graph& body_of(const Node& node, std::string_view name) {
  const GraphPtr* body = node.attributes.get<GraphPtr>(name);
  if (!body || !*body) throw Error(Code::not_differentiable, "attribute '" + std::string(name) + "' is missing");
  return **body;
}

void infer_again(Node& node) {
  ops::InferSession session;
  ops::infer_node(node, session);
}

void add_gradient_output(GraphBuilder& g, Value* gradient, Value* like) {
  if (!gradient) {
    gradient = ops::zeros_like(g, like);
  } else if (&gradient->graph() != &g.graph() || !gradient->producer()) {
    gradient = g.op("Identity", {gradient});
  }
  g.graph().add_output(gradient);
}

}  // namespace ingot::train
