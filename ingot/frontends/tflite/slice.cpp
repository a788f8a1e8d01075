// SLICE and STRIDED_SLICE.
#include <limits>

#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBeforeStart = std::numeric_limits<std::int64_t>::min();

bool has_bit(std::int64_t mask, std::size_t i) { return (mask >> i & 1) != 0; }

/// What a mask makes of the elements of an index list: fixed numbers in some places.
Value* with_fixed(Op& op, Value* list, const std::vector<std::optional<std::int64_t>>& fixed) {
  bool any = false;
  Ints numbers, flags;
  for (const auto& f : fixed) {
    numbers.push_back(f.value_or(0));
    flags.push_back(f.has_value());
    any |= f.has_value();
  }
  if (!any) return list;
  Value* chosen = op.b.ints(numbers);
  Value* number_flags = op.b.ints(flags);
  Value* is_fixed = op.b.cast(number_flags, DType::boolean);
  return op.b.where(is_fixed, chosen, list);
}

}  // namespace

void slice(Op& op) {
  const std::int64_t rank = op.rank(0);
  Ints axes;
  for (std::int64_t i = 0; i < rank; ++i) axes.push_back(i);
  const auto begin = op.known_ints(1), size = op.known_ints(2);
  Value* starts = nullptr;
  Value* ends = nullptr;
  if (begin && size) {
    Ints last;
    for (std::size_t i = 0; i < size->size() && i < begin->size(); ++i)
      last.push_back((*size)[i] < 0 ? kEnd : (*begin)[i] + (*size)[i]);
    starts = op.b.ints(*begin);
    ends = op.b.ints(last);
  } else {
    starts = op.index_list(1);
    Value* sizes = op.index_list(2);
    Value* sum = op.b.add(starts, sizes);
    Value* zero = op.b.index(0);
    Value* is_open = op.b.op("Less", {sizes, zero});
    Value* end = op.b.index(kEnd);
    ends = op.b.where(is_open, end, sum);
  }
  Value* along = op.b.ints(axes);
  op.move(0, [&](Value* x) { return op.b.op("Slice", {x, starts, ends, along}); });
}

void strided_slice(Op& op) {
  const Ints strides = op.ints(3, "the strides");
  const std::size_t count = strides.size();
  const std::int64_t begin_mask = op.options.get_int("begin_mask"), end_mask = op.options.get_int("end_mask");
  const std::int64_t ellipsis = op.options.get_int("ellipsis_mask");
  const std::int64_t new_axis = op.options.get_int("new_axis_mask"), shrink = op.options.get_int("shrink_axis_mask");
  const bool is_offset = op.options.has("offset") && op.options.get_bool("offset");
  const auto rank = static_cast<std::size_t>(op.rank(0));

  // Which axis of the input each entry is about, and where the output gets or loses axes.
  std::size_t used = 0;
  for (std::size_t i = 0; i < count; ++i) used += !has_bit(new_axis, i) && !has_bit(ellipsis, i);
  op.require(used <= rank, "there are more entries than the input has axes");
  std::vector<std::size_t> entries;
  Ints axes, added, dropped;
  std::size_t axis = 0, out = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (has_bit(ellipsis, i)) {
      axis += rank - used;
      out += rank - used;
    } else if (has_bit(new_axis, i)) {
      added.push_back(static_cast<std::int64_t>(out++));
    } else {
      entries.push_back(i);
      axes.push_back(static_cast<std::int64_t>(axis++));
      if (has_bit(shrink, i))
        dropped.push_back(axes.back());
      else
        ++out;
    }
  }
  const auto begin = op.known_ints(1), end = op.known_ints(2);
  Ints steps, first(entries.size()), last(entries.size());
  std::vector<std::optional<std::int64_t>> fixed_first(entries.size()), fixed_last(entries.size());
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const std::size_t i = entries[k];
    const bool is_back = strides[i] < 0;
    steps.push_back(has_bit(shrink, i) ? 1 : strides[i]);
    if (has_bit(begin_mask, i) && !has_bit(shrink, i)) fixed_first[k] = is_back ? -1 : 0;
    if (has_bit(end_mask, i) && !has_bit(shrink, i)) fixed_last[k] = is_back ? kBeforeStart : kEnd;
    if (!begin || !end) continue;
    op.require(i < begin->size() && i < end->size(), "begin, end and strides differ in length");
    first[k] = fixed_first[k].value_or((*begin)[i]);
    last[k] = fixed_last[k].value_or(is_offset ? (*begin)[i] + (*end)[i] : (*end)[i]);
    // A step backwards to before the start cannot be said by -1, which is the last element.
    if (has_bit(shrink, i)) last[k] = first[k] == -1 ? kEnd : first[k] + 1;
  }
  Value* starts = nullptr;
  Value* ends = nullptr;
  if (begin && end) {
    starts = op.b.ints(first);
    ends = op.b.ints(last);
  } else {
    Ints places;
    for (const std::size_t i : entries) places.push_back(static_cast<std::int64_t>(i));
    const auto chosen_from = [&](Value* list) {
      if (places.size() == count) return list;
      Value* chosen = op.b.ints(places);
      return op.b.op("Gather", {list, chosen});
    };
    Value* raw_first = chosen_from(op.index_list(1));
    Value* raw_last = chosen_from(op.index_list(2));
    if (is_offset) raw_last = op.b.add(raw_first, raw_last);
    Ints shrinks;
    for (const std::size_t i : entries) shrinks.push_back(has_bit(shrink, i));
    if (!dropped.empty()) {
      Value* one = op.b.index(1);
      Value* next = op.b.add(raw_first, one);
      Value* minus = op.b.index(-1);
      Value* is_last = op.b.op("Equal", {raw_first, minus});
      Value* to_end = op.b.index(kEnd);
      Value* single = op.b.where(is_last, to_end, next);
      Value* numbers = op.b.ints(shrinks);
      Value* flags = op.b.cast(numbers, DType::boolean);
      raw_last = op.b.where(flags, single, raw_last);
    }
    starts = with_fixed(op, raw_first, fixed_first);
    ends = with_fixed(op, raw_last, fixed_last);
  }
  Value* along = op.b.ints(axes);
  Value* by = op.b.ints(steps);
  op.move(0, [&](Value* x) {
    if (!axes.empty()) x = op.b.op("Slice", {x, starts, ends, along, by});
    if (!dropped.empty()) x = op.b.squeeze(x, dropped);
    if (!added.empty()) x = op.b.unsqueeze(x, added);
    return x;
  });
}

}  // namespace ingot::frontends::tflite
