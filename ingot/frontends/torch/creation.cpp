// Tensors made of nothing: constants, ranges, random numbers; and casts.
#include <cmath>
#include <numbers>

#include "ingot/formats/torch/scalar_type.h"
#include "ingot/frontends/torch/complex.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

Value* filled(const Call& c, Value* shape, Value* value) { return c.g().op("Expand", {value, shape}); }

DType number_type(const Item& item) {
  if (item.is<bool>()) return DType::boolean;
  if (item.is<std::int64_t>()) return DType::i64;
  if (const Scalar* s = item.get<Scalar>()) return is_float(s->value->type.elem) ? DType::f32 : s->value->type.elem;
  return DType::f32;
}

Value* number_as(const Call& c, const Item& item, DType elem) { return c.g().cast(c.t.value_of(item, elem), elem); }

void flatten_numbers(const Call& c, const Item& item, Values& leaves, Ints& shape, std::size_t depth) {
  const ListRef* list = item.get<ListRef>();
  if (!list) {
    if (const TensorRef* tensor = item.get<TensorRef>())
      leaves.push_back(c.t.read(*tensor));
    else
      leaves.push_back(c.t.value_of(item));
    return;
  }
  if (depth > 16) refuse("a list is nested too deeply");
  if (shape.size() == depth) shape.push_back(static_cast<std::int64_t>((*list)->items.size()));
  for (const Item& part : (*list)->items) flatten_numbers(c, part, leaves, shape, depth + 1);
}

/// Where numbers in even steps begin or end: for integers an integer.
double bound_of(const Call& c, std::size_t i, std::size_t dtype) {
  return is_float(c.dtype(dtype, DType::f32)) ? c.real(i) : std::trunc(c.real(i));
}

std::int64_t steps_of(const Call& c) {
  constexpr std::int64_t kMost = 16'000'000;
  const std::int64_t steps = c.integer(2);
  if (steps < 0 || steps > kMost) refuse("so many numbers in even steps");
  return steps;
}

Item random(const Call& c, Value* shape, DType elem, bool is_normal, double a, double b) {
  GraphBuilder& g = c.g();
  Value* like = g.op("Expand", {g.scalar(0, elem), shape});
  if (is_normal) return g.op("RandomNormalLike", {like}, {{"mean", a}, {"scale", b}});
  return g.op("RandomUniformLike", {like}, {{"low", a}, {"high", b}});
}

}  // namespace

Item zeros(const Call& c) {
  if (is_complex(c.dtype(1, DType::f32)))
    return complex_item(filled(c, c.g().concat({c.index_vector(0), c.g().ints({2})}, 0),
                               c.g().scalar(0, c.dtype(1, DType::f32) == DType::c128 ? DType::f64 : DType::f32)));
  return filled(c, c.index_vector(0), c.g().scalar(0, c.dtype(1, DType::f32)));
}
Item ones(const Call& c) { return filled(c, c.index_vector(0), c.g().scalar(1, c.dtype(1, DType::f32))); }
Item full(const Call& c) {
  return filled(c, c.index_vector(0), number_as(c, c.arg(1), c.dtype(2, number_type(c.arg(1)))));
}
Item zeros_like(const Call& c) {
  return filled(c, c.g().shape(c.tensor(0)), c.g().scalar(0, c.dtype(1, c.tensor(0)->type.elem)));
}
Item ones_like(const Call& c) {
  return filled(c, c.g().shape(c.tensor(0)), c.g().scalar(1, c.dtype(1, c.tensor(0)->type.elem)));
}
Item full_like(const Call& c) {
  return filled(c, c.g().shape(c.tensor(0)), number_as(c, c.arg(1), c.dtype(2, c.tensor(0)->type.elem)));
}
Item new_zeros(const Call& c) {
  return filled(c, c.index_vector(1), c.g().scalar(0, c.dtype(2, c.tensor(0)->type.elem)));
}
Item new_empty_strided(const Call& c) {
  return filled(c, c.index_vector(1), c.g().scalar(0, c.dtype(3, c.tensor(0)->type.elem)));
}
Item new_ones(const Call& c) {
  return filled(c, c.index_vector(1), c.g().scalar(1, c.dtype(2, c.tensor(0)->type.elem)));
}
Item new_full(const Call& c) {
  return filled(c, c.index_vector(1), number_as(c, c.arg(2), c.dtype(3, c.tensor(0)->type.elem)));
}
Item fill(const Call& c) {
  Value* x = c.tensor(0);
  return filled(c, c.g().shape(x), c.g().cast(c.tensor(1), x->type.elem));
}
Item zero(const Call& c) { return filled_like(c.g(), c.tensor(0), 0); }
Item copy(const Call& c) {
  Value* x = c.tensor(0);
  return c.g().op("Expand", {c.g().cast(c.tensor(1), x->type.elem), c.g().shape(x)});
}
Item arange(const Call& c) {
  // arange(end), arange(start, end), arange(start, end, step): what follows the numbers are options.
  std::size_t count = 0;
  while (count < 3 && c.arg(count).is_number()) ++count;
  DType elem = DType::i64;
  for (std::size_t i = 0; i < count; ++i) elem = promoted_types(elem, number_type(c.arg(i)));
  if (c.has(3)) elem = c.dtype(3, elem);
  const Item zero_item(0), one_item(1);
  const Item& begin = count > 1 ? c.arg(0) : zero_item;
  const Item& end = count > 1 ? c.arg(1) : c.arg(0);
  const Item& step = count > 2 ? c.arg(2) : one_item;
  GraphBuilder& g = c.g();
  const bool is_real = begin.is<double>() || end.is<double>() || step.is<double>();
  // Reals are counted in double whatever the result is; of integers what is behind their points does not count.
  const DType in = !is_float(elem) ? DType::i64 : is_real ? DType::f64 : elem;
  return g.cast(g.op("Range", {number_as(c, begin, in), number_as(c, end, in), number_as(c, step, in)}), elem);
}
Item linspace(const Call& c) {
  const std::int64_t steps = steps_of(c);
  const double begin = bound_of(c, 0, 3), end = bound_of(c, 1, 3);
  std::vector<double> values;
  for (std::int64_t i = 0; i < steps; ++i) {
    const double step = steps > 1 ? (end - begin) / static_cast<double>(steps - 1) : 0;
    values.push_back(i < steps / 2 ? begin + step * static_cast<double>(i)
                     : steps == 1  ? begin
                                   : end - step * static_cast<double>(steps - 1 - i));
  }
  return c.g().cast(c.g().constant(Tensor::of<double>({steps}, values)), c.dtype(3, DType::f32));
}
Item logspace(const Call& c) {
  const std::int64_t steps = steps_of(c);
  const double begin = bound_of(c, 0, 4), end = bound_of(c, 1, 4), base = c.real(3);
  std::vector<double> values;
  for (std::int64_t i = 0; i < steps; ++i)
    values.push_back(std::pow(
        base, steps > 1 ? begin + (end - begin) * static_cast<double>(i) / static_cast<double>(steps - 1) : begin));
  return c.g().cast(c.g().constant(Tensor::of<double>({steps}, values)), c.dtype(4, DType::f32));
}
Item eye(const Call& c) {
  GraphBuilder& g = c.g();
  const bool has_columns = c.has(1);
  Value* row = g.unsqueeze(counted(g, c.index(0)), {1});
  Value* column = g.unsqueeze(counted(g, c.index(has_columns ? 1 : 0)), {0});
  return g.cast(g.op("Equal", {row, column}), c.dtype(2, DType::f32));
}
Item tensor(const Call& c) {
  if (c.arg(0).is_tensor()) return c.g().cast(c.tensor(0), c.dtype(1, c.tensor(0)->type.elem));
  GraphBuilder& g = c.g();
  if (c.arg(0).is_number()) return number_as(c, c.arg(0), c.dtype(1, number_type(c.arg(0))));
  Values leaves;
  Ints shape;
  flatten_numbers(c, c.arg(0), leaves, shape, 0);
  DType elem = DType::undefined;
  for (const Value* v : leaves) elem = promoted_types(elem, v->type.elem);
  elem = c.dtype(1, elem == DType::undefined ? DType::f32 : elem);
  for (Value*& v : leaves) v = g.reshape(g.cast(v, elem), {1});
  if (leaves.empty()) return g.constant(Tensor(elem, shape, {}));
  return g.reshape(leaves.size() == 1 ? leaves[0] : g.concat(leaves, 0), shape);
}
Item scalar_tensor(const Call& c) { return number_as(c, c.arg(0), c.dtype(1, DType::f32)); }
Item item(const Call& c) {
  Value* x = c.tensor(0);
  return c.t.number_of(rank_of(x) == 0 ? x : c.g().reshape(x, {}));
}
Item to(const Call& c) {
  // to(dtype), to(device, dtype), to(other), to(device): a number is a type, a tensor tells its own.
  Value* x = c.tensor(0);
  DType elem = x->type.elem;
  for (std::size_t i = 1; i < std::min<std::size_t>(c.args.size(), 3); ++i) {
    if (c.arg(i).is<std::int64_t>()) {
      elem = c.dtype(i, elem);
      break;
    }
    if (c.is_tensor(i)) elem = c.tensor(i)->type.elem;
  }
  return elem == x->type.elem ? c.arg(0) : Item(c.g().cast(x, elem));
}
Item to_copy(const Call& c) {
  return c.g().cast(c.g().op("Identity", {c.tensor(0)}), c.dtype(1, c.tensor(0)->type.elem));
}
Item type_as(const Call& c) {
  Value* x = c.tensor(0);
  const DType elem = c.tensor(1)->type.elem;
  return elem == x->type.elem ? c.arg(0) : Item(c.g().cast(x, elem));
}
Item as_float(const Call& c) { return c.g().cast(c.tensor(0), DType::f32); }
Item as_double(const Call& c) { return c.g().cast(c.tensor(0), DType::f64); }
Item as_half(const Call& c) { return c.g().cast(c.tensor(0), DType::f16); }
Item as_bfloat16(const Call& c) { return c.g().cast(c.tensor(0), DType::bf16); }
Item as_long(const Call& c) { return c.g().cast(c.tensor(0), DType::i64); }
Item as_int(const Call& c) { return c.g().cast(c.tensor(0), DType::i32); }
Item as_short(const Call& c) { return c.g().cast(c.tensor(0), DType::i16); }
Item as_char(const Call& c) { return c.g().cast(c.tensor(0), DType::i8); }
Item as_byte(const Call& c) { return c.g().cast(c.tensor(0), DType::u8); }
Item is_floating_point(const Call& c) { return is_float(c.tensor(0)->type.elem); }
Item is_complex_tensor(const Call& c) { return is_complex(c.tensor(0)->type.elem); }
Item result_type_number(const Call& c) { return formats::torch::number_of(result_type(c, {0, 1})); }
Item rand(const Call& c) { return random(c, c.index_vector(0), c.dtype(1, DType::f32), false, 0, 1); }
Item randn(const Call& c) { return random(c, c.index_vector(0), c.dtype(1, DType::f32), true, 0, 1); }
Item rand_like(const Call& c) {
  return random(c, c.g().shape(c.tensor(0)), c.dtype(1, c.tensor(0)->type.elem), false, 0, 1);
}
Item randn_like(const Call& c) {
  return random(c, c.g().shape(c.tensor(0)), c.dtype(1, c.tensor(0)->type.elem), true, 0, 1);
}
Item uniform(const Call& c) {
  return random(c, c.g().shape(c.tensor(0)), c.tensor(0)->type.elem, false, c.real(1), c.real(2));
}
Item normal(const Call& c) {
  GraphBuilder& g = c.g();
  if (c.has(2) && c.arg(2).is<ListRef>()) return random(c, c.index_vector(2), DType::f32, true, c.real(0), c.real(1));
  const double* first = c.arg(1).get<double>();
  const bool is_method = c.is_tensor(0) && !c.is_tensor(1) && (c.has(2) || (first && *first == 0));
  if (!is_method) {  // normal(mean, std), either of which may be a tensor
    const Values x = c.promoted({0, 1});
    Value* like = g.add(x[0], x[1]);
    const Item drawn = random(c, g.shape(like), like->type.elem, true, 0, 1);
    return g.add(g.mul(c.t.read(*drawn.get<TensorRef>()), x[1]), x[0]);
  }
  return random(c, g.shape(c.tensor(0)), c.tensor(0)->type.elem, true, c.real(1), c.has(2) ? c.real(2) : 1);
}
Item bernoulli(const Call& c) {
  if (c.has(1)) refuse("bernoulli with one probability for all elements");
  return c.g().op("Bernoulli", {c.tensor(0)});
}
Item randint(const Call& c) {
  const bool has_low = c.arg(1).is_number();
  const double low = has_low ? c.real(0) : 0, high = c.real(has_low ? 1 : 0);
  Call shape{c.t, c.row, {c.arg(has_low ? 2 : 1)}};
  const Item real = random(c, shape.index_vector(0), DType::f32, false, low, high);
  return c.g().cast(c.g().op("Floor", {c.t.read(*real.get<TensorRef>())}), DType::i64);
}
Item hann_window(const Call& c) {
  return c.g().cast(c.g().op("HannWindow", {c.index(0)}, {{"periodic", !c.has(1) || c.flag(1)}}), DType::f32);
}
Item hamming_window(const Call& c) {
  if (c.has(2) && c.real(2) != 0.54) refuse("a Hamming window of another alpha");
  GraphBuilder& g = c.g();
  const std::int64_t n = c.integer(0), m = !c.has(1) || c.flag(1) ? n : n - 1;
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i)
    values.push_back(static_cast<float>(0.54 - 0.46 * std::cos(2 * std::numbers::pi * static_cast<double>(i) /
                                                               static_cast<double>(std::max<std::int64_t>(m, 1)))));
  return g.constant(Tensor::of<float>({n}, values));
}

}  // namespace ingot::frontends::torch
