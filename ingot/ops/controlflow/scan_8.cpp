// Scan-8, which ran over a batch of sequences, as a scan over the batch and a loop over each sequence.
#include "ingot/ops/controlflow/scan_8.h"

#include <algorithm>

#include "ingot/base/error.h"

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

// What stands behind the end of a sequence in a body's output.
Value* zero_of(GraphBuilder& g, const Value& output) {
  const DType elem = output.type.elem;
  if (elem == DType::undefined || elem == DType::string)
    throw Error(Code::cannot_upgrade, "the number type of the body's output '" + output.name() + "' is needed");
  return constant(g, Tensor::scalar(0, elem));
}

// The body of Scan-8 with the inputs of a loop's body: the slices are gathered by the counter. A sequence that is
// shorter than the others (`is_short`) goes round as often as they do: behind its end states stay, and outputs are 0.
GraphPtr loop_body(const Graph& scan_body, Graph& parent, const Signature& s, const Values& sequences, Value* length,
                   bool is_short) {
  Graph::ValueMap map;
  GraphPtr body = scan_body.clone(&parent, map);
  const Values old(body->inputs().begin(), body->inputs().end());
  GraphBuilder g(*body, body->first(), false);
  Value* counter = body->add_input(body->fresh_name("counter"), Type::tensor(DType::i64, Shape()));
  Value* condition = body->add_input(body->fresh_name("condition"), Type::tensor(DType::boolean, Shape()));
  Value* is_inside = is_short ? g.op("Less", {counter, length}) : nullptr;
  Values states;
  for (std::size_t i = 0; i < s.states; ++i) {
    states.push_back(body->add_input(body->fresh_name(old[i]->name()), old[i]->type));
    body->replace_all_uses(old[i], states.back());
  }
  Value* backwards = nullptr;
  for (std::size_t i = 0; i < s.scanned; ++i) {
    Value* at = counter;
    if (i < s.directions.size() && s.directions[i] != 0) {
      if (!backwards) {
        backwards = g.sub(g.sub(length, index(g, 1)), counter);
        if (is_short) backwards = g.where(is_inside, backwards, counter);
      }
      at = backwards;
    }
    Value* slice = g.op("Gather", {sequences[i], at}, {{"axis", 0}});
    slice->type = old[s.states + i]->type;
    body->replace_all_uses(old[s.states + i], slice);
  }
  body->erase_inputs_if([&](const Value& v) { return std::ranges::find(old, &v) != old.end(); });
  Values outputs = body->outputs();
  GraphBuilder at_end(*body, nullptr, false);
  for (std::size_t i = 0; is_short && i < outputs.size(); ++i) {
    Value* beyond = i < states.size() ? states[i] : zero_of(at_end, *outputs[i]);
    const Type type = outputs[i]->type;
    outputs[i] = at_end.where(is_inside, outputs[i], beyond);
    outputs[i]->type = type;
  }
  outputs.insert(outputs.begin(), at_end.op("Identity", {condition}));
  for (std::size_t i = 0; i < outputs.size(); ++i) body->set_output(i, outputs[i]);
  return body;
}

}  // namespace

void scan_8_to_9(StepContext& c) {
  const auto* body = c.node.attributes.get<GraphPtr>("body");
  const std::int64_t scanned = c.node.attributes.int_or("num_scan_inputs", 0);
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
  Value* own_length = nullptr;  // of each sequence of the batch
  if (c.node.input(0)) {
    inputs.push_back(c.node.input(0));
    own_length = batch->add_input(batch->fresh_name("length"), Type::tensor(DType::i64, Shape()));
  }
  GraphBuilder g(*batch, nullptr, false);
  const Values sequences(ones.begin() + static_cast<std::ptrdiff_t>(s.states), ones.end());
  Value* length = g.op("Gather", {g.shape(sequences.front()), index(g, 0)}, {{"axis", 0}});
  Values loop_inputs = {length, constant(g, Tensor::scalar<bool>(true))};
  loop_inputs.insert(loop_inputs.end(), ones.begin(), ones.begin() + static_cast<std::ptrdiff_t>(s.states));
  Node* loop = g.node("Loop", "", loop_inputs, {}, (*body)->output_count());
  loop->attributes.set(Attribute(
      "body",
      AttrValue(loop_body(**body, *batch, s, sequences, own_length ? own_length : length, own_length != nullptr))));
  for (Value* output : loop->outputs()) batch->add_output(output);

  const auto all = static_cast<std::int64_t>(inputs.size());
  Node* scan = c.g.node("Scan", "", inputs, {{"num_scan_inputs", all}}, c.node.output_count());
  scan->attributes.set(Attribute("body", AttrValue(std::move(batch))));
  c.replace(scan->outputs());
}

}  // namespace ingot::ops
