// Random numbers of a shape. The stream is the runtime's own: seeds fix it, they do not make it TensorFlow's.
#include <cmath>
#include <numbers>

#include "ingot/frontends/numeric/inverse_erf.h"
#include "ingot/frontends/repeat.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {
namespace {

/// Zeros of the shape that input i states: what the *Like operators take after.
Value* like(const TfNode& n, GraphBuilder& g, std::size_t i, DType t) {
  return g.op("Expand", {g.scalar(0, t), as_int64_vector(g, n.input(i))});
}

DType float_type(const TfNode& n) {
  const DType t = n.dtype("dtype", DType::f32);
  return is_float(t) ? t : DType::f32;
}

/// `stream` tells the draws of one node apart.
Attrs seeded(const TfNode& n, DType t, int stream = 0) {
  Attrs attrs{{"dtype", t}};
  const std::int64_t seed = n.integer("seed", 0), second = n.integer("seed2", 0);
  if (seed || second) attrs.emplace_back("seed", static_cast<double>((seed ^ second) % 1'000'000 + stream));
  return attrs;
}

Value* uniform(const TfNode& n, GraphBuilder& g, Value* zeros, int stream = 0) {
  return g.op("RandomUniformLike", {zeros}, seeded(n, zeros->type.elem, stream));
}
Value* normal(const TfNode& n, GraphBuilder& g, Value* zeros, int stream = 0) {
  return g.op("RandomNormalLike", {zeros}, seeded(n, zeros->type.elem, stream));
}

Value* uniform_int(const TfNode& n, GraphBuilder& g, Value* low, Value* high) {
  Value* u = uniform(n, g, like(n, g, 0, DType::f64));
  Value* range = g.cast(g.sub(high, low), DType::f64);
  Value* steps = g.cast(g.op("Floor", {g.mul(u, range)}), low->type.elem);
  return g.add(low, steps);
}

/// Standard normal numbers between two bounds of double precision, through the inverse of the distribution.
Value* normal_between(const TfNode& n, GraphBuilder& g, Value* zeros, Value* low, Value* high) {
  const auto share = [&](Value* x) { return g.op("Erf", {g.mul(x, 1 / std::numbers::sqrt2)}); };
  Value* first = share(low);
  Value* range = g.sub(share(high), first);
  Value* at = g.add(g.mul(uniform(n, g, zeros), range), first);
  return g.mul(numeric::inverse_erf(g, at), std::numbers::sqrt2);
}

Values truncated(const TfNode& n, GraphBuilder& g) {
  Value* low = g.scalar(-2, DType::f64);
  Value* y = normal_between(n, g, like(n, g, 0, DType::f64), low, g.scalar(2, DType::f64));
  return {g.cast(y, float_type(n))};
}

/// [shape of input 0, shape of the parameter]; the parameter in double, wide enough.
struct Drawn {
  Value *zeros, *parameter;
};
Drawn drawn(const TfNode& n, GraphBuilder& g, std::size_t parameter) {
  Value* wide = g.cast(n.input(parameter), DType::f64);
  Value* dims = g.concat({as_int64_vector(g, n.input(0)), g.shape(wide)}, 0);
  Value* zeros = g.op("Expand", {g.scalar(0, DType::f64), dims});
  return {zeros, g.op("Expand", {wide, dims})};
}

/// Marsaglia and Tsang's way with many tries side by side, of which the first that is accepted counts; one is rejected
/// with less than 5 %.
Value* gamma_numbers(const TfNode& n, GraphBuilder& g, const Drawn& in) {
  constexpr std::int64_t kTries = 16;
  Value* one = g.scalar(1, DType::f64);
  Value* is_small = g.op("Less", {in.parameter, one});
  Value* alpha = g.where(is_small, g.add(in.parameter, 1), in.parameter);
  Value* d = g.sub(alpha, 1.0 / 3);
  Value* c = g.div(1, g.op("Sqrt", {g.mul(d, 9)}));
  Value* many = g.op("Expand", {in.zeros, g.concat({g.ints({kTries}), g.shape(in.zeros)}, 0)});
  Value* x = normal(n, g, many, 1);
  Value* cube = g.add(g.mul(x, c), 1);
  Value* v = g.mul(g.mul(cube, cube), cube);
  Value* is_positive = g.op("Greater", {v, g.scalar(0, DType::f64)});
  v = g.where(is_positive, v, one);
  Value* logs = g.op("Log", {v});
  Value* rest = g.mul(d, g.add(g.sub(1, v), logs));
  Value* limit = g.add(g.mul(g.mul(x, x), 0.5), rest);
  Value* chance = g.op("Log", {uniform(n, g, many, 2)});
  Value* is_taken = g.op("And", {is_positive, g.op("Less", {chance, limit})});
  Value* first = g.op("ArgMax", {g.cast(is_taken, DType::i32)}, {{"axis", 0}, {"keepdims", 1}});
  Value* taken = g.mul(g.squeeze(g.op("GatherElements", {v, first}, {{"axis", 0}}), {0}), d);
  // Below 1: times u^(1 / alpha).
  Value* u = uniform(n, g, in.zeros, 3);
  Value* power = g.op("Pow", {u, g.div(1, g.where(is_small, in.parameter, one))});
  return g.where(is_small, g.mul(taken, power), taken);
}

/// Through the inverse of the distribution, term by term; where that underflows, the normal one with its correction.
Value* poisson_numbers(const TfNode& n, GraphBuilder& g, const Drawn& in) {
  constexpr double kMost = 500;
  Value* is_large = g.op("Greater", {in.parameter, g.scalar(kMost, DType::f64)});
  Value* rate = g.where(is_large, g.scalar(1, DType::f64), in.parameter);
  Value* u = uniform(n, g, in.zeros, 1);
  Value* first = g.op("Exp", {g.neg(rate)});
  const Values done =
      repeat_while(g, {in.zeros, first, first}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
        Value* is_open = b.op("Less", {state[2], u});
        Value* count = b.add(state[0], b.cast(is_open, DType::f64));
        Value* number = b.add(b.cast(k, DType::f64), 1);
        Value* term = b.div(b.mul(state[1], rate), number);
        Value* sum = b.add(state[2], term);
        Value* open = b.reduce_sum(b.cast(b.op("Less", {sum, u}), DType::i32), {}, false);
        Value* goes_on = b.op("Greater", {open, b.scalar(0, DType::i32)});
        Value* is_early = b.op("Less", {k, b.index(2000)});
        return {count, term, sum, b.op("And", {goes_on, is_early})};
      });
  // The last sum was not compared yet.
  Value* is_open = g.op("Less", {done[2], u});
  Value* small = g.add(done[0], g.cast(is_open, DType::f64));
  Value* z = normal(n, g, in.zeros, 2);
  Value* spread = g.mul(z, g.op("Sqrt", {in.parameter}));
  Value* skew = g.div(g.sub(g.mul(z, z), 1), 6);
  Value* large = g.op("Floor", {g.add(g.add(g.add(in.parameter, spread), skew), 0.5)});
  return g.where(is_large, large, small);
}

}  // namespace

Values random_uniform(const TfNode& n, GraphBuilder& g) { return {uniform(n, g, like(n, g, 0, float_type(n)))}; }
Values random_normal(const TfNode& n, GraphBuilder& g) { return {normal(n, g, like(n, g, 0, float_type(n)))}; }
Values random_uniform_int(const TfNode& n, GraphBuilder& g) { return {uniform_int(n, g, n.input(1), n.input(2))}; }
Values truncated_normal(const TfNode& n, GraphBuilder& g) { return truncated(n, g); }
Values random_gamma(const TfNode& n, GraphBuilder& g) {
  return {g.cast(gamma_numbers(n, g, drawn(n, g, 1)), n.elem(1))};
}
Values random_poisson(const TfNode& n, GraphBuilder& g) {
  const DType t = n.dtype("dtype", n.op() == "RandomPoisson" ? n.elem(1) : DType::i64);
  return {g.cast(poisson_numbers(n, g, drawn(n, g, 1)), t)};
}
Values parameterized_truncated_normal(const TfNode& n, GraphBuilder& g) {
  // shape, means, stdevs, minvals, maxvals: numbers, or one per row.
  Value* zeros = like(n, g, 0, DType::f64);
  const auto rank = dim_of(n.input(0), 0);
  if (!rank) n.unsupported("the rank of the result must be known");
  const auto parameter = [&](std::size_t i) {
    Value* x = g.cast(n.input(i), DType::f64);
    if (rank_of(x) == 0) return x;
    std::vector<std::int64_t> dims(static_cast<std::size_t>(*rank), 1);
    dims[0] = -1;
    return g.reshape(x, dims);
  };
  Value* mean = parameter(1);
  Value* deviation = parameter(2);
  Value* low = g.div(g.sub(parameter(3), mean), deviation);
  Value* high = g.div(g.sub(parameter(4), mean), deviation);
  Value* y = g.add(g.mul(normal_between(n, g, zeros, low, high), deviation), mean);
  return {g.cast(y, n.elem(1))};
}
Values random_shuffle(const TfNode& n, GraphBuilder& g) {
  // In the order of random keys.
  Value* count = g.op("Slice", {g.shape(n.input(0)), g.ints({0}), g.ints({1})});
  Value* zeros = g.op("Expand", {g.scalar(0, DType::f32), count});
  const Values order = g.op("TopK", {uniform(n, g, zeros), count}, {{"axis", 0}}, 2);
  return {g.op("Gather", {n.input(0), order[1]}, {{"axis", 0}})};
}
Values multinomial(const TfNode& n, GraphBuilder& g) {
  // The largest of logits with Gumbel's noise is a draw; all draws side by side.
  const DType t = n.dtype("output_dtype", DType::i64);
  Value* logits = g.unsqueeze(g.cast(n.input(0), DType::f64), {1});
  Value* count = as_int64_vector(g, n.input(1));
  Value* dims = g.concat({g.ints({1}), count, g.ints({1})}, 0);
  Value* wide = g.op("Expand", {logits, dims});
  Value* u = uniform(n, g, filled_like(g, wide, 0));
  Value* noise = g.neg(g.op("Log", {g.neg(g.op("Log", {u}))}));
  Value* y = g.op("ArgMax", {g.add(wide, noise)}, {{"axis", 2}, {"keepdims", 0}});
  return {g.cast(y, t)};
}

// Without state: a seed (or key, counter and algorithm) comes as inputs. It is not followed.
namespace {

void say_unseeded(const TfNode& n) {
  n.translation().note("'" + n.name() + "' (" + n.op() + ") draws from the runtime's own stream; its seed is not used");
}
/// Where the parameters behind the seed begin: V2 operators take key, counter and algorithm.
std::size_t first_parameter(const TfNode& n) { return n.op().ends_with("V2") && n.input_count() >= 4 ? 4 : 2; }

}  // namespace

Values stateless_uniform(const TfNode& n, GraphBuilder& g) {
  say_unseeded(n);
  return random_uniform(n, g);
}
Values stateless_normal(const TfNode& n, GraphBuilder& g) {
  say_unseeded(n);
  return random_normal(n, g);
}
Values stateless_truncated_normal(const TfNode& n, GraphBuilder& g) {
  say_unseeded(n);
  return truncated(n, g);
}
Values stateless_uniform_int(const TfNode& n, GraphBuilder& g) {
  say_unseeded(n);
  const std::size_t i = first_parameter(n);
  return {uniform_int(n, g, n.input(i), n.input(i + 1))};
}
Values stateless_multinomial(const TfNode& n, GraphBuilder& g) {
  say_unseeded(n);
  return multinomial(n, g);
}
Values stateless_gamma(const TfNode& n, GraphBuilder& g) {
  say_unseeded(n);
  const std::size_t i = n.op() == "StatelessRandomGammaV3" ? 4 : 2;
  return {g.cast(gamma_numbers(n, g, drawn(n, g, i)), n.elem(i))};
}
Values stateless_poisson(const TfNode& n, GraphBuilder& g) {
  say_unseeded(n);
  // The rate has the shape of the result, or one that broadcasts to it.
  Value* zeros = like(n, g, 0, DType::f64);
  Value* rate = g.add(zeros, g.cast(n.input(2), DType::f64));
  return {g.cast(poisson_numbers(n, g, {zeros, rate}), n.dtype("dtype", DType::i64))};
}
/// Key, counter and algorithm, which nothing but random operators read.
Values stateless_key(const TfNode&, GraphBuilder& g) {
  Value* key = g.constant(Tensor::of<std::uint64_t>({1}, {0}));
  Value* counter = g.constant(Tensor::of<std::uint64_t>({2}, {0, 0}));
  return {key, counter, g.scalar(1, DType::i32)};
}
Values stateless_algorithm(const TfNode&, GraphBuilder& g) { return {g.scalar(1, DType::i32)}; }

}  // namespace ingot::frontends::tensorflow
