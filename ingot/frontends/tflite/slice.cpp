// SLICE and STRIDED_SLICE.
#include <limits>

#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBeforeStart = std::numeric_limits<std::int64_t>::min();

bool has_bit(std::int64_t mask, std::size_t i) { return (mask >> i & 1) != 0; }

using Fixed = std::vector<std::optional<std::int64_t>>;

/// What a mask makes of the elements of an index list: fixed numbers in some places.
Value* with_fixed(Op& op, Value* list, const Fixed& fixed) {
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

/// The options of STRIDED_SLICE: masks have a bit for each entry of begin, end and strides.
struct SliceOptions {
  explicit SliceOptions(const Op& op)
      : begin(op.options.get_int("begin_mask")),
        end(op.options.get_int("end_mask")),
        ellipsis(op.options.get_int("ellipsis_mask")),
        new_axis(op.options.get_int("new_axis_mask")),
        shrink(op.options.get_int("shrink_axis_mask")),
        is_offset(op.options.has("offset") && op.options.get_bool("offset")) {}

  std::int64_t begin, end, ellipsis, new_axis, shrink;
  bool is_offset;  // end is a distance from begin
};

/// Which axis of the input each entry is about, and where the output gets or loses axes.
struct SlicedAxes {
  std::vector<std::size_t> entries{};  // those about an axis of the input
  Ints axes{}, added{}, dropped{};
};

SlicedAxes sliced_axes(Op& op, const SliceOptions& options, std::size_t count) {
  const auto rank = static_cast<std::size_t>(op.rank(0));
  std::size_t used = 0;
  for (std::size_t i = 0; i < count; ++i) used += !has_bit(options.new_axis, i) && !has_bit(options.ellipsis, i);
  op.require(used <= rank, "there are more entries than the input has axes");
  SlicedAxes sliced;
  std::size_t axis = 0, out = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (has_bit(options.ellipsis, i)) {
      axis += rank - used;
      out += rank - used;
    } else if (has_bit(options.new_axis, i)) {
      sliced.added.push_back(static_cast<std::int64_t>(out++));
    } else {
      sliced.entries.push_back(i);
      sliced.axes.push_back(static_cast<std::int64_t>(axis++));
      if (has_bit(options.shrink, i))
        sliced.dropped.push_back(sliced.axes.back());
      else
        ++out;
    }
  }
  return sliced;
}

struct Bounds {
  Value* starts = nullptr;
  Value* ends = nullptr;
};

/// Bounds of which all is known; fixed ones come before those listed.
Bounds known_bounds(Op& op, const SliceOptions& options, const std::vector<std::size_t>& entries, const Ints& begin,
                    const Ints& end, const Fixed& fixed_first, const Fixed& fixed_last) {
  Ints first, last;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const std::size_t i = entries[k];
    op.require(i < begin.size() && i < end.size(), "begin, end and strides differ in length");
    first.push_back(fixed_first[k].value_or(begin[i]));
    last.push_back(fixed_last[k].value_or(options.is_offset ? begin[i] + end[i] : end[i]));
    // A step backwards to before the start cannot be said by -1, which is the last element.
    if (has_bit(options.shrink, i)) last[k] = first[k] == -1 ? kEnd : first[k] + 1;
  }
  Value* starts = op.b.ints(first);
  Value* ends = op.b.ints(last);
  return {starts, ends};
}

/// Where single elements end that start there: behind them, of the last one at the end.
Value* ends_of_single(Op& op, Value* starts) {
  Value* one = op.b.index(1);
  Value* next = op.b.add(starts, one);
  Value* minus = op.b.index(-1);
  Value* is_last = op.b.op("Equal", {starts, minus});
  Value* to_end = op.b.index(kEnd);
  return op.b.where(is_last, to_end, next);
}

/// Bounds that the graph computes.
Bounds computed_bounds(Op& op, const SliceOptions& options, const std::vector<std::size_t>& entries, std::size_t count,
                       const Fixed& fixed_first, const Fixed& fixed_last) {
  Ints places, shrinks;
  bool shrinks_any = false;
  for (const std::size_t i : entries) {
    places.push_back(static_cast<std::int64_t>(i));
    shrinks.push_back(has_bit(options.shrink, i));
    shrinks_any |= has_bit(options.shrink, i);
  }
  const auto chosen_from = [&](Value* list) {
    if (places.size() == count) return list;
    Value* chosen = op.b.ints(places);
    return op.b.op("Gather", {list, chosen});
  };
  Value* first = chosen_from(op.index_list(1));
  Value* last = chosen_from(op.index_list(2));
  if (options.is_offset) last = op.b.add(first, last);
  if (shrinks_any) {
    Value* single = ends_of_single(op, first);
    Value* numbers = op.b.ints(shrinks);
    Value* flags = op.b.cast(numbers, DType::boolean);
    last = op.b.where(flags, single, last);
  }
  Value* starts = with_fixed(op, first, fixed_first);
  Value* ends = with_fixed(op, last, fixed_last);
  return {starts, ends};
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
  const SliceOptions options(op);
  const SlicedAxes sliced = sliced_axes(op, options, strides.size());
  const std::size_t count = sliced.entries.size();
  Ints steps;
  Fixed fixed_first(count), fixed_last(count);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = sliced.entries[k];
    const bool is_back = strides[i] < 0, shrinks = has_bit(options.shrink, i);
    steps.push_back(shrinks ? 1 : strides[i]);
    if (has_bit(options.begin, i) && !shrinks) fixed_first[k] = is_back ? -1 : 0;
    if (has_bit(options.end, i) && !shrinks) fixed_last[k] = is_back ? kBeforeStart : kEnd;
  }
  const auto begin = op.known_ints(1), end = op.known_ints(2);
  const Bounds bounds = begin && end
                            ? known_bounds(op, options, sliced.entries, *begin, *end, fixed_first, fixed_last)
                            : computed_bounds(op, options, sliced.entries, strides.size(), fixed_first, fixed_last);
  Value* along = op.b.ints(sliced.axes);
  Value* by = op.b.ints(steps);
  op.move(0, [&](Value* x) {
    if (!sliced.axes.empty()) x = op.b.op("Slice", {x, bounds.starts, bounds.ends, along, by});
    if (!sliced.dropped.empty()) x = op.b.squeeze(x, sliced.dropped);
    if (!sliced.added.empty()) x = op.b.unsqueeze(x, sliced.added);
    return x;
  });
}

}  // namespace ingot::frontends::tflite
