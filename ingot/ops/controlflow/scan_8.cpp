// Scan-8, which ran over a batch of sequences, as a scan over the batch and a loop over each sequence.
#include "ingot/ops/controlflow/scan_8.h"

#include <algorithm>

namespace ingot::ops {
namespace {

struct Signature {
  std::size_t states, scanned;
  std::vector<std::int64_t> directions;
};

Type one_of_batch(const Type& batch) {
  Type one = batch;
  one.notes.reset();
  if (one.shape && !one.shape->empty()) one.shape->erase(one.shape->begin());
  return one;
}

// A node, not an initializer: files of that time make every initializer an input, which a body cannot have.
Value* constant(GraphBuilder& g, Tensor value) {
  return g.node("Constant", "", {}, {{"value", std::move(value)}}, 1)->output();
}
Value* index(GraphBuilder& g, std::int64_t i) { return constant(g, Tensor::scalar(i)); }

// The body of Scan-8 with the inputs of a loop's body: the slices are gathered by the counter.
GraphPtr loop_body(const Graph& scan_body, Graph& parent, const Signature& s, const Values& sequences, Value* length) {
  Graph::ValueMap map;
  GraphPtr body = scan_body.clone(&parent, map);
  const Values old(body->inputs().begin(), body->inputs().end());
  GraphBuilder g(*body, body->first(), false);
  Value* counter = body->add_input(body->fresh_name("counter"), Type::tensor(DType::i64, Shape()));
  Value* condition = body->add_input(body->fresh_name("condition"), Type::tensor(DType::boolean, Shape()));
  for (std::size_t i = 0; i < s.states; ++i) {
    Value* state = body->add_input(body->fresh_name(old[i]->name()), old[i]->type);
    body->replace_all_uses(old[i], state);
  }
  Value* backwards = nullptr;
  for (std::size_t i = 0; i < s.scanned; ++i) {
    Value* at = counter;
    if (i < s.directions.size() && s.directions[i] != 0) {
      if (!backwards) backwards = g.sub(g.sub(length, index(g, 1)), counter);
      at = backwards;
    }
    Value* slice = g.op("Gather", {sequences[i], at}, {{"axis", 0}});
    slice->type = old[s.states + i]->type;
    body->replace_all_uses(old[s.states + i], slice);
  }
  body->erase_inputs_if([&](const Value& v) { return std::ranges::find(old, &v) != old.end(); });
  Values outputs = body->outputs();
  GraphBuilder at_end(*body, nullptr, false);
  outputs.insert(outputs.begin(), at_end.op("Identity", {condition}));
  for (std::size_t i = 0; i < outputs.size(); ++i) body->set_output(i, outputs[i]);
  return body;
}

}  // namespace

void scan_8_to_9(StepContext& c) {
  const auto* body = c.node.attributes.get<GraphPtr>("body");
  const std::int64_t scanned = c.node.attributes.int_or("num_scan_inputs", 0);
  if (c.node.input(0)) c.cannot("sequences of different lengths are not supported since opset 9");
  const std::size_t count = c.node.input_count() ? c.node.input_count() - 1 : 0;
  if (!body || !*body || scanned < 1 || static_cast<std::size_t>(scanned) > count || (*body)->inputs().size() != count)
    c.cannot("the body does not fit the node");
  const Signature s = {count - static_cast<std::size_t>(scanned), static_cast<std::size_t>(scanned),
                       c.node.attributes.ints_or("directions", {})};

  auto batch = std::make_unique<Graph>(&c.node.graph());
  batch->name = "one_of_batch";
  Values inputs, ones;
  for (std::size_t i = 0; i < count; ++i) {
    inputs.push_back(c.node.input(i + 1));
    ones.push_back(batch->add_input(batch->fresh_name("one"), one_of_batch(c.type(i + 1))));
  }
  GraphBuilder g(*batch, nullptr, false);
  const Values sequences(ones.begin() + static_cast<std::ptrdiff_t>(s.states), ones.end());
  Value* length = g.op("Gather", {g.shape(sequences.front()), index(g, 0)}, {{"axis", 0}});
  Values loop_inputs = {length, constant(g, Tensor::scalar<bool>(true))};
  loop_inputs.insert(loop_inputs.end(), ones.begin(), ones.begin() + static_cast<std::ptrdiff_t>(s.states));
  Node* loop = g.node("Loop", "", loop_inputs, {}, (*body)->output_count());
  loop->attributes.set(Attribute("body", AttrValue(loop_body(**body, *batch, s, sequences, length))));
  for (Value* output : loop->outputs()) batch->add_output(output);

  Node* scan =
      c.g.node("Scan", "", inputs, {{"num_scan_inputs", static_cast<std::int64_t>(count)}}, c.node.output_count());
  scan->attributes.set(Attribute("body", AttrValue(std::move(batch))));
  c.replace(scan->outputs());
}

}  // namespace ingot::ops
