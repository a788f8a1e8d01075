// Attention of all kinds.
#include <cmath>

#include "ingot/frontends/keras/activations.h"
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {
namespace {

constexpr double kFarAway = -1e9;

/// The tensor that an argument is, if it is one, and its mask.
Flow flow_of(const Call& call, std::size_t place, const char* name) {
  const Argument* argument = call.argument(place, name);
  return argument && argument->tensor ? *argument->tensor : Flow();
}

/// What does not count goes far below all scores. `counts`: bool, broadcast over the scores.
IrValue* masked(GraphBuilder& b, IrValue* scores, IrValue* counts) {
  if (!counts) return scores;
  const double far = scores->type.elem == DType::f16 ? -65504.0 : kFarAway;
  return b.add(scores, b.mul(b.sub(1, b.cast(counts, scores->type.elem)), far));
}

IrValue* both(GraphBuilder& b, IrValue* x, IrValue* y) { return x && y ? b.op("And", {x, y}) : x ? x : y; }

/// How far a key stands before a query: [queries, keys].
IrValue* distance(GraphBuilder& b, IrValue* query, IrValue* key) {
  IrValue* rows = b.unsqueeze(counted(b, size_of(b, query, 1)), {1});
  IrValue* columns = b.unsqueeze(counted(b, size_of(b, key, 1)), {0});
  return b.sub(rows, columns);
}

/// A query counts the keys up to its own place.
IrValue* causal(GraphBuilder& b, IrValue* query, IrValue* key) {
  return b.op("GreaterOrEqual", {distance(b, query, key), b.index(0)});
}

bool is_asked(const Call& call, const char* name) {
  const auto asked = call.kwargs.find(name);
  return asked != call.kwargs.end() && asked->second.literal.as_bool().value_or(false);
}
bool wants_causal(const Call& call) { return call.flag("causal", false) || is_asked(call, "use_causal_mask"); }
bool wants_scores(const Call& call) { return is_asked(call, "return_attention_scores"); }

/// Attention and AdditiveAttention: inputs are query, value and, if it is another, key.
void simple_attention(Call& call, bool is_additive) {
  GraphBuilder& b = call.b;
  call.require(call.inputs.size() >= 2, "it takes a query and a value");
  IrValue *query = call.in(0), *value = call.in(1), *key = call.inputs.size() > 2 ? call.in(2) : value;
  IrValue* scores = nullptr;
  const bool concats = !is_additive && call.text("score_mode", "dot") == "concat";
  if (is_additive || concats) {
    const Dims sizes = concats ? Dims{} : Dims{dim_of(query, -1).value_or(-1)};
    IrValue* scale = call.flag("use_scale", is_additive) ? call.weight("scale", sizes) : nullptr;
    IrValue* weight = concats ? call.weight("concat_score_weight", Dims{}) : nullptr;
    IrValue* sum = b.add(b.unsqueeze(query, {2}), b.unsqueeze(key, {1}));
    if (concats && scale) sum = b.mul(sum, scale);
    sum = b.op("Tanh", {sum});
    if (is_additive && scale) sum = b.mul(sum, scale);
    scores = b.reduce_sum(sum, {-1}, false);
    if (weight) scores = b.mul(scores, weight);
  } else {
    // Without an axis of steps, the examples of a batch attend to each other.
    const bool has_steps = rank_of(key) != 2;
    scores = b.op("MatMul", {query, b.transpose(key, has_steps ? Dims{0, 2, 1} : Dims{1, 0})});
    if (call.flag("use_scale", false)) scores = b.mul(scores, call.weight("scale", Dims{}));
  }
  IrValue* counts = call.stated_mask(1) ? b.unsqueeze(call.stated_mask(1), {1}) : nullptr;
  if (wants_causal(call)) counts = both(b, counts, b.unsqueeze(causal(b, query, key), {0}));
  IrValue* weights = b.op("Softmax", {masked(b, scores, counts)}, {{"axis", -1}});
  IrValue* y = b.op("MatMul", {weights, value});
  if (IrValue* own = call.stated_mask()) y = b.mul(y, b.cast(b.unsqueeze(own, {2}), y->type.elem));
  call.set(y, call.mask(0));
  if (wants_scores(call)) call.outputs.push_back({weights, nullptr});
}

struct Projection {
  IrValue *kernel = nullptr, *bias = nullptr;
};

/// One of the dense layers inside, the one at `place` where the file lists all weights; `sizes`: of its kernel.
Projection projection(Call& call, const std::string& attribute, std::size_t place, const Dims& sizes) {
  const Weights& all = call.layer.weights;
  const bool has_bias = call.flag("use_bias", true);
  const std::size_t count = has_bias ? 2 : 1;
  Layer inner;
  inner.scope = call.layer.scope + "/" + attribute;
  inner.is_trainable = call.layer.is_trainable;
  inner.config = call.layer.config;
  inner.place = call.layer.place;
  inner.weights = all.is_tree() ? all.part(attribute) : all.range(place * count, count);
  for (const char* name : {"kernel", "bias"})
    if (const auto made = call.layer.parameters.find(attribute + ":" + name); made != call.layer.parameters.end())
      inner.parameters.emplace(name, made->second);
  Call part(call.import, inner, {});
  Projection p;
  p.kernel = part.weight("kernel", sizes);
  if (!is_float(p.kernel->type.elem))
    call.refuse("quantized attention has no translation", "save the model before it is quantized");
  const Dims of_bias = attribute == "output_dense" ? Dims{-1} : Dims(sizes.begin() + 1, sizes.end());
  if (has_bias) p.bias = part.weight("bias", of_bias);
  for (const auto& [name, made] : inner.parameters) call.layer.parameters.emplace(attribute + ":" + name, made);
  return p;
}

/// [batch, steps, features] by [features, heads, size]: [batch, heads, steps, size].
IrValue* heads_of(GraphBuilder& b, IrValue* x, const Projection& p) {
  IrValue* y = einsum(b, {x, p.kernel}, "btd,dhk->bthk");
  if (p.bias) y = b.add(y, p.bias);
  return b.transpose(y, {0, 2, 1, 3});
}

/// Query, value and key, by place or by name; no key: it is the value.
struct Asked {
  Flow query, value, key;

  IrValue* keys() const { return key.value ? key.value : value.value; }
};

Asked asked_of(Call& call) {
  const Asked asked{flow_of(call, 0, "query"), flow_of(call, 1, "value"), flow_of(call, 2, "key")};
  call.require(asked.query.value && asked.value.value, "it takes a query and a value");
  for (const IrValue* x : {asked.query.value, asked.value.value, asked.keys()})
    call.require(rank_of(x) == 3, "inputs with several axes of steps have no translation");
  return asked;
}

/// All that says which keys count for which query: [batch or 1, 1, queries or 1, keys].
IrValue* counting(Call& call, const Asked& asked) {
  GraphBuilder& b = call.b;
  const bool is_new = call.import.version >= 3;  // which has the masks of the inputs before that of the attention
  constexpr std::size_t kNever = 99;
  IrValue* counts = nullptr;
  if (IrValue* mask = flow_of(call, is_new ? 6 : 3, "attention_mask").value) {
    counts = b.cast(mask, DType::boolean);
    if (rank_of(mask) == 3) counts = b.unsqueeze(counts, {1});
  }
  const auto given = [&](std::size_t place, const char* name, const Flow& of) {
    IrValue* mask = flow_of(call, is_new ? place : kNever, name).value;
    return mask ? b.cast(mask, DType::boolean) : of.mask;
  };
  if (IrValue* mask = given(3, "query_mask", asked.query)) counts = both(b, counts, b.unsqueeze(mask, {1, 3}));
  if (IrValue* mask = given(4, "value_mask", asked.value)) counts = both(b, counts, b.unsqueeze(mask, {1, 2}));
  if (IrValue* mask = given(5, "key_mask", asked.key)) counts = both(b, counts, b.unsqueeze(mask, {1, 2}));
  if (wants_causal(call))
    counts = both(b, counts, b.unsqueeze(causal(b, asked.query.value, asked.value.value), {0, 1}));
  if (const Config window = call.at("sliding_window"); !window.is_null()) {
    call.require(window.as_int().value_or(0) > 0, "its sliding window is no size");
    IrValue* apart = b.op("Abs", {distance(b, asked.query.value, asked.value.value)});
    counts = both(b, counts, b.unsqueeze(b.op("Less", {apart, b.index(*window.as_int())}), {0, 1}));
  }
  return counts;
}

struct Heads {
  IrValue *query = nullptr, *key = nullptr, *value = nullptr;  // [batch, heads, steps, size]
  IrValue* gate = nullptr;                                     // what is multiplied with the result
};

/// Where the output's weights stand in a list of all.
std::size_t place_of_output(const Call& call) { return call.flag("use_gate", false) ? 4 : 3; }

/// What its query lets through of each head, between the keys and the values in a list of all weights; null:
/// everything.
IrValue* gate_of(Call& call, const Asked& asked, std::int64_t heads, std::int64_t size) {
  if (!call.flag("use_gate", false)) return nullptr;
  const Projection gate = projection(call, "gate_dense", 2, {-1, heads, size});
  return call.b.op("Sigmoid", {heads_of(call.b, asked.query.value, gate)});
}

void give_heads(Call& call, const Asked& from, const Heads& h, const Projection& output, double scale) {
  GraphBuilder& b = call.b;
  IrValue* scores = b.op("MatMul", {b.mul(h.query, scale), b.transpose(h.key, {0, 1, 3, 2})});
  IrValue* weights = b.op("Softmax", {masked(b, scores, counting(call, from))}, {{"axis", -1}});
  IrValue* y = b.op("MatMul", {weights, h.value});
  if (h.gate) y = b.mul(y, h.gate);
  y = einsum(b, {y, output.kernel}, "bhtk,hkd->btd");
  if (output.bias) y = b.add(y, output.bias);
  call.set(y, from.query.mask);
  if (wants_scores(call)) call.outputs.push_back({weights, nullptr});
}

}  // namespace

void attention(Call& call) { simple_attention(call, false); }
void additive_attention(Call& call) { simple_attention(call, true); }

void multi_head_attention(Call& call) {
  GraphBuilder& b = call.b;
  const Asked asked = asked_of(call);
  if (call.at("output_shape").size() > 1) call.refuse("an output of several axes has no translation");
  const std::int64_t count = call.integer("num_heads"), size = call.integer("key_dim");
  const std::int64_t of_values = call.integer("value_dim", size);
  const Projection query = projection(call, "query_dense", 0, {-1, count, size});
  const Projection key = projection(call, "key_dense", 1, {-1, count, size});
  const Projection value = projection(call, "value_dense", place_of_output(call) - 1, {-1, count, of_values});
  const Projection output = projection(call, "output_dense", place_of_output(call), {count, of_values, -1});
  Heads heads;
  heads.gate = gate_of(call, asked, count, of_values);
  heads.query = heads_of(b, asked.query.value, query);
  heads.key = heads_of(b, asked.keys(), key);
  heads.value = heads_of(b, asked.value.value, value);
  give_heads(call, asked, heads, output, 1 / std::sqrt(static_cast<double>(size)));
}

void grouped_query_attention(Call& call) {
  GraphBuilder& b = call.b;
  const Asked asked = asked_of(call);
  const std::int64_t size = call.integer("head_dim"), queries = call.integer("num_query_heads"),
                     keys = call.integer("num_key_value_heads");
  call.require(keys > 0 && queries > 0 && queries % keys == 0, "the heads cannot be shared");
  const Projection query = projection(call, "query_dense", 0, {-1, queries, size});
  const Projection key = projection(call, "key_dense", 1, {-1, keys, size});
  const Projection value = projection(call, "value_dense", place_of_output(call) - 1, {-1, keys, size});
  const Projection output = projection(call, "output_dense", place_of_output(call), {queries, size, -1});
  // Each head of keys serves several of queries.
  const auto repeated = [&](IrValue* x) {
    if (queries == keys) return x;
    Ints order;
    for (std::int64_t i = 0; i < queries; ++i) order.push_back(i / (queries / keys));
    return b.op("Gather", {x, b.ints(order)}, {{"axis", 1}});
  };
  Heads heads;
  heads.gate = gate_of(call, asked, queries, size);
  heads.query = heads_of(b, asked.query.value, query);
  heads.key = repeated(heads_of(b, asked.keys(), key));
  heads.value = repeated(heads_of(b, asked.value.value, value));
  give_heads(call, asked, heads, output, 1 / std::sqrt(static_cast<double>(size)));
}

}  // namespace ingot::frontends::keras
