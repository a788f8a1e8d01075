// LinearAttention: attention as a recurrence over a state of keys times values.
#include <algorithm>
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/compute.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/heads.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

enum Input : std::size_t { kQuery, kKey, kValue, kPast, kDecay, kBeta };

struct Rule {
  bool decays, corrects;
};

std::optional<Rule> rule_of(const Attributes& attributes) {
  const std::string name = attributes.string_or("update_rule", "gated_delta");
  if (name == "linear") return Rule{false, false};
  if (name == "gated") return Rule{true, false};
  if (name == "delta") return Rule{false, true};
  if (name == "gated_delta") return Rule{true, true};
  return std::nullopt;
}

void infer(InferContext& c) {
  const auto q_heads = c.need_int("q_num_heads"), kv_heads = c.need_int("kv_num_heads");
  if (!q_heads || !kv_heads) return;
  c.require(*q_heads >= 1 && *kv_heads >= 1, "the numbers of heads must be positive");
  c.require(*q_heads % *kv_heads == 0, "q_num_heads must be a multiple of kv_num_heads");
  const auto rule = rule_of(c.node().attributes);
  if (!rule) c.fail("attribute 'update_rule' names no rule");
  c.require(rule->decays == c.has(kDecay), "decay is given for the gated rules, and for them only");
  c.require(rule->corrects == c.has(kBeta), "beta is given for the delta rules, and for them only");

  Dim batch, length;
  for (const std::size_t i : {kQuery, kKey, kValue, kDecay, kBeta}) {
    require_rank(c, i, 3, "an input");
    batch = agree(c, batch, c.dim(i, 0), "the batch size");
    length = agree(c, length, c.dim(i, 1), "the length");
  }
  require_rank(c, kPast, 4, "past_state");
  batch = agree(c, batch, c.dim(kPast, 0), "the batch size");
  agree(c, c.dim(kPast, 1), *kv_heads, "the number of heads of past_state");
  Dim key = divide_heads(c, c.dim(kQuery, 2), *q_heads, "the query");
  key = agree(c, key, divide_heads(c, c.dim(kKey, 2), *kv_heads, "the key"), "the head size of query and key");
  key = agree(c, key, c.dim(kPast, 2), "the head size of key and past_state");
  Dim value = divide_heads(c, c.dim(kValue, 2), *kv_heads, "the value");
  value = agree(c, value, c.dim(kPast, 3), "the head size of value and past_state");
  if (!may_equal(c.dim(kDecay, 2), *kv_heads) && !may_equal(c.dim(kDecay, 2), key * *kv_heads))
    c.fail("decay has " + c.dim(kDecay, 2).str() + " elements per step, neither one per head nor one per key");
  if (!may_equal(c.dim(kBeta, 2), 1) && !may_equal(c.dim(kBeta, 2), *kv_heads))
    c.fail("beta has " + c.dim(kBeta, 2).str() + " elements per step, neither one nor one per head");
  // Without a past state its type is the query's.
  if (!c.has(kPast) && c.elem(kQuery) != DType::undefined) c.out_elem(1, c.elem(kQuery));
  c.out_shape(0, {batch, length, value * *q_heads});
  c.out_shape(1, {batch, *kv_heads, key, value});
}

struct StepInputs {
  Value *state, *query, *key, *value, *decay, *beta;  // one step of each, without the axis of time
};

/// The type of the state while it is carried.
DType carried(DType elem) { return elem == DType::f64 ? elem : DType::f32; }

/// One step of the recurrence; the new state and what the query reads from it.
std::pair<Value*, Value*> one_step(GraphBuilder& g, const StepInputs& in, std::int64_t q_heads, std::int64_t kv_heads,
                                   Value* scale, DType elem) {
  const auto wide = [&](Value* x) { return g.cast(x, carried(elem)); };
  Value* state = in.state;
  if (in.decay) state = g.mul(state, g.unsqueeze(g.op("Exp", {wide(in.decay)}), {-1}));
  Value* key = g.unsqueeze(wide(in.key), {-1});
  Value* value = wide(in.value);
  if (in.beta) {
    Value* stored = g.op("MatMul", {g.transpose(state, {0, 1, 3, 2}), key});
    value = g.mul(wide(in.beta), g.sub(value, g.squeeze(stored, {-1})));
  }
  state = g.add(state, g.op("MatMul", {key, g.unsqueeze(value, {-2})}));
  Value* query = g.unsqueeze(wide(in.query), {-2});
  Value* shared = share_heads(g, state, kv_heads, query, q_heads);
  Value* read = g.squeeze(g.op("MatMul", {query, shared}), {-2});
  return {state, g.cast(g.mul(scale, read), elem)};
}

Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t q_heads = c.attr("q_num_heads", std::int64_t{0});
  const std::int64_t kv_heads = c.attr("kv_num_heads", std::int64_t{0});
  const auto rule = rule_of(c.node.attributes);
  const DType elem = c.elem(kQuery);
  if (!rule || q_heads < 1 || kv_heads < 1 || q_heads % kv_heads || elem == DType::undefined) return {};
  if (!c.in(kKey) || !c.in(kValue) || rule->decays != c.has(kDecay) || rule->corrects != c.has(kBeta)) return {};
  if (c.has(kPast) && c.elem(kPast) == DType::undefined) return {};

  // [B, T, H*D] -> [T, B, H, D]: Scan walks along the first axis.
  const auto by_time = [&](std::size_t i, std::int64_t heads, std::int64_t size) {
    return g.transpose(g.reshape(c.in(i), {0, 0, heads, size}), {1, 0, 2, 3});
  };
  Value* query = by_time(kQuery, q_heads, -1);
  Value* value = by_time(kValue, kv_heads, -1);
  Value* state = nullptr;
  if (c.has(kPast)) {
    state = g.cast(c.in(kPast), carried(elem));
  } else {
    Value* shape = g.concat(
        {size_along(g, c.in(kQuery), 0), g.ints({kv_heads}), size_along(g, query, 3), size_along(g, value, 3)}, 0);
    state = g.op("ConstantOfShape", {shape}, {{"value", Tensor::scalar(0, carried(elem)).reshaped({1})}});
  }
  Value* scale = nullptr;
  if (const float given = c.attr("scale", 0.0f); given != 0) {
    scale = g.scalar(static_cast<double>(given), carried(elem));
  } else {
    Value* size = g.cast(g.squeeze(size_along(g, query, 3), {0}), carried(elem));
    scale = g.op("Reciprocal", {g.op("Sqrt", {size})});
  }

  Values inputs = {state, query, by_time(kKey, kv_heads, -1), value};
  if (rule->decays) inputs.push_back(by_time(kDecay, kv_heads, -1));
  if (rule->corrects) inputs.push_back(by_time(kBeta, -1, 1));
  auto body = std::make_unique<Graph>(&g.graph());
  body->name = "step";
  Values formal;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Type type = inputs[i]->type;
    if (i > 0 && type.shape) type.shape->erase(type.shape->begin());
    formal.push_back(body->add_input(g.graph().fresh_name(i == 0 ? "state" : "step"), std::move(type)));
  }
  GraphBuilder inner(*body);
  const StepInputs step = {formal[0],
                           formal[1],
                           formal[2],
                           formal[3],
                           rule->decays ? formal[4] : nullptr,
                           rule->corrects ? formal.back() : nullptr};
  const auto [next, read] = one_step(inner, step, q_heads, kv_heads, scale, elem);
  body->add_output(next);
  body->add_output(read);

  Node* scan = g.node("Scan", "", inputs, {{"num_scan_inputs", static_cast<std::int64_t>(inputs.size()) - 1}}, 2);
  scan->attributes.append(Attribute("body", AttrValue(std::move(body))));
  InferSession session;
  infer_node(*scan, session);
  Value* output = g.reshape(g.transpose(scan->output(1), {1, 0, 2, 3}), {0, 0, -1});
  return {output, g.cast(scan->output(0), c.has(kPast) ? c.elem(kPast) : elem)};
}

void run(KernelContext& c) {
  const auto wide = [&](std::size_t i) { return c.has(i) ? converted(c.in(i), DType::f64, c.host()) : Array(); };
  const std::int64_t q_heads = c.attr("q_num_heads", std::int64_t{0});
  const std::int64_t kv_heads = c.attr("kv_num_heads", std::int64_t{0});
  const auto rule = rule_of(c.node.attributes);
  if (!rule) c.fail("attribute 'update_rule' names no rule");
  if (q_heads < 1 || kv_heads < 1 || q_heads % kv_heads) c.fail("the numbers of heads do not fit each other");
  if (rule->decays != c.has(kDecay) || rule->corrects != c.has(kBeta))
    c.fail("decay and beta must be given for the rules that use them, and for them only");
  c.in(kQuery), c.in(kKey), c.in(kValue);  // not optional
  const Array q = wide(kQuery), k = wide(kKey), v = wide(kValue), decay = wide(kDecay), beta = wide(kBeta);
  for (const Array* input : {&q, &k, &v, &decay, &beta})
    if (*input && (input->rank() != 3 || input->dims()[0] != q.dims()[0] || input->dims()[1] != q.dims()[1]))
      c.fail("an input is not [batch, length, features]");
  const std::int64_t batch = q.dims()[0], length = q.dims()[1];
  if (q.dims()[2] % q_heads || k.dims()[2] % kv_heads || v.dims()[2] % kv_heads)
    c.fail("an input cannot be split into heads");
  const std::int64_t size = q.dims()[2] / q_heads, value_size = v.dims()[2] / kv_heads;
  if (k.dims()[2] / kv_heads != size) c.fail("query and key differ in head size");
  const std::int64_t decay_size = decay ? decay.dims()[2] / kv_heads : 0, beta_size = beta ? beta.dims()[2] : 0;
  if (decay && (decay.dims()[2] % kv_heads || (decay_size != 1 && decay_size != size)))
    c.fail("decay has neither one element per head nor one per key");
  if (beta && beta_size != 1 && beta_size != kv_heads) c.fail("beta has neither one element nor one per head");

  Array state = scratch(c, DType::f64, {batch, kv_heads, size, value_size});
  if (const Array past = wide(kPast)) {
    if (past.dims() != state.dims()) c.fail("past_state does not fit key and value");
    std::ranges::copy(past.data<double>(), state.mutable_data<double>().begin());
  }
  const auto given = static_cast<double>(c.attr("scale", 0.0f));
  const double scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(size));
  Array y = scratch(c, DType::f64, {batch, length, tensor_size(Dims{q_heads, value_size})});
  Array changes = scratch(c, DType::f64, {value_size});
  const auto pointer = [](const Array& a) { return a ? a.data<double>().data() : nullptr; };
  const double *queries = pointer(q), *keys = pointer(k), *values = pointer(v), *decays = pointer(decay),
               *betas = pointer(beta);
  double *out = y.mutable_data<double>().data(), *change = changes.mutable_data<double>().data();
  const std::int64_t share = q_heads / kv_heads;
  Pace pace(c.host().budget());
  for (std::int64_t row = 0; state.size() > 0 && row < batch * length * kv_heads; ++row) {
    const std::int64_t head = row % kv_heads, step = row / kv_heads;  // step: of all sequences
    double* memory = state.mutable_data<double>().data() + (step / length * kv_heads + head) * size * value_size;
    const double *key = keys + row * size, *value = values + row * value_size;
    for (std::int64_t i = 0; decays && i < size; ++i) {
      const double factor = std::exp(decays[row * decay_size + (decay_size == 1 ? 0 : i)]);
      for (std::int64_t j = 0; j < value_size; ++j) memory[i * value_size + j] *= factor;
    }
    std::copy_n(value, value_size, change);
    if (betas) {  // only what the state does not say of this key already
      for (std::int64_t i = 0; i < size; ++i)
        for (std::int64_t j = 0; j < value_size; ++j) change[j] -= memory[i * value_size + j] * key[i];
      const double rate = betas[step * beta_size + (beta_size == 1 ? 0 : head)];
      for (std::int64_t j = 0; j < value_size; ++j) change[j] *= rate;
    }
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < value_size; ++j) memory[i * value_size + j] += key[i] * change[j];
    for (std::int64_t h = head * share; h < (head + 1) * share; ++h) {
      double* read = out + (step * q_heads + h) * value_size;
      const double* query = queries + (step * q_heads + h) * size;
      for (std::int64_t i = 0; i < size; ++i)
        for (std::int64_t j = 0; j < value_size; ++j) read[j] += scale * query[i] * memory[i * value_size + j];
    }
    pace.step((share + 2) * size * value_size);
  }
  put(c, 0, y, c.in(kQuery).dtype());
  if (c.wants(1)) put(c, 1, state, c.in(c.has(kPast) ? kPast : kQuery).dtype());
}

}  // namespace

constinit const OpDef defs::LinearAttention = {
    .name = "LinearAttention",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
