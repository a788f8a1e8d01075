// Attention whose heads of keys are read by several of queries, in plain operators.
#include "ingot/ops/vendor/group_body.h"

#include "ingot/ops/vendor/attention_body.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/rotary_body.h"

namespace ingot::ops {

GroupedHeads::GroupedHeads(DecomposeContext& c)
    : c_(c), g_(c.g), heads_(c.attr("num_heads", std::int64_t{0})), groups_(c.attr("kv_num_heads", std::int64_t{0})) {}

bool GroupedHeads::split() {
  if (heads_ <= 0 || groups_ <= 0 || heads_ % groups_ != 0 || c_.rank(0) != 3) return false;
  if (c_.has(1)) {
    if (!c_.has(2) || c_.rank(1) != 3 || c_.rank(2) != 3) return false;
    q_ = split_heads(g_, c_.in(0), heads_);
    k_ = split_heads(g_, c_.in(1), groups_);
    v_ = split_heads(g_, c_.in(2), groups_);
  } else {
    Value* all = split_heads(g_, c_.in(0), heads_ + 2 * groups_);
    const Values parts = g_.op("Split", {all, g_.ints({heads_, groups_, groups_})}, {{"axis", 1}}, 3);
    q_ = parts[0];
    k_ = parts[1];
    v_ = parts[2];
  }
  return true;
}

void GroupedHeads::set_lengths(Value* total, Value* whole) {
  rows_ = count_of(g_, q_, 2);
  total_ = g_.cast(g_.reshape(total, {}), DType::i64);
  // The first prompt has nothing behind it, whatever the cache holds.
  past_ = g_.where(g_.op("Equal", {rows_, total_}), number(0), g_.sub(whole, rows_));
  whole_ = whole;
}

void GroupedHeads::rotate(Value* cosines, Value* sines, Value* positions) {
  if (!positions) {
    Value* rows = g_.op("Range", {number(0), rows_, number(1)});
    positions = g_.add(g_.unsqueeze(past_, {1}), rows);
    // Rows beyond an entry's end have no place in the caches.
    positions = g_.op("Clip", {positions, number(0), g_.sub(count_of(g_, cosines, 0), number(1))});
  }
  const bool is_interleaved = c_.attr("rotary_interleaved", std::int64_t{0}) != 0;
  q_ = rotated(g_, q_, cosines, sines, positions, is_interleaved);
  k_ = rotated(g_, k_, cosines, sines, positions, is_interleaved);
}

Value* GroupedHeads::remembered(Value* fresh, Value* past) {
  Value* length = total_;
  if (past) length = g_.op("Max", {total_, count_of(g_, past, 2)});
  Value* at = g_.op("Range", {number(0), length, number(1)});                  // [T]
  Value* offset = g_.unsqueeze(g_.sub(at, g_.unsqueeze(past_, {1})), {1, 3});  // [B,1,T,1]
  Value* is_new = g_.op("And", {g_.op("GreaterOrEqual", {offset, number(0)}), g_.op("Less", {offset, rows_})});
  Value* from = g_.op("Clip", {offset, number(0), g_.sub(rows_, number(1))});
  Value* sizes =
      g_.concat({size_of(g_, fresh, 0), size_of(g_, fresh, 1), g_.unsqueeze(length, {0}), size_of(g_, fresh, 3)}, 0);
  Value* taken = g_.op("GatherElements", {fresh, g_.op("Expand", {from, sizes})}, {{"axis", 2}});
  Value* rest = g_.scalar(0, fresh->type.elem);
  if (past) {
    Value* missing = g_.sub(length, count_of(g_, past, 2));
    Value* pads = g_.concat({g_.ints({0, 0, 0, 0, 0, 0}), g_.unsqueeze(missing, {0}), g_.ints({0})}, 0);
    rest = g_.op("Pad", {past, pads});
  }
  return g_.where(is_new, taken, rest);
}

Value* GroupedHeads::for_all_heads(Value* x) {
  const std::int64_t times = heads_ / groups_;
  if (times == 1) return x;
  Value* wide = g_.unsqueeze(x, {2});
  Value* copies = g_.op("Tile", {wide, g_.ints({1, 1, times, 1, 1})});
  Value* sizes = g_.concat({size_of(g_, x, 0), g_.ints({heads_}), size_of(g_, x, 2), size_of(g_, x, 3)}, 0);
  return g_.op("Reshape", {copies, sizes});
}

Value* GroupedHeads::places_of_keys(Value* keys) {
  return g_.op("Range", {number(0), count_of(g_, keys, 2), number(1)});
}

Value* GroupedHeads::places_of_rows() {
  Value* rows = g_.op("Range", {number(0), rows_, number(1)});
  return g_.unsqueeze(g_.add(g_.unsqueeze(past_, {1}), rows), {1, 3});
}

}  // namespace ingot::ops
