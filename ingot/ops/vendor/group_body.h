#pragma once
#include "ingot/ops/steps.h"

// What GroupQueryAttention and SparseAttention share.

namespace ingot::ops {

/// Heads of keys, each read by several heads of queries, behind caches of keys and values.
class GroupedHeads {
 public:
  explicit GroupedHeads(DecomposeContext& c);

  /// False: the first three inputs are not queries, keys and values, or all of these in one.
  bool split();
  /// `total` rows at most, and of each entry of the batch `whole` (int64), of which the new ones are the last.
  void set_lengths(Value* total, Value* whole);
  /// Positions may be null: rows go on where each entry's own end is.
  void rotate(Value* cosines, Value* sines, Value* positions);
  /// The cache with the new rows written where each entry's own end is.
  Value* remembered(Value* fresh, Value* past);
  /// Each head of keys is read by several of queries.
  Value* for_all_heads(Value* x);
  /// Places of keys [T], and the place of each row [B,1,S,1].
  Value* places_of_keys(Value* keys);
  Value* places_of_rows();

 protected:
  Value* number(std::int64_t n) { return g_.index(n); }

  DecomposeContext& c_;
  GraphBuilder& g_;
  const std::int64_t heads_, groups_;
  Value *q_ = nullptr, *k_ = nullptr, *v_ = nullptr;
  /// Rows and all keys as int64 of rank 0; what each entry of the batch has behind it, and with the new ones, [B].
  Value *rows_ = nullptr, *total_ = nullptr, *past_ = nullptr, *whole_ = nullptr;
};

}  // namespace ingot::ops
