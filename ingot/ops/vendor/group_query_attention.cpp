// com.microsoft.GroupQueryAttention: fewer heads of keys than of queries, and a cache that grows.
#include <limits>

#include "ingot/ops/vendor/attention_body.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/rotary_body.h"

namespace ingot::ops {
namespace {

constexpr double kLowest = std::numeric_limits<float>::lowest();

class Group {
 public:
  explicit Group(DecomposeContext& c)
      : c_(c),
        g_(c.g),
        heads_(c.attr("num_heads", std::int64_t{0})),
        groups_(c.attr("kv_num_heads", std::int64_t{0})) {}

  Values run() {
    if (!is_known_form() || !split()) return {};
    find_lengths();
    if (c_.attr("do_rotary", std::int64_t{0})) rotate();
    Value *keys = remembered(k_, c_.in(3)), *values = remembered(v_, c_.in(4));
    const auto scale = scale_of(q_, c_.attr("scale", 0.0f));
    if (!scale) return {};
    Value* scores = g_.mul(g_.op("MatMul", {q_, g_.transpose(for_all_heads(keys), {0, 1, 3, 2})}), *scale);
    if (const float cap = c_.attr("softcap", 0.0f); cap > 0)
      scores = g_.mul(g_.op("Tanh", {g_.div(scores, static_cast<double>(cap))}), static_cast<double>(cap));
    if (c_.has(10)) scores = g_.add(scores, c_.in(10));
    scores = g_.add(scores, mask(keys));
    Value* shares = softmax(scores);
    Value* y = join_heads(g_, g_.op("MatMul", {shares, for_all_heads(values)}));
    const std::int64_t kept = c_.attr("qk_output", std::int64_t{0});
    Value* scores_out = c_.wants(3) ? (kept == 2 ? shares : scores) : nullptr;
    return {y, keys, values, scores_out};
  }

 private:
  bool is_known_form() const {
    if (heads_ <= 0 || groups_ <= 0 || heads_ % groups_ != 0) return false;
    for (const std::size_t i : {12, 13, 14, 15})
      if (c_.has(i)) return false;
    return c_.attr("sliding_window_cache", std::int64_t{0}) == 0 && c_.rank(0) == 3;
  }

  bool split() {
    if (c_.has(1)) {
      if (!c_.has(2) || c_.rank(1) != 3 || c_.rank(2) != 3) return false;
      q_ = split_heads(g_, c_.in(0), heads_);
      k_ = split_heads(g_, c_.in(1), groups_);
      v_ = split_heads(g_, c_.in(2), groups_);
      return true;
    }
    Value* all = split_heads(g_, c_.in(0), heads_ + 2 * groups_);
    const Values parts = g_.op("Split", {all, g_.ints({heads_, groups_, groups_})}, {{"axis", 1}}, 3);
    q_ = parts[0];
    k_ = parts[1];
    v_ = parts[2];
    return true;
  }

  Value* number(std::int64_t n) { return g_.index(n); }

  /// Rows and keys as int64 of rank 0, and what each entry of the batch has behind it, [B].
  void find_lengths() {
    rows_ = count_of(g_, q_, 2);
    total_ = g_.cast(g_.reshape(c_.in(6), {}), DType::i64);
    Value* whole = g_.add(g_.cast(g_.reshape(c_.in(5), {-1}), DType::i64), number(1));
    // The first prompt has nothing behind it, whatever the cache holds.
    past_ = g_.where(g_.op("Equal", {rows_, total_}), number(0), g_.sub(whole, rows_));
    whole_ = whole;
  }

  void rotate() {
    Value* positions = c_.in(9);
    if (!positions) {
      Value* rows = g_.op("Range", {number(0), rows_, number(1)});
      positions = g_.add(g_.unsqueeze(past_, {1}), rows);
      // Rows beyond an entry's end have no place in the caches.
      positions = g_.op("Clip", {positions, number(0), g_.sub(count_of(g_, c_.in(7), 0), number(1))});
    }
    const bool is_interleaved = c_.attr("rotary_interleaved", std::int64_t{0}) != 0;
    q_ = rotated(g_, q_, c_.in(7), c_.in(8), positions, is_interleaved);
    k_ = rotated(g_, k_, c_.in(7), c_.in(8), positions, is_interleaved);
  }

  /// The cache with the new rows written where each entry's own end is.
  Value* remembered(Value* fresh, Value* past) {
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

  /// Each head of keys is read by several of queries.
  Value* for_all_heads(Value* x) {
    const std::int64_t times = heads_ / groups_;
    if (times == 1) return x;
    Value* wide = g_.unsqueeze(x, {2});
    Value* copies = g_.op("Tile", {wide, g_.ints({1, 1, times, 1, 1})});
    Value* sizes = g_.concat({size_of(g_, x, 0), g_.ints({heads_}), size_of(g_, x, 2), size_of(g_, x, 3)}, 0);
    return g_.op("Reshape", {copies, sizes});
  }

  /// What a row sees: keys up to its own place, as far back as the window goes.
  Value* mask(Value* keys) {
    Value* at = g_.op("Range", {number(0), count_of(g_, keys, 2), number(1)});  // [T]
    Value* rows = g_.op("Range", {number(0), rows_, number(1)});                // [S]
    Value* own = g_.add(g_.unsqueeze(past_, {1}), rows);                        // [B,S]
    own = g_.unsqueeze(own, {1, 3});                                            // [B,1,S,1]
    Value* sees = nullptr;
    if (c_.attr("causal", std::int64_t{1}))
      sees = g_.op("LessOrEqual", {at, own});
    else
      sees = g_.op("Less", {at, g_.unsqueeze(whole_, {1, 2, 3})});
    if (const std::int64_t window = c_.attr("local_window_size", std::int64_t{-1}); window > 0)
      sees = g_.op("And", {sees, g_.op("Greater", {at, g_.sub(own, number(window))})});
    const DType elem = q_->type.elem;
    const double lowest = elem == DType::f32 ? kLowest : -65504.0;
    return g_.where(sees, g_.scalar(0, elem), g_.scalar(lowest, elem));
  }

  /// With a sink, the shares of the keys do not add up to one.
  Value* softmax(Value* scores) {
    const bool is_smooth = c_.attr("smooth_softmax", std::int64_t{-1}) == 1;
    if (!is_smooth && !c_.has(11)) return g_.op("Softmax", {scores}, {{"axis", -1}});
    Value* sink = c_.has(11) ? g_.reshape(c_.in(11), {1, heads_, 1, 1}) : g_.constant(zero_sink());
    Value* sizes = g_.concat({size_of(g_, scores, 0), size_of(g_, scores, 1), size_of(g_, scores, 2), g_.ints({1})}, 0);
    Value* column = g_.op("Expand", {g_.cast(sink, scores->type.elem), sizes});
    Value* shares = g_.op("Softmax", {g_.concat({scores, column}, 3)}, {{"axis", -1}});
    return slice(g_, shares, 3, 0, -1);
  }
  static Tensor zero_sink() { return Tensor::of<float>({1, 1, 1, 1}, {0.0f}); }

  DecomposeContext& c_;
  GraphBuilder& g_;
  const std::int64_t heads_, groups_;
  Value *q_ = nullptr, *k_ = nullptr, *v_ = nullptr;
  Value *rows_ = nullptr, *total_ = nullptr, *past_ = nullptr, *whole_ = nullptr;
};

Values group_query_attention(DecomposeContext& c) { return Group(c).run(); }

}  // namespace

constinit const OpDef defs::microsoft::GroupQueryAttention = {
    .name = "GroupQueryAttention", .domain = kMicrosoft, .infer = infer_by_body, .decompose = group_query_attention};

}  // namespace ingot::ops
