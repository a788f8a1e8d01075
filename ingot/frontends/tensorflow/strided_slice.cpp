// StridedSlice: Python's x[a:b:c, None, ..., 3].
#include <limits>

#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBeforeStart = std::numeric_limits<std::int64_t>::min();

/// One entry of the list of slices.
struct Entry {
  std::int64_t axis = 0;  // of the input
  std::size_t place = 0;  // in begin, end and strides
  bool is_single = false, from_start = false, to_end = false;
};

struct Plan {
  std::vector<Entry> entries;
  std::vector<std::int64_t> dropped, added;  // axes of the input; axes of the output
};

bool has_bit(std::int64_t mask, std::int64_t i) { return i < 63 && (mask >> i & 1) != 0; }

Plan plan_of(const TfNode& n, std::int64_t count) {
  const std::int64_t begin_mask = n.integer("begin_mask", 0), end_mask = n.integer("end_mask", 0);
  const std::int64_t ellipsis = n.integer("ellipsis_mask", 0), fresh = n.integer("new_axis_mask", 0);
  const std::int64_t single = n.integer("shrink_axis_mask", 0);
  std::int64_t covered = 0;  // axes of the input that entries name
  bool has_ellipsis = false;
  for (std::int64_t i = 0; i < count; ++i) {
    if (has_bit(ellipsis, i))
      has_ellipsis = true;
    else if (!has_bit(fresh, i))
      ++covered;
  }
  Plan plan;
  std::int64_t axis = 0, out = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (has_bit(ellipsis, i)) {
      const std::int64_t skipped = has_ellipsis ? n.rank(0) - covered : 0;
      if (skipped < 0) n.unsupported("there are more slices than axes");
      axis += skipped;
      out += skipped;
    } else if (has_bit(fresh, i)) {
      plan.added.push_back(out++);
    } else {
      const bool is_single = has_bit(single, i);
      plan.entries.push_back({axis, static_cast<std::size_t>(i), is_single, has_bit(begin_mask, i) && !is_single,
                              has_bit(end_mask, i) && !is_single});
      if (is_single)
        plan.dropped.push_back(axis);
      else
        ++out;
      ++axis;
    }
  }
  return plan;
}

/// One element of a vector as a vector.
Value* element(GraphBuilder& g, Value* vector, std::size_t i) {
  const auto at = static_cast<std::int64_t>(i);
  Value* from = g.ints({at});
  return g.op("Slice", {vector, from, g.ints({at + 1})});
}

Value* sliced(const TfNode& n, GraphBuilder& g, const Plan& plan) {
  const auto begin = n.known_ints(1), end = n.known_ints(2), strides = n.known_ints(3);
  std::vector<std::int64_t> axes, steps;
  Values starts, ends;
  bool is_whole = true;
  std::vector<std::int64_t> known_starts, known_ends;
  for (const Entry& e : plan.entries) {
    const std::int64_t step = strides ? (*strides).at(e.place) : 1;
    if (step == 0) n.unsupported("a stride is zero");
    if (!strides && !e.is_single) n.unsupported("the strides must be constants");
    axes.push_back(e.axis);
    steps.push_back(e.is_single ? 1 : step);
    const bool is_untouched = e.from_start && e.to_end && step == 1;
    is_whole &= is_untouched;
    const std::int64_t first = step > 0 ? 0 : kEnd, last = step > 0 ? kEnd : kBeforeStart;
    if (e.from_start) {
      starts.push_back(g.ints({first}));
      known_starts.push_back(first);
    } else {
      starts.push_back(begin ? g.ints({(*begin).at(e.place)}) : element(g, as_int64_vector(g, n.input(1)), e.place));
      if (begin) known_starts.push_back((*begin)[e.place]);
    }
    if (e.to_end) {
      ends.push_back(g.ints({last}));
      known_ends.push_back(last);
    } else if (e.is_single) {
      if (begin) {
        const std::int64_t b = (*begin).at(e.place);
        ends.push_back(g.ints({b == -1 ? kEnd : b + 1}));
        known_ends.push_back(b == -1 ? kEnd : b + 1);
      } else {
        Value* b = starts.back();
        Value* is_last = g.op("Equal", {b, g.ints({-1})});
        ends.push_back(g.where(is_last, g.ints({kEnd}), g.add(b, g.ints({1}))));
      }
    } else {
      ends.push_back(end ? g.ints({(*end).at(e.place)}) : element(g, as_int64_vector(g, n.input(2)), e.place));
      if (end) known_ends.push_back((*end)[e.place]);
    }
  }
  if (axes.empty() || is_whole) return n.input(0);
  Value* from = known_starts.size() == axes.size() ? g.ints(known_starts) : g.concat(starts, 0);
  Value* to = known_ends.size() == axes.size() ? g.ints(known_ends) : g.concat(ends, 0);
  Value* along = g.ints(axes);
  return g.op("Slice", {n.input(0), from, to, along, g.ints(steps)});
}

}  // namespace

Values strided_slice(const TfNode& n, GraphBuilder& g) {
  const auto begin = n.known_ints(1);
  const auto count = begin ? std::optional(static_cast<std::int64_t>(begin->size())) : dim_of(n.input(1), 0);
  if (!count || *count > 62) n.unsupported("the number of slices must be known");
  for (std::size_t i = 1; i <= 3; ++i)
    if (const auto size = dim_of(n.input(i), 0); size && *size != *count) n.unsupported("its inputs differ in length");
  const Plan plan = plan_of(n, *count);
  Value* y = sliced(n, g, plan);
  if (!plan.dropped.empty()) y = g.squeeze(y, plan.dropped);
  if (!plan.added.empty()) y = g.unsqueeze(y, plan.added);
  return {y == n.input(0) ? g.op("Identity", {y}) : y};
}

}  // namespace ingot::frontends::tensorflow
