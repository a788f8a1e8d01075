// Operators that change variables: each gives the value after it, and the translation remembers whose it is.
#include "ingot/frontends/tensorflow/updates.h"

#include "ingot/frontends/tensorflow/training_nodes.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {
namespace {

/// The variable that input i stands for, as it is before.
Value* before(const TfNode& n, std::size_t i) {
  const Operand& o = n.operand(i);
  if (o.value) return o.value;
  if (!o.resource || o.resource->kind != Resource::Kind::variable)
    n.unsupported("the handle is not that of a variable");
  return n.translation().variables().get(*o.resource);
}

/// The node makes `next` of the variable: remembered where the model is to learn, else noted.
Operands after(const TfNode& n, std::size_t i, Value* next) {
  Translation& t = n.translation();
  Value* variable = before(n, i);
  if (t.options().mode == ImportMode::inference) {
    t.note("'" + n.name() + "' (" + n.op() + ") gives its new value; the model keeps no state");
  } else {
    if (!t.variables().has(variable)) n.unsupported("what it changes is no variable of the model");
    t.variables().update(variable, next);
  }
  return {{next}};
}

Value* square(GraphBuilder& g, Value* x) { return g.mul(x, x); }

}  // namespace

Value* value_after(const TfNode& n, Value* variable) {
  Translation& t = n.translation();
  const Body& body = n.scope().body;
  const std::int32_t self = body.find(n.name());
  if (self < 0 || body.controls(self).empty()) return variable;
  const std::vector<bool> before = ancestors(body, {body.controls(self).begin(), body.controls(self).end()});
  for (const std::int32_t node : t.update_nodes(body)) {
    if (!before[static_cast<std::size_t>(node)] || body.inputs(node).empty()) continue;
    const Operand target = t.get(n.scope(), body.inputs(node)[0]);
    const bool is_same =
        target.value == variable || (target.resource && target.resource->kind == Resource::Kind::variable &&
                                     t.variables().get(*target.resource) == variable);
    if (!is_same) continue;
    t.get(n.scope(), {node, 0});
    if (Value* next = t.variables().updated(variable)) return next;
  }
  return variable;
}

Operands assign(const TfNode& n, GraphBuilder&) { return after(n, 0, n.input(1)); }
Operands assign_add(const TfNode& n, GraphBuilder& g) { return after(n, 0, g.add(before(n, 0), n.input(1))); }
Operands assign_sub(const TfNode& n, GraphBuilder& g) { return after(n, 0, g.sub(before(n, 0), n.input(1))); }

// var, alpha, delta
Operands apply_gradient_descent(const TfNode& n, GraphBuilder& g) {
  return after(n, 0, g.sub(before(n, 0), g.mul(n.input(1), n.input(2))));
}

// var, accum, lr, grad, momentum
Operands apply_momentum(const TfNode& n, GraphBuilder& g) {
  Value *lr = n.input(2), *gradient = n.input(3), *momentum = n.input(4);
  Value* old = g.mul(before(n, 1), momentum);
  Value* sum = g.add(old, gradient);
  after(n, 1, sum);
  if (!n.flag("use_nesterov", false)) return after(n, 0, g.sub(before(n, 0), g.mul(sum, lr)));
  Value* now = g.mul(gradient, lr);
  Value* ahead = g.mul(g.mul(sum, momentum), lr);
  return after(n, 0, g.sub(before(n, 0), g.add(now, ahead)));
}

// The same, with the learning rate inside of the sum.
Operands apply_keras_momentum(const TfNode& n, GraphBuilder& g) {
  Value *lr = n.input(2), *gradient = n.input(3), *momentum = n.input(4);
  Value* old = g.mul(before(n, 1), momentum);
  Value* pull = g.mul(gradient, lr);
  Value* sum = g.sub(old, pull);
  after(n, 1, sum);
  if (!n.flag("use_nesterov", false)) return after(n, 0, g.add(before(n, 0), sum));
  Value* ahead = g.sub(g.mul(sum, momentum), pull);
  return after(n, 0, g.add(before(n, 0), ahead));
}

// var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad
Operands apply_adam(const TfNode& n, GraphBuilder& g) {
  Value *beta1 = n.input(6), *beta2 = n.input(7), *epsilon = n.input(8), *gradient = n.input(9);
  Value* second_part = g.op("Sqrt", {g.sub(1, n.input(4))});
  Value* first_part = g.sub(1, n.input(3));
  Value* rate = g.div(g.mul(n.input(5), second_part), first_part);
  Value* m_pull = g.mul(g.sub(gradient, before(n, 1)), g.sub(1, beta1));
  Value* m = g.add(before(n, 1), m_pull);
  Value* v_pull = g.mul(g.sub(square(g, gradient), before(n, 2)), g.sub(1, beta2));
  Value* v = g.add(before(n, 2), v_pull);
  after(n, 1, m);
  after(n, 2, v);
  Value* direction = m;
  if (n.flag("use_nesterov", false)) {
    Value* now = g.mul(gradient, g.sub(1, beta1));
    direction = g.add(g.mul(m, beta1), now);
  }
  Value* size = g.add(g.op("Sqrt", {v}), epsilon);
  return after(n, 0, g.sub(before(n, 0), g.div(g.mul(direction, rate), size)));
}

// var, accum, lr, grad; of the second version var, accum, lr, epsilon, grad
Operands apply_adagrad(const TfNode& n, GraphBuilder& g) {
  const bool has_epsilon = n.input_count() > 4;
  Value* gradient = n.input(has_epsilon ? 4 : 3);
  Value* sum = n.flag("update_slots", true) ? g.add(before(n, 1), square(g, gradient)) : before(n, 1);
  after(n, 1, sum);
  Value* size = g.op("Sqrt", {sum});
  if (has_epsilon) size = g.add(size, n.input(3));
  return after(n, 0, g.sub(before(n, 0), g.div(g.mul(gradient, n.input(2)), size)));
}

// var, ms, mom, lr, rho, momentum, epsilon, grad
Operands apply_rms_prop(const TfNode& n, GraphBuilder& g) {
  Value *rho = n.input(4), *gradient = n.input(7);
  Value* pull = g.mul(g.sub(square(g, gradient), before(n, 1)), g.sub(1, rho));
  Value* squares = g.add(before(n, 1), pull);
  after(n, 1, squares);
  Value* size = g.op("Sqrt", {g.add(squares, n.input(6))});
  Value* step = g.div(g.mul(gradient, n.input(3)), size);
  Value* momentum = g.add(g.mul(before(n, 2), n.input(5)), step);
  after(n, 2, momentum);
  return after(n, 0, g.sub(before(n, 0), momentum));
}

// var, accum, accum_update, lr, rho, epsilon, grad
Operands apply_adadelta(const TfNode& n, GraphBuilder& g) {
  Value *lr = n.input(3), *rho = n.input(4), *epsilon = n.input(5), *gradient = n.input(6);
  const auto blend = [&](Value* average, Value* value) {
    Value* old = g.mul(average, rho);
    return g.add(old, g.mul(value, g.sub(1, rho)));
  };
  Value* squares = blend(before(n, 1), square(g, gradient));
  after(n, 1, squares);
  Value* reach = g.op("Sqrt", {g.add(before(n, 2), epsilon)});
  Value* size = g.op("Sqrt", {g.add(squares, epsilon)});
  Value* step = g.mul(g.div(reach, size), gradient);
  after(n, 2, blend(before(n, 2), square(g, step)));
  return after(n, 0, g.sub(before(n, 0), g.mul(step, lr)));
}

/// Over which axes the gradients of two broadcast operands are summed, by the operands' shapes.
Values broadcast_gradient_args(const TfNode& n, GraphBuilder& g) {
  Value *a = as_int64_vector(g, n.input(0)), *b = as_int64_vector(g, n.input(1));
  Value *a_rank = g.shape(a), *b_rank = g.shape(b);
  Value* rank = g.op("Max", {a_rank, b_rank});
  const auto padded = [&](Value* dims, Value* own) {
    Value* ones = g.op("Expand", {g.ints({1}), g.sub(rank, own)});
    return g.op("Concat", {ones, dims}, {{"axis", 0}});
  };
  Value *wide_a = padded(a, a_rank), *wide_b = padded(b, b_rank);
  Value* one = g.ints({1});
  Value *a_is_one = g.op("Equal", {wide_a, one}), *b_is_one = g.op("Equal", {wide_b, one});
  const auto where = [&](Value* yes, Value* no) {
    Value* is_stretched = g.op("And", {yes, g.op("Not", {no})});
    return g.cast(g.squeeze(g.op("NonZero", {is_stretched}), {0}), n.elem(0));
  };
  Value* first = where(a_is_one, b_is_one);
  return {first, where(b_is_one, a_is_one)};
}

}  // namespace ingot::frontends::tensorflow
