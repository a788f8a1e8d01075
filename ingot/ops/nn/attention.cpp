// Attention: softmax(q k^T * scale + bias) v over several heads, with a cache of past keys and values.
#include <cmath>
#include <limits>

#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/heads.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

enum Input : std::size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kValidKeys };

void check_pairs(const InferContext& c) {
  c.require(c.has(kPastKey) == c.has(kPastValue), "past_key and past_value must be given together");
  c.require(c.wants(1) == c.wants(2), "present_key and present_value must be asked for together");
  c.require(!c.has(kValidKeys) || !(c.has(kPastKey) || c.wants(1)),
            "nonpad_kv_seqlen cannot be combined with past or present keys");
  for (const char* side : {"left_window_size", "right_window_size"})
    c.require(c.attr(side, std::int64_t{-1}) >= -1, "a window is less than -1");
}

/// [B, S, H*D] or [B, H, S, D] as [B, H, S, D].
Shape by_heads(const InferContext& c, std::size_t i, const char* heads_attribute, std::string_view what) {
  const Shape* x = c.shape(i);
  if (!x) return Shape(4);
  const std::int64_t heads = c.attr(heads_attribute, std::int64_t{0});
  if (x->size() == 4) return *x;
  if (x->size() != 3) c.fail(std::string(what) + " has rank " + std::to_string(x->size()) + ", not 3 or 4");
  if (heads < 1) c.fail("inputs of rank 3 need a positive attribute '" + std::string(heads_attribute) + "'");
  return {(*x)[0], heads, (*x)[1], divide_heads(c, (*x)[2], heads, what)};
}

void infer(InferContext& c) {
  check_pairs(c);
  Shape q = by_heads(c, kQuery, "q_num_heads", "the query");
  Shape k = by_heads(c, kKey, "kv_num_heads", "the key");
  Shape v = by_heads(c, kValue, "kv_num_heads", "the value");
  require_rank(c, kPastKey, 4, "past_key");
  require_rank(c, kPastValue, 4, "past_value");
  k[1] = agree(c, k[1], v[1], "the number of heads of key and value");
  k[2] = agree(c, k[2], v[2], "the length of key and value");
  const Dim batch = agree(c, agree(c, q[0], k[0], "the batch size"), v[0], "the batch size");
  const Dim head_size = agree(c, q[3], k[3], "the head size of query and key");
  if (q[1].is_known() && k[1].is_known() && (k[1].value() < 1 || q[1].value() % k[1].value()))
    c.fail(q[1].str() + " heads of the query cannot share " + k[1].str() + " heads of the key");
  Dim total = k[2];
  if (c.has(kPastKey))
    total = total + agree(c, c.dim(kPastKey, 2), c.dim(kPastValue, 2), "the length of past_key and past_value");
  if (c.rank(kQuery) == 3) {
    const Dim hidden = v[3] * q[1];
    c.out_shape(0, {batch, q[2], hidden});
  } else if (c.rank(kQuery) == 4) {
    c.out_shape(0, {batch, q[1], q[2], v[3]});
  }
  c.out_shape(1, {batch, k[1], total, head_size});
  c.out_shape(2, {batch, k[1], total, v[3]});
  c.out_shape(3, {batch, q[1], q[2], total});
}

constexpr double kMasked = -std::numeric_limits<double>::infinity();

/// Builds the same from simpler operators, without relying on inferred types of what it builds.
class Expansion {
 public:
  Expansion(GraphBuilder& builder, const Node& source, DType elem)
      : g(builder), node(source), elem_(elem), attributes_(source.attributes) {}

  Values build();

 private:
  Value* in(std::size_t i) const { return node.input(i); }
  Value* scale() const;
  Value* bias() const;
  Value* mask_bias() const;
  Value* allowed() const;
  Value* padded_to_total(Value* bias) const;
  Dim stated_total() const;
  bool is_packed() const { return q_heads_ > 0 && kv_heads_ > 0; }

  GraphBuilder& g;
  const Node& node;
  DType elem_;
  const Attributes& attributes_;
  std::int64_t q_heads_ = 0, kv_heads_ = 0;  // 0: the inputs are not packed
  Value *q_ = nullptr, *k_ = nullptr, *v_ = nullptr;
};

Value* Expansion::scale() const {
  const bool is_double = elem_ == DType::f64;  // the standard's own body computes the scale in float
  if (const float* given = attributes_.get<float>("scale")) {
    const double root = is_double ? std::sqrt(static_cast<double>(*given)) : static_cast<double>(std::sqrt(*given));
    return g.scalar(root, elem_);
  }
  Dim size = stated_size(in(kQuery), -1);
  if (is_packed()) size = exact_div(size, q_heads_);
  if (size.is_known() && size.value() > 0) {
    const float narrow = std::sqrt(1 / std::sqrt(static_cast<float>(size.value())));
    const double wide = std::sqrt(1 / std::sqrt(static_cast<double>(size.value())));
    return g.scalar(is_double ? wide : static_cast<double>(narrow), elem_);
  }
  Value* length = g.op("Cast", {size_along(g, q_, 3)}, {{"to", is_double ? DType::f64 : DType::f32}});
  return g.op("Cast", {g.op("Sqrt", {g.op("Reciprocal", {g.op("Sqrt", {length})})})}, {{"to", elem_}});
}

Dim Expansion::stated_total() const {
  const Dim length = stated_size(in(kKey), -2);
  return in(kPastKey) ? length + stated_size(in(kPastKey), 2) : length;
}

/// A mask may be shorter than the keys; what it does not mention is masked.
Value* Expansion::padded_to_total(Value* bias) const {
  if (same(stated_size(in(kMask), -1), stated_total())) return bias;
  Value* missing = g.sub(size_along(g, k_, 2), size_along(g, in(kMask), -1));
  return g.op("Pad", {bias, g.concat({g.ints({0}), missing}, 0), g.scalar(kMasked, elem_), g.ints({-1})});
}

Value* Expansion::mask_bias() const {
  if (!in(kMask)) return nullptr;
  if (in(kMask)->type.elem != DType::boolean) return padded_to_total(g.cast(in(kMask), elem_));
  return padded_to_total(g.where(in(kMask), g.scalar(0, elem_), g.scalar(kMasked, elem_)));
}

/// Which keys each query may see, from causality, window and padding; null: all of them.
Value* Expansion::allowed() const {
  const bool causal = attributes_.int_or("is_causal", 0) != 0;
  const std::int64_t left = attributes_.int_or("left_window_size", -1);
  const std::int64_t right = attributes_.int_or("right_window_size", -1);
  Value* valid = in(kValidKeys) ? g.unsqueeze(in(kValidKeys), {1, 2, 3}) : nullptr;  // [B, 1, 1, 1]
  if (!causal && left < 0 && right < 0 && !valid) return nullptr;

  Value *zero = g.index(0), *one = g.index(1);
  Value* keys = g.op("Range", {zero, g.squeeze(size_along(g, k_, 2), {0}), one});
  Value* result = nullptr;
  const auto narrow = [&](Value* condition) { result = result ? g.op("And", {result, condition}) : condition; };
  if (causal || left >= 0 || right >= 0) {
    Value* queries = size_along(g, q_, 2);
    Value* position = g.unsqueeze(g.op("Range", {zero, g.squeeze(queries, {0}), one}), {1});  // [Sq, 1]
    // Where the queries begin among the keys.
    if (in(kPastKey)) position = g.add(position, size_along(g, in(kPastKey), 2));
    if (!in(kPastKey) && valid) position = g.add(position, g.sub(valid, queries));
    Value* back = g.sub(position, keys);
    if (causal) narrow(g.op("GreaterOrEqual", {back, zero}));
    if (left >= 0) narrow(g.op("LessOrEqual", {back, g.index(left)}));
    if (right >= 0) narrow(g.op("LessOrEqual", {g.neg(back), g.index(right)}));
  }
  if (valid) narrow(g.op("Less", {keys, valid}));
  return result;
}

Value* Expansion::bias() const {
  Value* result = mask_bias();
  if (Value* visible = allowed()) {
    Value* frontier = g.where(visible, g.scalar(0, elem_), g.scalar(kMasked, elem_));
    result = result ? g.add(result, frontier) : frontier;
  }
  return result;
}

Values Expansion::build() {
  const auto& shape = in(kQuery)->type.shape;
  if (shape ? shape->size() == 3 : attributes_.has("q_num_heads")) {
    q_heads_ = attributes_.int_or("q_num_heads", 0);
    kv_heads_ = attributes_.int_or("kv_num_heads", 0);
  }
  q_ = is_packed() ? split_heads(g, in(kQuery), q_heads_) : in(kQuery);
  k_ = is_packed() ? split_heads(g, in(kKey), kv_heads_) : in(kKey);
  v_ = is_packed() ? split_heads(g, in(kValue), kv_heads_) : in(kValue);
  if (in(kPastKey)) k_ = g.concat({in(kPastKey), k_}, 2);
  if (in(kPastValue)) v_ = g.concat({in(kPastValue), v_}, 2);
  Values made = {nullptr, k_, v_, nullptr};

  const Dim q_heads = is_packed() ? Dim(q_heads_) : stated_size(in(kQuery), 1);
  const Dim kv_heads = is_packed() ? Dim(kv_heads_) : stated_size(in(kKey), 1);
  Value* keys = share_heads(g, k_, kv_heads, q_, q_heads);
  Value* values = share_heads(g, v_, kv_heads, q_, q_heads);
  Value* factor = scale();
  Value* scores = g.op("MatMul", {g.mul(q_, factor), g.mul(g.transpose(keys, {0, 1, 3, 2}), factor)});
  Value* raw = scores;
  if (const float cap = attributes_.float_or("softcap", 0); cap != 0) {
    Value* limit = g.scalar(static_cast<double>(cap), elem_);
    scores = g.mul(g.op("Tanh", {g.div(scores, limit)}), limit);
  }
  Value* capped = scores;
  Value *offset = bias(), *blind = nullptr;
  if (offset) {
    // A query that may see no key gets zeros. Its scores are left alone, where the softmax would give NaN, which
    // would poison gradients even where it is not used.
    Value* best = g.op("ReduceMax", {offset, g.ints({-1})});
    blind = g.op("Equal", {best, g.scalar(kMasked, elem_)});
    scores = g.add(scores, g.where(blind, g.scalar(0, elem_), offset));
  }
  const auto precision = static_cast<DType>(attributes_.int_or("softmax_precision", static_cast<int>(elem_)));
  if (precision != elem_) scores = g.op("Cast", {scores}, {{"to", precision}});
  Value* weights = g.op("Softmax", {scores}, {{"axis", -1}});
  if (precision != elem_) weights = g.op("Cast", {weights}, {{"to", elem_}});
  if (blind) weights = g.where(blind, g.scalar(0, elem_), weights);
  const std::int64_t mode = attributes_.int_or("qk_matmul_output_mode", 0);
  made[3] = mode == 1 ? capped : mode == 3 ? weights : raw;
  if (mode == 2) made[3] = offset ? g.add(capped, offset) : capped;

  const DType value_elem = in(kValue)->type.elem;
  if (value_elem != DType::undefined && value_elem != elem_) values = g.op("Cast", {values}, {{"to", elem_}});
  made[0] = g.op("MatMul", {weights, values});
  if (is_packed()) made[0] = g.reshape(g.transpose(made[0], {0, 2, 1, 3}), {0, 0, -1});
  return made;
}

bool is_expandable(const Node& node) {
  const auto precision = node.attributes.get<std::int64_t>("softmax_precision");
  for (const std::size_t i : {kQuery, kKey, kValue})
    if (!node.input(i)) return false;
  const Type& q = node.input(kQuery)->type;
  if (q.shape && q.shape->size() == 3 &&
      (node.attributes.int_or("q_num_heads", 0) < 1 || node.attributes.int_or("kv_num_heads", 0) < 1))
    return false;
  return q.elem != DType::undefined &&
         (!precision || (is_valid_dtype(*precision) && is_float(static_cast<DType>(*precision))));
}

Values decompose(DecomposeContext& c) {
  return is_expandable(c.node) ? Expansion(c.g, c.node, c.elem(kQuery)).build() : Values{};
}

void expand(StepContext& c) {
  if (!is_expandable(c.node)) c.cannot("the type of the query is needed but not known");
  c.replace(Expansion(c.g, c.node, c.type(kQuery).elem).build());
}

/// Version 23 knew neither nonpad_kv_seqlen nor masks shorter than the keys.
void down_24(StepContext& c) {
  const Value *mask = c.node.input(kMask), *past = c.node.input(kPastKey);
  Dim total = stated_size(c.node.input(kKey), -2);
  if (past) total = total + stated_size(past, 2);
  const bool has_whole_mask = !mask || same(stated_size(mask, -1), total);
  if (c.node.input(kValidKeys) || !has_whole_mask) expand(c);
}

void down_25(StepContext& c) {
  if (c.node.attributes.int_or("left_window_size", -1) >= 0 || c.node.attributes.int_or("right_window_size", -1) >= 0)
    expand(c);
}

constexpr Step kSteps[] = {{.since = 24, .down = down_24}, {.since = 25, .down = down_25}};

}  // namespace

constinit const OpDef defs::Attention = {
    .name = "Attention",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
};

}  // namespace ingot::ops
