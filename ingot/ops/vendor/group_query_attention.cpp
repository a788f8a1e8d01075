// com.microsoft.GroupQueryAttention: fewer heads of keys than of queries, and a cache that grows.
#include <limits>

#include "ingot/ops/vendor/attention_body.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/group_body.h"

namespace ingot::ops {
namespace {

constexpr double kLowest = std::numeric_limits<float>::lowest();

class Group : GroupedHeads {
 public:
  explicit Group(DecomposeContext& c) : GroupedHeads(c) {}

  Values run() {
    if (!is_known_form() || !split()) return {};
    set_lengths(c_.in(6), g_.add(g_.cast(g_.reshape(c_.in(5), {-1}), DType::i64), number(1)));
    if (c_.attr("do_rotary", std::int64_t{0})) rotate(c_.in(7), c_.in(8), c_.in(9));
    Value *keys = remembered(k_, c_.in(3)), *values = remembered(v_, c_.in(4));
    Value *seen_keys = in_use(keys, 3), *seen_values = in_use(values, 4);
    const auto scale = scale_of(q_, c_.attr("scale", 0.0f));
    if (!scale) return {};
    Value* scores = g_.mul(g_.op("MatMul", {q_, g_.transpose(for_all_heads(seen_keys), {0, 1, 3, 2})}), *scale);
    if (const float cap = c_.attr("softcap", 0.0f); cap > 0)
      scores = g_.mul(g_.op("Tanh", {g_.div(scores, static_cast<double>(cap))}), static_cast<double>(cap));
    if (c_.has(10)) scores = g_.add(scores, c_.in(10));
    Value* sees = is_seen(seen_keys);
    const DType elem = q_->type.elem;
    const double lowest = elem == DType::f32 ? kLowest : -65504.0;
    Value* shares = softmax(g_.add(scores, g_.where(sees, g_.scalar(0, elem), g_.scalar(lowest, elem))));
    Value* y = join_heads(g_, g_.op("MatMul", {shares, for_all_heads(seen_values)}));
    if (!c_.wants(3)) return {y, keys, values, nullptr};
    const bool wants_shares = c_.attr("qk_output", std::int64_t{0}) == 2;
    return {y, keys, values, wants_shares ? shares : g_.where(sees, scores, g_.scalar(0, elem))};
  }

 private:
  bool is_known_form() const {
    for (const std::size_t i : {12, 13, 14, 15})
      if (c_.has(i)) return false;
    return c_.attr("sliding_window_cache", std::int64_t{0}) == 0;
  }

  /// Of a cache that may be longer than what it holds: biases have a column for each key that is there.
  Value* in_use(Value* cache, std::size_t past) {
    if (!c_.has(past)) return cache;
    return g_.op("Slice", {cache, g_.ints({0}), g_.unsqueeze(total_, {0}), g_.ints({2})});
  }

  /// What a row sees: keys up to its own place, as far back as the window goes.
  Value* is_seen(Value* keys) {
    Value *at = places_of_keys(keys), *own = places_of_rows();
    Value* sees = nullptr;
    if (c_.attr("causal", std::int64_t{1}))
      sees = g_.op("LessOrEqual", {at, own});
    else
      sees = g_.op("Less", {at, g_.unsqueeze(whole_, {1, 2, 3})});
    if (const std::int64_t window = c_.attr("local_window_size", std::int64_t{-1}); window > 0)
      sees = g_.op("And", {sees, g_.op("Greater", {at, g_.sub(own, number(window))})});
    return sees;
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
};

Values group_query_attention(DecomposeContext& c) { return Group(c).run(); }

}  // namespace

constinit const OpDef defs::microsoft::GroupQueryAttention = {
    .name = "GroupQueryAttention", .domain = kMicrosoft, .infer = infer_by_body, .decompose = group_query_attention};

}  // namespace ingot::ops
