// Recurrent operators as layers. Layers have the batch first: transposes that bring it there and back meet and go.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/keras/layer_out.h"
#include "ingot/backends/keras/rewrites.h"
#include "ingot/ir/transpose.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/rnn/gates.h"

namespace ingot::backends::keras {
namespace {

using passes::legalize::Refusal;
using passes::legalize::Rewriting;

const Ints kTimeFirst = {1, 0, 2};

Ints perm_of(const Node& transpose) { return transpose.attributes.ints_or("perm", {}); }

/// The transpose that makes a value and takes the batch from its place; null: there is none.
const Node* moving_batch(const Value* v) {
  const Node* n = v ? v->producer() : nullptr;
  return n && n->is("Transpose") && !perm_of(*n).empty() && perm_of(*n)[0] != 0 ? n : nullptr;
}

bool is_counted(const Ints& perm) {
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

Value* transposed_by(GraphBuilder& g, Value* x, const Ints& perm) {
  return is_counted(perm) ? x : g.transpose(x, perm);
}

/// Transpose(Transpose(x, p), q) = Transpose(x, p o q)
Values join_transposes(Rewriting& r) {
  const Node* inner = r.in()->producer();
  if (!inner || !inner->is("Transpose")) return {};
  const Ints p = perm_of(*inner), q = perm_of(r.node);
  if (p.empty() || p.size() != q.size()) return {};
  Ints both;
  for (const std::int64_t axis : q) both.push_back(p[static_cast<std::size_t>(axis)]);
  return {is_counted(both) ? r.g.op("Identity", {inner->input(0)}) : r.g.transpose(inner->input(0), both)};
}

/// The axes that a Squeeze takes out, counted from the front.
Ints squeezed_axes(const Node& squeeze) {
  const Tensor* given = squeeze.input(1) ? ops::constant_of(squeeze.input(1)) : nullptr;
  Ints axes = given ? given->to_ints() : Ints();
  for (std::int64_t& axis : axes)
    if (axis < 0) axis += static_cast<std::int64_t>(squeeze.input(0)->type.shape->size());
  return axes;
}

/// Squeeze(Transpose(x, p), a) = Transpose(Squeeze(x, p[a]), p without a)
Values squeeze_before_transpose(Rewriting& r) {
  const Node* moved = moving_batch(r.in());
  const Ints axes = squeezed_axes(r.node);
  if (!moved || axes.empty()) return {};
  const Ints p = perm_of(*moved);
  Ints gone, rest;
  for (std::size_t i = 0; i < p.size(); ++i)
    (std::ranges::find(axes, static_cast<std::int64_t>(i)) != axes.end() ? gone : rest).push_back(p[i]);
  if (std::ranges::find(gone, 0) != gone.end()) return {};
  for (std::int64_t& axis : rest) axis -= std::ranges::count_if(gone, [&](std::int64_t g) { return g < axis; });
  Value* x = r.g.squeeze(moved->input(0), gone);
  return {is_counted(rest) ? x : r.g.transpose(x, rest)};
}

/// The last two axes become one, and stay where they are: the transpose may as well follow.
Values join_before_transpose(Rewriting& r) {
  const Node* moved = moving_batch(r.in());
  const auto &x = r.node.input(0)->type.shape, &y = r.node.output(0)->type.shape;
  if (!moved || !x || !y || x->size() < 3 || y->size() + 1 != x->size()) return {};
  const Ints p = perm_of(*moved);
  const auto last = static_cast<std::int64_t>(p.size()) - 1;
  const Dim &unit = x->back(), &direction = (*x)[x->size() - 2];
  if (p[p.size() - 1] != last || p[p.size() - 2] != last - 1 || !unit.is_known() || !direction.is_known()) return {};
  for (std::size_t i = 0; i + 1 < y->size(); ++i)
    if (!same((*x)[i], (*y)[i])) return {};
  Ints sizes(y->size() - 1, 0);
  sizes.push_back(unit.value() * direction.value());
  Value* joined = r.g.reshape(moved->input(0), sizes);
  return {transposed_by(r.g, joined, Ints(p.begin(), p.end() - 1))};
}

Values cells_with_batch_first(Rewriting& r, const Values& inputs, std::size_t outputs) {
  const Attributes& a = r.node.attributes;
  Attrs attrs{{"layout", 1}, {"direction", a.string_or("direction", "forward")}};
  for (const char* name : {"hidden_size", "input_forget", "linear_before_reset"})
    if (a.has(name)) attrs.emplace_back(name, a.int_or(name, 0));
  if (a.has("clip")) attrs.emplace_back("clip", a.float_or("clip", 0));
  if (const auto* names = a.get<std::vector<std::string>>("activations")) attrs.emplace_back("activations", *names);
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (const auto* numbers = a.get<std::vector<float>>(name)) attrs.emplace_back(name, *numbers);
  if (r.node.is("LSTM")) return r.g.op("LSTM", inputs, attrs, outputs);
  return r.node.is("GRU") ? r.g.op("GRU", inputs, attrs, outputs) : r.g.op("RNN", inputs, attrs, outputs);
}

/// The same operator with the batch first.
Values batch_first(Rewriting& r) {
  if (r.attr("layout", 0) != 0 || !r.rank()) return {};
  const std::size_t states = r.node.is("LSTM") ? 2 : 1;
  Values inputs = r.node.inputs();
  inputs[0] = r.g.transpose(inputs[0], kTimeFirst);
  for (std::size_t i = 5; i < inputs.size() && i < 5 + states; ++i)
    if (inputs[i]) inputs[i] = r.g.transpose(inputs[i], kTimeFirst);
  Values made = cells_with_batch_first(r, inputs, 1 + states);
  made[0] = r.g.transpose(made[0], {1, 2, 0, 3});
  for (std::size_t i = 1; i < made.size(); ++i) made[i] = r.g.transpose(made[i], kTimeFirst);
  made.resize(r.node.output_count());
  return made;
}

/// A layer's word for an activation; empty: it has none.
std::string activation_word(const std::string& name, float alpha, float beta) {
  if (name == "Sigmoid") return "sigmoid";
  if (name == "Tanh") return "tanh";
  if (name == "Relu") return "relu";
  if (name == "Softsign") return "softsign";
  if (name == "Softplus") return "softplus";
  if (name == "HardSigmoid" && alpha == 0.2F && beta == 0.5F) return "hard_sigmoid";
  return "";
}

/// The activations of one direction, that of the gates first.
std::vector<std::string> activations_of(const Node& n) {
  std::vector<std::string> names;
  if (const auto* stated = n.attributes.get<std::vector<std::string>>("activations")) names = *stated;
  const std::size_t per_cell = n.is("LSTM") ? 3 : n.is("GRU") ? 2 : 1;
  if (names.empty())
    names = n.is("LSTM")  ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
            : n.is("GRU") ? std::vector<std::string>{"Sigmoid", "Tanh"}
                          : std::vector<std::string>{"Tanh"};
  for (std::size_t i = per_cell; i < names.size(); ++i)
    if (names[i] != names[i % per_cell]) return {};
  const auto *alpha = n.attributes.get<std::vector<float>>("activation_alpha"),
             *beta = n.attributes.get<std::vector<float>>("activation_beta");
  std::vector<std::string> words;
  for (std::size_t i = 0; i < per_cell && i < names.size(); ++i)
    words.push_back(activation_word(names[i], alpha && !alpha->empty() ? alpha->front() : 0.2F,
                                    beta && !beta->empty() ? beta->front() : 0.5F));
  if (words.size() != per_cell || std::ranges::find(words, "") != words.end()) return {};
  return words;
}

bool is_used(const Value* v) { return v && !v->uses().empty(); }

/// Whether what reads an output only takes the axis of directions out, or joins it with the units.
bool loses_directions(const Value* v) {
  return std::ranges::all_of(v->uses(), [&](const Use& use) {
    return use.node && (use.node->is("Squeeze") || use.node->is("Reshape") || use.node->is("Flatten")) &&
           use.node->output(0)->type.shape && v->type.shape &&
           use.node->output(0)->type.shape->size() + 1 == v->type.shape->size();
  });
}

}  // namespace

const std::vector<passes::legalize::Rewrite>& recurrent_rewrites() {
  static const std::vector<passes::legalize::Rewrite> kRewrites = {
      {"batch-first", "GRU", batch_first},
      {"batch-first", "LSTM", batch_first},
      {"batch-first", "RNN", batch_first},
      {"batch-first", "Reshape", join_before_transpose},
      {"batch-first", "Squeeze", squeeze_before_transpose},
      {"batch-first", "Transpose", join_transposes},
  };
  return kRewrites;
}

bool has_moved_batch(const Value* v) { return moving_batch(v) != nullptr; }

bool is_of_cells(const Value* v) {
  const Node* n = v ? v->producer() : nullptr;
  return n && (n->is("LSTM") || n->is("GRU") || n->is("RNN"));
}

Refused refuse_recurrent(const Node& n) {
  if (n.attributes.int_or("layout", 0) != 1) return Refusal{Kind::attribute_value, "the batch is not first"};
  for (const std::size_t i : {1U, 2U, 3U})
    if (i < n.input_count() && n.input(i) && !ops::constant_of(n.input(i)))
      return Refusal{Kind::not_constant, "a layer's weights are constant"};
  for (std::size_t i = 4; i < n.input_count(); ++i)
    if (n.input(i)) return Refusal{Kind::structure, "lengths, first states and peepholes are given"};
  if (n.attributes.has("clip") || n.attributes.int_or("input_forget", 0))
    return Refusal{Kind::attribute_value, "layers do not clip"};
  if (n.is("GRU") && n.attributes.int_or("linear_before_reset", 0))
    return Refusal{Kind::attribute_value, "TF.js has no reset after the product"};
  const std::vector<std::string> words = activations_of(n);
  if (words.empty() || (n.is("LSTM") && words[1] != words[2]))
    return Refusal{Kind::attribute_value, "activations that layers do not have"};
  const bool gives_all = is_used(n.output(0)), gives_last = is_used(n.output(1));
  if (gives_all == gives_last || (n.output_count() > 2 && is_used(n.output(2))))
    return Refusal{Kind::structure, "only all steps, or only the last"};
  if (!loses_directions(n.output(gives_all ? 0 : 1)))
    return Refusal{Kind::structure, "directions are an axis of their own"};
  if (n.attributes.string_or("direction", "forward") == "reverse" && gives_all)
    return Refusal{Kind::attribute_value, "a layer that goes backwards gives its steps backwards"};
  return {};
}

namespace {

/// [gates * units, inputs] of one direction in the layer's form and order.
Tensor turned_gates(const Tensor& w, const std::vector<std::int64_t>& order) {
  const std::int64_t units = w.dims()[0] / static_cast<std::int64_t>(order.size()), inner = w.size() / w.dims()[0];
  const std::vector<float> all = w.to_vector<float>();
  std::vector<float> made;
  for (const std::int64_t gate : order)
    made.insert(made.end(), all.begin() + gate * units * inner, all.begin() + (gate + 1) * units * inner);
  return Tensor::of<float>(w.dims(), made);
}

Tensor part_of(const Tensor& all, std::int64_t direction, const Dims& dims) {
  const std::vector<float> values = all.to_vector<float>();
  const auto count = static_cast<std::int64_t>(values.size()) / all.dims()[0];
  return Tensor::of<float>(
      dims, std::vector<float>(values.begin() + direction * count, values.begin() + (direction + 1) * count));
}

/// kernel, recurrent_kernel and bias of one direction.
std::vector<std::pair<std::string, Tensor>> cell_weights(LayerOut& n, std::int64_t direction,
                                                         const std::string& prefix) {
  const std::vector<std::int64_t> order = n.node.is("LSTM")  ? ops::gate_order(ops::kLstmGates, "ifco")
                                          : n.node.is("GRU") ? std::vector<std::int64_t>{0, 1, 2}
                                                             : std::vector<std::int64_t>{0};
  const Tensor &w = *n.constant(1), &u = *n.constant(2);
  const auto kernel = [&](const Tensor& t) {
    return transposed(turned_gates(part_of(t, direction, {t.dims()[1], t.dims()[2]}), order), {1, 0});
  };
  std::vector<float> sum(static_cast<std::size_t>(w.dims()[1]), 0);
  if (const Tensor* b = n.constant(3)) {
    const std::vector<float> both = part_of(*b, direction, {b->dims()[1]}).to_vector<float>();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = both[i] + both[i + sum.size()];
  }
  const Tensor bias = Tensor::of<float>({w.dims()[1]}, sum);
  return {{prefix + "kernel", kernel(w)},
          {prefix + "recurrent_kernel", kernel(u)},
          {prefix + "bias", turned_gates(bias, order)}};
}

}  // namespace

void emit_recurrent(LayerOut& n) {
  const std::string direction = n.node.attributes.string_or("direction", "forward");
  const bool gives_all = is_used(n.node.output(0));
  const std::vector<std::string> words = activations_of(n.node);
  const std::int64_t units = n.constant(2)->dims()[2];
  const char* kind = n.node.is("RNN") ? "SimpleRNN" : n.node.is("LSTM") ? "LSTM" : "GRU";
  std::string config = fmt::format(
      R"("units":{},"activation":"{}","use_bias":true,"return_sequences":{},"return_state":false,"go_backwards":{},"stateful":false,"unroll":false)",
      units, words.size() > 1 ? words[1] : words[0], gives_all, direction == "reverse");
  if (words.size() > 1) config += fmt::format(R"(,"recurrent_activation":"{}")", words[0]);
  if (n.node.is("GRU")) config += R"(,"reset_after":false)";
  const Value* given = n.node.output(gives_all ? 0 : 1);
  if (direction != "bidirectional") {
    n.model.bind(given, n.model.add(kind, config, {n.in()}, given->name(), cell_weights(n, 0, "")));
    return;
  }
  auto weights = cell_weights(n, 0, "forward_cell/");
  for (auto& w : cell_weights(n, 1, "backward_cell/")) weights.push_back(std::move(w));
  const std::string both = fmt::format(
      R"("layer":{{"class_name":"{}","config":{{"name":"cell","trainable":true,{}}}}},"merge_mode":"concat")", kind,
      config);
  n.model.bind(given, n.model.add("Bidirectional", both, {n.in()}, given->name(), weights));
}

}  // namespace ingot::backends::keras
