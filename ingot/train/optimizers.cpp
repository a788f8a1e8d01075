// Optimizers as ONNX operators. Numbers that depend on the step are computed in double and rounded last, as PyTorch
// does.
#include "ingot/train/optimizers.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/train/parameters.h"
#include "ingot/train/splice.h"
#include "ingot/train/update.h"

namespace ingot::train {

Bytes zero_bytes(std::size_t size) {
  std::shared_ptr<void> block(std::calloc(std::max<std::size_t>(size, 1), 1), std::free);
  if (!block) throw std::bad_alloc();
  return {block, static_cast<const std::byte*>(block.get()), size};
}

const Tensor& Update::parameter() const {
  if (!x->initializer) throw Error(Code::bad_usage, "parameter '" + x->name() + "' is no initializer");
  return *x->initializer;
}

Value* Update::slot(const std::string& name, const Dims& dims, double first) {
  const DType type = parameter().dtype();
  const Tensor one = Tensor::scalar(first, type);
  const auto count = static_cast<std::size_t>(tensor_size(dims));
  Bytes bytes = zero_bytes(count * one.bytes().size());
  if (first != 0) {
    std::string filled;
    for (std::size_t i = 0; i < count; ++i) filled += one.bytes().text();
    bytes = Bytes::own(std::move(filled));
  }
  return g.graph().add_initializer(g.graph().fresh_name("train/" + x->name() + "/" + name), Tensor(type, dims, bytes));
}

void add_decay(Update& u) {
  const double decay = u.options.weight_decay.value_or(0);
  if (decay == 0) return;
  if (u.flavour == "keras")  // beside the gradient, as AdamW does
    u.base = u.g.mul(u.x, u.rounded(u.g.sub(1, u.g.mul(u.lr_double(), decay))));
  else
    u.dx = u.g.add(u.dx, u.g.mul(u.x, decay));
}

namespace {

using Rule = Value* (*)(Update&);

Value* sgd(Update& u) {
  add_decay(u);
  return u.step_by(u.lr(), u.dx);
}

Value* with_momentum(Update& u, bool looks_ahead) {
  add_decay(u);
  GraphBuilder& g = u.g;
  const double m = u.options.momentum.value_or(0.9);
  Value* v = u.slot("momentum");
  if (u.flavour == "keras") {
    Value* pull = g.mul(u.dx, u.lr());
    Value* next = u.keep(v, g.sub(g.mul(v, m), pull));
    return looks_ahead ? g.add(u.base, g.sub(g.mul(next, m), pull)) : g.add(u.base, next);
  }
  Value* fresh = u.dx;
  if (u.options.dampening != 0) {
    // The first gradient counts in full.
    Value* is_first = g.op("Less", {u.count(), g.scalar(1.5, DType::f64)});
    Value* damped = g.mul(u.dx, 1 - u.options.dampening);
    fresh = g.where(is_first, u.dx, damped);
  }
  Value* next = u.keep(v, g.add(g.mul(v, m), fresh));
  if (looks_ahead) next = g.add(u.dx, g.mul(next, m));
  return u.step_by(u.lr(), next);
}
Value* momentum(Update& u) { return with_momentum(u, false); }
Value* nesterov(Update& u) { return with_momentum(u, true); }

Value* adagrad(Update& u) {
  add_decay(u);
  GraphBuilder& g = u.g;
  Value* sum = u.slot("sum", u.parameter().dims(), u.options.first_sum);
  Value* next = u.keep(sum, g.add(sum, u.square(u.dx)));
  Value* before = g.sub(u.count(), 1);
  Value* rate = u.rounded(g.div(u.lr_double(), g.add(g.mul(before, u.options.lr_decay), 1)));
  const double epsilon = u.options.epsilon.value_or(u.flavour == "torch" ? 1e-10 : u.flavour == "onnx" ? 1e-6 : 1e-7);
  Value* size = u.flavour == "keras" ? u.root(g.add(next, epsilon)) : g.add(u.root(next), epsilon);
  return u.step_by(rate, g.div(u.dx, size));
}

Value* rmsprop(Update& u) {
  add_decay(u);
  GraphBuilder& g = u.g;
  const bool is_keras = u.flavour == "keras";
  Value* average = u.slot("square_average");
  Value* next = u.keep(average, u.blend(average, u.options.rho.value_or(is_keras ? 0.9 : 0.99), u.square(u.dx)));
  const double epsilon = u.options.epsilon.value_or(is_keras ? 1e-7 : 1e-8);
  Value* spread = next;
  if (u.options.centered) {  // the variance in place of the mean of the squares
    Value* mean = u.slot("average");
    Value* now = u.keep(mean, u.blend(mean, u.options.rho.value_or(is_keras ? 0.9 : 0.99), u.dx));
    spread = g.sub(next, u.square(now));
  }
  Value* size = is_keras ? u.root(g.add(spread, epsilon)) : g.add(u.root(spread), epsilon);
  Value* direction = g.div(u.dx, size);
  const double m = u.options.momentum.value_or(0);
  if (m == 0) return u.step_by(u.lr(), direction);
  Value* v = u.slot("momentum");
  if (is_keras) return g.sub(u.base, u.keep(v, g.add(g.mul(v, m), g.mul(direction, u.lr()))));
  return u.step_by(u.lr(), u.keep(v, g.add(g.mul(v, m), direction)));
}

Value* adadelta(Update& u) {
  add_decay(u);
  GraphBuilder& g = u.g;
  const double rho = u.options.rho.value_or(u.flavour == "keras" ? 0.95 : 0.9);
  const double epsilon = u.options.epsilon.value_or(u.flavour == "keras" ? 1e-7 : 1e-6);
  Value *squares = u.slot("square_average"), *deltas = u.slot("delta_average");
  Value* next = u.keep(squares, u.blend(squares, rho, u.square(u.dx)));
  Value* reach = u.root(g.add(deltas, epsilon));
  Value* size = u.root(g.add(next, epsilon));
  Value* delta = g.mul(g.div(reach, size), u.dx);
  u.keep(deltas, u.blend(deltas, rho, u.square(delta)));
  return u.step_by(u.lr(), delta);
}

struct Moments {
  Value *first, *second;
  double beta1, beta2, epsilon;
};

Moments moments(Update& u) {
  const double beta1 = u.options.beta1.value_or(0.9), beta2 = u.options.beta2.value_or(0.999);
  const double epsilon = u.options.epsilon.value_or(u.flavour == "torch" ? 1e-8 : u.flavour == "onnx" ? 1e-6 : 1e-7);
  Value *m = u.slot("first_moment"), *v = u.slot("second_moment");
  Value* first = u.keep(m, u.blend(m, beta1, u.dx));
  Value* second = u.keep(v, u.blend(v, beta2, u.square(u.dx)));
  return {first, second, beta1, beta2, epsilon};
}

Value* adam_step(Update& u) {
  GraphBuilder& g = u.g;
  Moments m = moments(u);
  if (u.options.amsgrad) {
    Value* largest = u.slot("largest_moment");
    m.second = u.keep(largest, g.op("Max", {largest, m.second}));
  }
  Value* first_part = u.correction(m.beta1);
  Value* second_part = g.op("Sqrt", {u.correction(m.beta2)});
  if (u.flavour == "torch") {
    Value* spread = u.root(m.second);
    Value* size = g.div(spread, u.rounded(second_part));
    Value* rate = u.rounded(g.div(u.lr_double(), first_part));
    return u.step_by(rate, g.div(m.first, g.add(size, m.epsilon)));
  }
  Value* rate = u.rounded(g.div(g.mul(u.lr_double(), second_part), first_part));
  return u.step_by(rate, g.div(m.first, g.add(u.root(m.second), m.epsilon)));
}

Value* adam(Update& u) {
  add_decay(u);
  return adam_step(u);
}

Value* adamw(Update& u) {
  GraphBuilder& g = u.g;
  const double decay = u.options.weight_decay.value_or(u.flavour == "keras" ? 0.004 : 0.01);
  Value* shrink = u.rounded(g.sub(1, g.mul(u.lr_double(), decay)));
  u.base = g.mul(u.x, shrink);
  return adam_step(u);
}

Value* adamax(Update& u) {
  add_decay(u);
  GraphBuilder& g = u.g;
  const double beta1 = u.options.beta1.value_or(0.9), beta2 = u.options.beta2.value_or(0.999);
  const double epsilon = u.options.epsilon.value_or(u.flavour == "keras" ? 1e-7 : 1e-8);
  Value *m = u.slot("first_moment"), *n = u.slot("largest");
  Value* first = u.keep(m, u.blend(m, beta1, u.dx));
  Value* size = g.op("Abs", {u.dx});
  Value* rate = u.rounded(g.div(u.lr_double(), u.correction(beta1)));
  if (u.flavour == "keras") {
    Value* largest = u.keep(n, g.op("Max", {g.mul(n, beta2), size}));
    return u.step_by(rate, g.div(first, g.add(largest, epsilon)));
  }
  Value* largest = u.keep(n, g.op("Max", {g.mul(n, beta2), g.add(size, epsilon)}));
  return u.step_by(rate, g.div(first, largest));
}

Value* nadam(Update& u) {
  add_decay(u);
  GraphBuilder& g = u.g;
  const double fading = u.flavour == "keras" ? 1 : 4e-3;
  const Moments m = moments(u);
  const auto schedule = [&](Value* t) {
    Value* fade = g.op("Pow", {g.scalar(0.96, DType::f64), g.mul(t, fading)});
    return g.mul(g.sub(1, g.mul(fade, 0.5)), m.beta1);
  };
  Value* product = g.graph().add_initializer(g.graph().fresh_name("train/" + u.x->name() + "/momentum_product"),
                                             Tensor::scalar(1.0));
  Value* now = schedule(u.count());
  Value* later = schedule(g.add(u.count(), 1));
  Value* so_far = u.keep(product, g.mul(product, now));
  Value* second_part = g.op("Sqrt", {u.correction(m.beta2)});
  Value* spread = u.root(m.second);
  Value* size = g.add(g.div(spread, u.rounded(second_part)), m.epsilon);
  Value* rest = g.sub(1, so_far);
  Value* of_gradient = g.div(g.mul(u.lr_double(), g.sub(1, now)), rest);
  Value* ahead = g.sub(1, g.mul(so_far, later));
  Value* of_moment = g.div(g.mul(u.lr_double(), later), ahead);
  Value *gradient_rate = u.rounded(of_gradient), *moment_rate = u.rounded(of_moment);
  Value* first = g.mul(g.div(u.dx, size), gradient_rate);
  Value* second = g.mul(g.div(m.first, size), moment_rate);
  return g.sub(g.sub(u.base, first), second);
}

Value* lamb(Update& u) {
  const bool is_keras = u.flavour == "keras";
  if (is_keras) add_decay(u);
  GraphBuilder& g = u.g;
  const Moments m = moments(u);
  Value* first = g.div(m.first, u.rounded(u.correction(m.beta1)));
  Value* second = g.div(m.second, u.rounded(u.correction(m.beta2)));
  Value* direction = g.div(first, g.add(u.root(second), u.options.epsilon.value_or(is_keras ? 1e-7 : 1e-6)));
  const double decay = is_keras ? 0 : u.options.weight_decay.value_or(0);
  if (decay != 0) direction = g.add(direction, g.mul(u.x, decay));
  // The step is as long as the parameter, scaled; a parameter or direction of zero takes a plain step.
  Value *size = g.op("ReduceL2", {u.base}, {{"keepdims", 0}}),
        *length = g.op("ReduceL2", {direction}, {{"keepdims", 0}});
  Value* is_zero = g.op("Equal", {g.mul(size, length), g.scalar(0, u.elem())});
  Value* safe = g.where(is_zero, g.scalar(1, u.elem()), length);
  Value* ratio = g.div(size, safe);
  Value* trust = g.where(is_zero, g.scalar(1, u.elem()), ratio);
  return u.step_by(g.mul(u.lr(), trust), direction);
}

Value* lion(Update& u) {
  GraphBuilder& g = u.g;
  const double beta1 = u.options.beta1.value_or(0.9), beta2 = u.options.beta2.value_or(0.99);
  Value* m = u.slot("moment");
  Value* direction = g.op("Sign", {u.blend(m, beta1, u.dx)});
  u.keep(m, u.blend(m, beta2, u.dx));
  const double decay = u.options.weight_decay.value_or(0);
  if (decay != 0) direction = g.add(direction, g.mul(u.x, decay));
  return u.step_by(u.lr(), direction);
}

struct Row {
  std::string_view name;
  Rule rule;
  double lr;
};
constexpr Row kOptimizers[] = {
    {"sgd", sgd, 0.01},         {"momentum", momentum, 0.01},   {"nesterov", nesterov, 0.01},
    {"adagrad", adagrad, 0.01}, {"rmsprop", rmsprop, 1e-3},     {"adadelta", adadelta, 1},
    {"adam", adam, 1e-3},       {"adamw", adamw, 1e-3},         {"adamax", adamax, 2e-3},
    {"nadam", nadam, 2e-3},     {"lamb", lamb, 1e-3},           {"lion", lion, 1e-4},
    {"ftrl", ftrl, 1e-3},       {"adafactor", adafactor, 1e-3},
};

const Row& row_of(const std::string& full_name) {
  const std::string name = full_name.substr(0, full_name.find('@'));
  for (const Row& row : kOptimizers)
    if (row.name == name) return row;
  std::string known;
  for (const Row& row : kOptimizers) known += (known.empty() ? "" : ", ") + std::string(row.name);
  throw Error(Code::bad_usage, "there is no optimizer '" + name + "'").hint("known optimizers: " + known);
}

std::string flavour_of(const std::string& full_name) {
  const std::size_t at = full_name.find('@');
  const std::string flavour = at == std::string::npos ? "torch" : full_name.substr(at + 1);
  if (flavour != "torch" && flavour != "keras" && flavour != "onnx")
    throw Error(Code::bad_usage, "there is no flavour '" + flavour + "'").hint("flavours: torch, keras, onnx");
  return flavour;
}

}  // namespace

const std::vector<std::string>& optimizer_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Row& row : kOptimizers) list.emplace_back(row.name);
    return list;
  }();
  return names;
}

double learning_rate(const OptimizerOptions& options) { return options.lr.value_or(row_of(options.name).lr); }

std::vector<StateVariable> add_optimizer(const OptimizerOptions& options, const Values& parameters,
                                         const Values& gradients, Value* lr, Value* step) {
  const Row& row = row_of(options.name);
  GraphBuilder g(lr->graph());
  g.name_after("train/" + std::string(row.name));
  Value* count = g.add(g.cast(step, DType::f64), 1);
  std::vector<StateVariable> state, slots;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    g.name_after("train/" + std::string(row.name) + "/" + parameters[i]->name());
    OptimizerOptions own = options;
    for (const std::string& pattern : options.no_decay)
      if (matches_glob(pattern, parameters[i]->name())) own.weight_decay = 0;
    Update update(g, own, flavour_of(options.name), parameters[i], gradients[i], lr, count);
    Value* next = row.rule(update);
    state.push_back({parameters[i], next});
    slots.insert(slots.end(), update.slots.begin(), update.slots.end());
  }
  state.insert(state.end(), slots.begin(), slots.end());
  return state;
}

namespace {

/// A variable of a user's optimizer: its default as it is or stretched to the parameter, or zeros.
Value* slot_of(Graph& graph, const Value& parameter, const Value& input) {
  const Tensor& like = *parameter.initializer;
  const std::string name = graph.fresh_name("train/" + parameter.name() + "/" + input.name());
  if (input.initializer) return graph.add_initializer(name, *input.initializer);
  const bool is_number = input.type.shape && input.type.shape->empty();
  const Dims dims = is_number ? Dims{} : like.dims();
  const Tensor zero = Tensor::scalar(0, input.type.elem);
  std::string bytes;
  for (std::int64_t i = 0; i < tensor_size(dims); ++i) bytes += zero.bytes().text();
  return graph.add_initializer(name, Tensor(input.type.elem, dims, Bytes::own(std::move(bytes))));
}

}  // namespace

std::vector<StateVariable> add_optimizer(const Model& optimizer, const Values& parameters, const Values& gradients,
                                         Value* lr, Value* step) {
  Graph& graph = lr->graph();
  GraphBuilder g(graph);
  g.name_after("train/optimizer");
  std::vector<StateVariable> state, slots;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::unordered_map<std::string, Value*> inputs;
    Values own;
    std::vector<std::string> own_names;
    for (const Value* v : optimizer.graph->inputs()) {
      const std::string& name = v->name();
      if (name == "parameter") {
        inputs[name] = parameters[i];
      } else if (name == "gradient") {
        inputs[name] = gradients[i];
      } else if (name == "lr") {
        inputs[name] = g.cast(lr, v->type.elem);
      } else if (name == "step") {
        inputs[name] = g.cast(step, v->type.elem);
      } else {
        own.push_back(slot_of(graph, *parameters[i], *v));
        own_names.push_back(name);
        inputs[name] = own.back();
      }
    }
    for (const char* needed : {"parameter", "gradient"})
      if (!inputs.contains(needed))
        throw Error(Code::bad_usage, std::string("the optimizer graph has no input '") + needed + "'");
    const auto outputs = splice(optimizer, inputs, graph, "train/optimizer/" + parameters[i]->name() + "/");
    const auto next = [&](const std::string& name) {
      const auto found = outputs.find(name + ".next");
      if (found == outputs.end()) throw Error(Code::bad_usage, "the optimizer graph has no output '" + name + ".next'");
      return found->second;
    };
    state.push_back({parameters[i], next("parameter")});
    for (std::size_t k = 0; k < own.size(); ++k) slots.push_back({own[k], next(own_names[k])});
  }
  state.insert(state.end(), slots.begin(), slots.end());
  return state;
}

}  // namespace ingot::train
