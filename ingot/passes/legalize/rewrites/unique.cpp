// Unique slices along an axis: each is compared with each.
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {

Values rewrite_unique(Rewriting& r) {
  const auto dims = r.dims();
  if (!dims || !r.node.attributes.has("axis")) return {};
  if (r.elem() != DType::f32 && r.elem() != DType::i32 && r.elem() != DType::i64) return {};
  const std::int64_t axis = r.axis(0, dims->size()), count = (*dims)[static_cast<std::size_t>(axis)];
  std::int64_t width = 1;
  std::vector<std::int64_t> front{axis};
  for (std::size_t i = 0; i < dims->size(); ++i) {
    if (static_cast<std::int64_t>(i) == axis) continue;
    width *= (*dims)[i];
    front.push_back(static_cast<std::int64_t>(i));
  }
  constexpr std::int64_t kMost = 1 << 22;
  if (count < 1 || width < 1 || count * width > kMost || count * count * width > kMost) return {};

  GraphBuilder& g = r.g;
  Value* rows = g.reshape(g.transpose(r.in(), front), {count, width});
  Value* these = g.unsqueeze(rows, {1});
  Value* those = g.unsqueeze(rows, {0});
  Value* is_other = g.cast(g.op("Not", {g.op("Equal", {these, those})}), DType::f32);  // [count, count, width]
  Value* along_width = g.ints({2});
  Value* differ = g.op("ReduceMax", {is_other, along_width}, {{"keepdims", 0}});
  Value* equal = g.sub(1.0, differ);
  Value* first = g.op("ArgMax", {equal}, {{"axis", 1}, {"keepdims", 0}});  // the first row that is the same
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
  Value* own = g.ints(numbers);
  Value* is_first = g.op("Equal", {first, own});
  Value* leads = g.cast(is_first, DType::f32);
  // Row i comes before row j: by the first element in which they differ, or by where they appear.
  Value* comes_before = nullptr;
  if (r.attr("sorted", 1)) {
    Value* at = g.op("ArgMax", {is_other}, {{"axis", 2}, {"keepdims", 0}});
    Value* depth = g.index(width);
    Value* off_on = g.constant(Tensor::of<float>({2}, {0, 1}));
    Value* there = g.op("OneHot", {at, depth, off_on}, {{"axis", -1}});
    Value* is_less = g.cast(g.op("Less", {these, those}), DType::f32);
    Value* less_there = g.reduce_sum(g.mul(is_less, there), {2}, false);
    comes_before = g.mul(less_there, differ);
  } else {
    Value* column = g.unsqueeze(own, {1});
    Value* row = g.unsqueeze(first, {0});
    comes_before = g.cast(g.op("Less", {column, row}), DType::f32);
  }
  Value* leaders_before = g.mul(comes_before, g.unsqueeze(leads, {1}));
  Value* ranks = g.cast(g.reduce_sum(leaders_before, {0}, false), DType::i64);
  // The leader of each rank, in the order of the ranks.
  Value* found = g.cast(g.reduce_sum(leads, {0}, false), DType::i64);
  Value* zero = g.index(0);
  Value* one = g.index(1);
  Value* order = g.unsqueeze(g.op("Range", {zero, found, one}), {1});
  Value* has_rank = g.cast(g.op("Equal", {order, g.unsqueeze(ranks, {0})}), DType::f32);
  Value* marks = g.mul(has_rank, leads);
  Value* places = g.op("ArgMax", {marks}, {{"axis", 1}, {"keepdims", 0}});
  Value* values = g.op("Gather", {r.in(), places}, {{"axis", axis}});
  Value* sizes = g.cast(g.reduce_sum(equal, {1}, false), DType::i64);
  Value* counts = g.op("Gather", {sizes, places}, {{"axis", 0}});
  Values made{values, places, ranks, counts};
  made.resize(r.node.output_count());
  return made;
}

}  // namespace ingot::passes::legalize
