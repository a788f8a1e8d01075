// Random numbers of a shape.
#include <cmath>

#include "ingot/frontends/tensorflow/node.h"

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

Attrs seeded(const TfNode& n, DType t) {
  Attrs attrs{{"dtype", t}};
  const std::int64_t seed = n.integer("seed", 0), second = n.integer("seed2", 0);
  if (seed || second) attrs.emplace_back("seed", static_cast<double>((seed ^ second) % 1'000'000));
  return attrs;
}

}  // namespace

Values random_uniform(const TfNode& n, GraphBuilder& g) {
  const DType t = float_type(n);
  return {g.op("RandomUniformLike", {like(n, g, 0, t)}, seeded(n, t))};
}
Values random_normal(const TfNode& n, GraphBuilder& g) {
  const DType t = float_type(n);
  return {g.op("RandomNormalLike", {like(n, g, 0, t)}, seeded(n, t))};
}
Values random_uniform_int(const TfNode& n, GraphBuilder& g) {
  const DType t = n.elem(1);
  Value* u = g.op("RandomUniformLike", {like(n, g, 0, DType::f32)}, seeded(n, DType::f32));
  Value* range = g.cast(g.sub(n.input(2), n.input(1)), DType::f32);
  Value* steps = g.cast(g.op("Floor", {g.mul(u, range)}), t);
  return {g.add(n.input(1), steps)};
}
Values random_shuffle(const TfNode& n, GraphBuilder& g) {
  // In the order of random keys.
  Value* count = g.op("Slice", {g.shape(n.input(0)), g.ints({0}), g.ints({1})});
  Value* zeros = g.op("Expand", {g.scalar(0, DType::f32), count});
  Value* keys = g.op("RandomUniformLike", {zeros}, seeded(n, DType::f32));
  const Values order = g.op("TopK", {keys, count}, {{"axis", 0}}, 2);
  return {g.op("Gather", {n.input(0), order[1]}, {{"axis", 0}})};
}
Values multinomial(const TfNode& n, GraphBuilder& g) {
  const DType t = n.dtype("output_dtype", DType::i64);
  Value* y = g.op("Multinomial", {n.input(0)}, {{"sample_size", n.need_int(1)}, {"dtype", DType::i64}});
  return {g.cast(y, t)};
}

}  // namespace ingot::frontends::tensorflow
