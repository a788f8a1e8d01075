// What decodes sequences of labels.
#include "ingot/frontends/repeat.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {

Values ctc_greedy_decoder(const TfNode& n, GraphBuilder& g) {
  // inputs [time, batch, classes], lengths [batch]: the best label of each step, blanks and maybe repetitions left out.
  Value* x = n.input(0);
  Value* best = g.op("ArgMax", {x}, {{"axis", 2}, {"keepdims", 0}});  // [time, batch]
  Value* top = g.op("ReduceMax", {x, g.ints({2})}, {{"keepdims", 0}});
  Value* time = g.unsqueeze(counted(g, size_of(g, x, 0)), {1});
  Value* is_used = g.op("Less", {time, g.unsqueeze(as_int64(g, n.input(1)), {0})});
  const std::int64_t index = n.integer("blank_index", -1);
  Value* blank = index >= 0 ? g.index(index) : g.add(size_of(g, x, 2), g.index(index));
  Value* is_label = g.op("And", {is_used, g.op("Not", {g.op("Equal", {best, blank})})});
  if (n.flag("merge_repeated", false)) {
    Value* earlier = g.op("Slice", {best, g.ints({0}), g.ints({-1}), g.ints({0})});
    Value* before = g.op("Pad", {earlier, g.ints({1, 0, 0, 0}), g.index(-1)});
    is_label = g.op("And", {is_label, g.op("Not", {g.op("Equal", {best, before})})});
  }
  Value* by_batch = g.transpose(is_label, {1, 0});
  Value* labels = g.transpose(best, {1, 0});
  Value* number = g.sub(g.op("CumSum", {g.cast(by_batch, DType::i64), g.index(1)}), g.index(1));
  Value* at = g.transpose(g.op("NonZero", {by_batch}), {1, 0});
  Value* row = g.op("Slice", {at, g.ints({0}), g.ints({1}), g.ints({1})});
  Value* column = g.unsqueeze(g.op("GatherND", {number, at}), {1});
  Value* indices = g.concat({row, column}, 1);
  Value* values = g.op("GatherND", {labels, at});
  Value* lengths = g.reduce_sum(g.cast(by_batch, DType::i64), {1}, false);
  Value* longest = g.op("ReduceMax", {g.concat({lengths, g.ints({0})}, 0)}, {{"keepdims", 1}});
  Value* zero = g.scalar(0, x->type.elem);
  Value* sum = g.neg(g.reduce_sum(g.where(is_used, top, zero), {0}, false));
  return {indices, values, g.concat({g.shape(lengths), longest}, 0), g.unsqueeze(sum, {1})};
}

}  // namespace ingot::frontends::tensorflow
