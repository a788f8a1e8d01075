// com.microsoft.SparseAttention: each row sees the blocks of keys that a list names for it, in a cache of fixed length.
#include <limits>

#include "ingot/ops/vendor/attention_body.h"
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/group_body.h"

namespace ingot::ops {
namespace {

enum Input : std::size_t { kPastKey = 3, kPastValue, kBlockRows, kBlockColumns, kTotal, kLengths, kCosines, kSines };

class Sparse : GroupedHeads {
 public:
  explicit Sparse(DecomposeContext& c) : GroupedHeads(c), block_(c.attr("sparse_block_size", std::int64_t{0})) {}

  Values run() {
    if (block_ <= 0 || c_.rank(kBlockRows) != 2 || c_.rank(kBlockColumns) != 2 || !split()) return {};
    set_lengths(c_.in(kTotal), g_.cast(c_.in(kLengths), DType::i64));
    if (c_.attr("do_rotary", std::int64_t{0})) {
      if (!c_.has(kCosines) || !c_.has(kSines)) return {};
      rotate(c_.in(kCosines), c_.in(kSines), nullptr);
    }
    const auto scale = scale_of(q_, c_.attr("scale", 0.0f));
    if (!scale) return {};
    Value *keys = remembered(k_, c_.in(kPastKey)), *values = remembered(v_, c_.in(kPastValue));
    Value* scores = g_.mul(g_.op("MatMul", {q_, g_.transpose(for_all_heads(keys), {0, 1, 3, 2})}), *scale);
    Value* shares = g_.op("Softmax", {seen(scores, keys)}, {{"axis", -1}});
    return {join_heads(g_, g_.op("MatMul", {shares, for_all_heads(values)})), keys, values};
  }

 private:
  /// A row that sees no block at all looks at all keys before it alike.
  Value* seen(Value* scores, Value* keys) {
    const DType elem = scores->type.elem;
    const double lowest = elem == DType::f16 ? -65504.0 : static_cast<double>(std::numeric_limits<float>::lowest());
    Value *at = places_of_keys(keys), *own = places_of_rows();
    scores = g_.where(allowed(at, own), scores, g_.scalar(lowest, elem));
    return g_.where(g_.op("LessOrEqual", {at, own}), scores, g_.scalar(-std::numeric_limits<double>::infinity(), elem));
  }

  /// [L,M,M]: whether a row of blocks sees a column of them, in each of the layouts.
  Value* blocks() {
    Value *bounds = g_.cast(c_.in(kBlockRows), DType::i64), *columns = g_.cast(c_.in(kBlockColumns), DType::i64);
    Value *begin = slice(g_, bounds, 1, 0, -1),
          *end = slice(g_, bounds, 1, 1, std::numeric_limits<std::int64_t>::max());
    Value* entry = g_.op("Range", {number(0), count_of(g_, columns, 1), number(1)});
    Value* is_of_row = g_.op("And", {g_.op("GreaterOrEqual", {entry, g_.unsqueeze(begin, {2})}),
                                     g_.op("Less", {entry, g_.unsqueeze(end, {2})})});  // [L,M,Z]
    Value* column = g_.op("Range", {number(0), count_of(g_, begin, 1), number(1)});
    Value* is_in_column = g_.op("Equal", {g_.unsqueeze(columns, {2}), column});  // [L,Z,M]
    Value* count = g_.op("MatMul", {g_.cast(is_of_row, DType::f32), g_.cast(is_in_column, DType::f32)});
    return g_.op("Greater", {count, g_.scalar(0, DType::f32)});
  }

  /// [B,N,S,T]: heads take the layouts in turn.
  Value* allowed(Value* at, Value* own) {
    Value* table = blocks();
    Value* last = g_.sub(count_of(g_, table, 1), number(1));
    const auto block_of = [&](Value* place) { return g_.op("Clip", {g_.div(place, number(block_)), number(0), last}); };
    Value* rows = g_.op("Gather", {table, g_.reshape(block_of(own), {0, -1})}, {{"axis", 1}});       // [L,B,S,M]
    Value* each = g_.transpose(g_.op("Gather", {rows, block_of(at)}, {{"axis", 3}}), {1, 0, 2, 3});  // [B,L,S,T]
    Value* times = g_.div(number(heads_), count_of(g_, table, 0));
    return g_.op("Tile", {each, g_.concat({g_.ints({1}), g_.unsqueeze(times, {0}), g_.ints({1, 1})}, 0)});
  }

  const std::int64_t block_;
};

Values sparse_attention(DecomposeContext& c) { return Sparse(c).run(); }

}  // namespace

constinit const OpDef defs::microsoft::SparseAttention = {
    .name = "SparseAttention", .domain = kMicrosoft, .infer = infer_by_body, .decompose = sparse_attention};

}  // namespace ingot::ops
