// Nodes that do something with each element of a sequence.
#include "ingot/ops/sequence/elements.h"

#include "ingot/ops/infer.h"

namespace ingot::ops {

Value* map_sequences(GraphBuilder& g, const Values& sequences,
                     const std::function<Value*(GraphBuilder&, const Values&)>& build) {
  auto body = std::make_unique<Graph>(&g.graph());
  body->name = "element";
  Values elements;
  for (const Value* sequence : sequences)
    elements.push_back(body->add_input(g.graph().fresh_name("element"), sequence->type.inner()));
  GraphBuilder inner(*body);
  inner.name_after("element");
  body->add_output(build(inner, elements));
  Node* made = g.node("SequenceMap", "", sequences, {}, 1);
  made->attributes.append(Attribute("body", AttrValue(std::move(body))));
  InferSession session;
  infer_node(*made, session);
  return made->output();
}

Value* zeros_like(GraphBuilder& g, Value* like) {
  if (like->type.is_sequence())
    return map_sequences(g, {like}, [](GraphBuilder& inner, const Values& x) { return zeros_like(inner, x[0]); });
  const Tensor zero = Tensor::scalar(0, like->type.elem).reshaped({1});
  return g.op("ConstantOfShape", {g.shape(like)}, {{"value", zero}});
}

Value* sum_of(GraphBuilder& g, Value* a, Value* b) {
  if (!a->type.is_sequence()) return g.add(a, b);
  return map_sequences(g, {a, b}, [](GraphBuilder& inner, const Values& x) { return sum_of(inner, x[0], x[1]); });
}

}  // namespace ingot::ops
