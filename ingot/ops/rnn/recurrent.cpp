// What RNN, GRU and LSTM share.
#include "ingot/ops/rnn/recurrent.h"

#include "ingot/ops/nn/agree.h"

namespace ingot::ops {
namespace {

enum Input : std::size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeephole };

std::int64_t direction_count(const InferContext& c) {
  const std::string direction = c.attr("direction", "forward");
  if (direction == "bidirectional") return 2;
  if (direction != "forward" && direction != "reverse") c.fail("attribute 'direction' is '" + direction + "'");
  return 1;
}

}  // namespace

void infer_recurrent(InferContext& c, std::int64_t gates) {
  const bool batch_first = c.attr("layout", std::int64_t{0}) != 0;
  const Dim directions = direction_count(c);
  for (const std::size_t i : {kX, kW, kR, kInitialH, kInitialC}) require_rank(c, i, 3, "an input");
  require_rank(c, kB, 2, "the bias");
  require_rank(c, kPeephole, 2, "the peephole weights");
  for (const std::size_t i : {kW, kR, kB, kPeephole}) agree(c, directions, c.dim(i, 0), "the number of directions");
  agree(c, c.dim(kX, 2), c.dim(kW, 2), "the size of the input");

  Dim hidden;
  if (const auto* stated = c.node().attributes.get<std::int64_t>("hidden_size")) {
    c.require(*stated >= 1, "attribute 'hidden_size' must be positive");
    hidden = *stated;
  }
  hidden = agree(c, hidden, c.dim(kR, 2), "the hidden size");
  for (const std::size_t i : {kW, kR}) {
    agree(c, c.dim(i, 1), hidden * gates, "the size of the gates");
    hidden = agree(c, hidden, exact_div(c.dim(i, 1), gates), "the hidden size");
  }
  agree(c, c.dim(kB, 1), hidden * (2 * gates), "the size of the bias");
  agree(c, c.dim(kPeephole, 1), hidden * 3, "the size of the peephole weights");

  const std::int64_t batch_axis = batch_first ? 0 : 1;
  const Dim length = c.dim(kX, 1 - batch_axis);
  Dim batch = require_vector(c, kLengths, c.dim(kX, batch_axis), "sequence_lens");
  for (const std::size_t i : {kInitialH, kInitialC}) {
    agree(c, c.dim(i, 2), hidden, "the hidden size");
    agree(c, c.dim(i, batch_first ? 1 : 0), directions, "the number of directions");
    batch = agree(c, batch, c.dim(i, batch_axis), "the batch size");
  }
  c.out_shape(0, batch_first ? Shape{batch, length, directions, hidden} : Shape{length, directions, batch, hidden});
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    c.out_shape(i, batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden});
}

void drop_output_sequence(StepContext& c) { c.node.attributes.erase("output_sequence"); }

void undo_batch_first(StepContext& c) {
  const bool batch_first = c.node.attributes.int_or("layout", 0) != 0;
  c.node.attributes.erase("layout");
  if (!batch_first) return;
  Values inputs = c.node.inputs();
  for (const std::size_t i : {kX, kInitialH, kInitialC})
    if (i < inputs.size() && inputs[i]) inputs[i] = c.g.transpose(inputs[i], {1, 0, 2});
  Node* made = c.g.node(c.node.op, "", inputs, {}, c.node.output_count());
  made->attributes = std::move(c.node.attributes);
  Values outputs = made->outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!c.node.output(i)) continue;
    // Y [seq, dirs, batch, hidden]; the last states [dirs, batch, hidden].
    const std::vector<std::int64_t> to_batch_first =
        i == 0 ? std::vector<std::int64_t>{2, 0, 1, 3} : std::vector<std::int64_t>{1, 0, 2};
    outputs[i] = c.g.transpose(outputs[i], to_batch_first);
  }
  c.replace(outputs);
}

}  // namespace ingot::ops
