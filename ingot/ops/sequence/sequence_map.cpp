// SequenceMap: a graph applied to each element of a sequence.
#include <algorithm>

#include "ingot/ops/controlflow/rounds.h"
#include "ingot/ops/controlflow/run_body.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const Graph* body = body_of(c);
  if (!body) return;
  if (body->inputs().size() != c.input_count())
    c.fail("the body has " + std::to_string(body->inputs().size()) + " inputs for " + std::to_string(c.input_count()));
  if (body->output_count() < c.output_count()) c.fail("the node has more outputs than its body gives");
  if (c.type(0) && !c.type(0).is_sequence())
    c.fail("the first input is " + c.type(0).schema_name() + ", not a sequence");
  std::vector<Type> inputs;
  for (std::size_t i = 0; i < c.input_count(); ++i)
    inputs.push_back(c.type(i).is_sequence() ? c.type(i).inner() : c.type(i));
  const std::vector<Type> outputs = c.subgraph("body", inputs);
  for (std::size_t i = 0; i < c.output_count(); ++i)
    if (outputs[i]) c.out(i, Type::sequence(outputs[i]));
}

// The body with the inputs of a loop's body: elements are taken by the counter, results appended to sequences.
GraphPtr loop_body(const Node& node, const Graph& map_body) {
  Graph::ValueMap map;
  GraphPtr body = map_body.clone(&node.graph(), map);
  const Values old(body->inputs().begin(), body->inputs().end());
  GraphBuilder g(*body, body->first(), false);
  Value* counter = body->add_input(body->fresh_name("counter"), Type::tensor(DType::i64, Shape()));
  Value* condition = body->add_input(body->fresh_name("condition"), Type::tensor(DType::boolean, Shape()));
  for (std::size_t i = 0; i < old.size(); ++i) {
    Value* outer = node.input(i);
    Value* element = outer->type.is_sequence() ? g.op("SequenceAt", {outer, counter}) : outer;
    if (element != outer) element->type = outer->type.inner();
    body->replace_all_uses(old[i], element);
  }
  body->erase_inputs_if([&](const Value& v) { return std::ranges::find(old, &v) != old.end(); });
  const Values results = body->outputs();
  GraphBuilder at_end(*body, nullptr, false);
  body->resize_outputs(0);
  body->add_output(at_end.op("Identity", {condition}));
  for (std::size_t i = 0; i < node.output_count(); ++i) {
    Value* so_far = body->add_input(body->fresh_name("so_far"), node.output(i) ? node.output(i)->type : Type());
    body->add_output(at_end.op("SequenceInsert", {so_far, results[i]}));
  }
  return body;
}

Values decompose(DecomposeContext& c) {
  const auto* body = c.node.attributes.get<GraphPtr>("body");
  if (!body || !*body || (*body)->inputs().size() != c.node.input_count() ||
      (*body)->output_count() < c.node.output_count())
    return {};
  for (const Value* input : c.node.inputs())
    if (!input || !input->type) return {};
  GraphBuilder& g = c.g;
  Values inputs = {g.op("SequenceLength", {c.in(0)}), g.constant(Tensor::scalar<bool>(true))};
  for (std::size_t i = 0; i < c.node.output_count(); ++i) {
    const Value* output = c.node.output(i) ? c.node.output(i) : (*body)->output(i);
    const DType elem = output->type.is_sequence() ? output->type.inner().elem : output->type.elem;
    if (elem == DType::undefined) return {};
    inputs.push_back(g.op("SequenceEmpty", {}, {{"dtype", elem}}));
  }
  Node* loop = g.node("Loop", "", inputs, {}, c.node.output_count());
  loop->attributes.set(Attribute("body", AttrValue(loop_body(c.node, **body))));
  InferSession session;
  infer_node(*loop, session);
  return loop->outputs();
}

void run(KernelContext& c) {
  const Graph& body = graph_of(c, "body");
  if (body.inputs().size() != c.input_count() || body.output_count() < c.output_count())
    c.fail("the inputs and outputs of the body do not fit those of the node");
  const Sequence* first = c.has(0) ? c.datum(0).sequence() : nullptr;
  if (!first) c.fail("the first input is not a sequence");
  std::vector<Sequence> results(c.output_count());
  for (std::size_t k = 0; k < first->size(); ++k) {
    std::vector<Datum> inputs;
    for (std::size_t i = 0; i < c.input_count(); ++i) {
      const Sequence* sequence = c.datum(i).sequence();
      if (sequence && sequence->size() != first->size()) c.fail("the sequences differ in length");
      inputs.push_back(sequence ? (*sequence)[k] : c.datum(i));
    }
    std::vector<Datum> outputs = c.host().run_graph(body, inputs);
    for (std::size_t i = 0; i < results.size(); ++i) results[i].push_back(std::move(outputs[i]));
  }
  for (std::size_t i = 0; i < results.size(); ++i) c.set(i, std::move(results[i]));
}

}  // namespace

constinit const OpDef defs::SequenceMap = {
    .name = "SequenceMap",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
