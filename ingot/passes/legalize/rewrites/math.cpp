// Functions of real numbers in simpler ones.
#include <limits>
#include <numbers>

#include "ingot/passes/affine.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {
namespace {

bool is_plain_float(const Rewriting& r) { return r.elem() == DType::f32 && r.in()->type.shape; }

/// tan(a / 2) from t = tan(a).
Value* halved(GraphBuilder& g, Value* t) {
  Value* square = g.add(g.mul(t, t), 1);
  Value* more = g.add(g.op("Sqrt", {square}), 1);
  return g.div(t, more);
}

/// Within 1e-7: the inverse of what is larger than 1, then three times half the angle, then a short series.
Value* arctangent(GraphBuilder& g, Value* x) {
  Value* size = g.op("Abs", {x});
  Value* one = g.scalar(1, DType::f32);
  Value* is_large = g.op("Greater", {size, one});
  Value* inverse = g.div(1.0, size);
  Value* t = g.where(is_large, inverse, size);
  for (int i = 0; i < 3; ++i) t = halved(g, t);
  Value* square = g.mul(t, t);
  Value* series = g.mul(square, 1.0 / 9);
  for (const double a : {-1.0 / 7, 1.0 / 5, -1.0 / 3}) {
    series = g.add(series, a);
    series = g.mul(series, square);
  }
  series = g.add(series, 1);
  Value* angle = g.mul(g.mul(series, t), 8);
  Value* other = g.sub(std::numbers::pi / 2, angle);
  Value* positive = g.where(is_large, other, angle);
  return g.mul(positive, g.op("Sign", {x}));
}

/// Angle whose sine is x: beyond -1 and 1 the root is no number, and so is the result.
Value* arcsine(GraphBuilder& g, Value* x) {
  Value* below = g.add(x, 1);
  Value* above = g.sub(1.0, x);
  Value* cosine = g.op("Sqrt", {g.mul(below, above)});
  return arctangent(g, g.div(x, cosine));
}

void note(Rewriting& r) {
  r.notes.push_back(r.node.label() + " (" + r.node.op + "): computed by a series, within 1e-6");
}

}  // namespace

/// Abramowitz and Stegun 7.1.26: within 1.5e-7 of the error function, which is float's own precision there.
Values rewrite_erf(Rewriting& r) {
  GraphBuilder& g = r.g;
  Value* x = r.in();
  if (x->type.elem != DType::f32 || !x->type.shape) return {};
  Value* size = g.op("Abs", {x});
  Value* scaled = g.mul(size, 0.3275911);
  Value* more = g.add(scaled, 1);
  Value* t = g.div(1.0, more);
  Value* p = g.mul(t, 1.061405429);
  for (const double a : {-1.453152027, 1.421413741, -0.284496736, 0.254829592}) {
    p = g.add(p, a);
    p = g.mul(p, t);
  }
  Value* square = g.mul(x, x);
  Value* negative = g.neg(square);
  Value* e = g.op("Exp", {negative});
  Value* rest = g.mul(p, e);
  Value* positive = g.sub(1.0, rest);
  r.notes.push_back(r.node.label() + " (Erf): computed by a polynomial, within 1.5e-7");
  Value* sign = g.op("Sign", {x});
  return {g.mul(positive, sign)};
}

/// x * scale / sqrt(variance + epsilon) + (bias - mean * ...), with numbers where they are stored.
Values rewrite_batch_normalization(Rewriting& r) {
  const Node& node = r.node;
  GraphBuilder& g = r.g;
  const std::size_t rank = r.rank();
  if (rank < 2 || node.attributes.int_or("training_mode", 0) || node.input(0)->type.elem != DType::f32) return {};
  for (std::size_t i = 1; i < 5; ++i)
    if (!node.input(i) || node.input(i)->type.elem != DType::f32) return {};
  std::vector<std::int64_t> shape(rank, 1);
  Value *factor = nullptr, *offset = nullptr;
  if (const auto line = affine_of(node)) {
    shape[1] = static_cast<std::int64_t>(line->factor.size());
    const auto floats = [](const std::vector<double>& wide) { return std::vector<float>(wide.begin(), wide.end()); };
    factor = g.constant(Tensor::of<float>(shape, floats(line->factor)));
    offset = g.constant(Tensor::of<float>(shape, floats(line->offset)));
  } else {
    shape[1] = -1;
    Value* spread = g.add(node.input(4), static_cast<double>(node.attributes.float_or("epsilon", 1e-5f)));
    Value* root = g.op("Sqrt", {spread});
    Value* f = g.div(node.input(1), root);
    Value* moved = g.mul(node.input(3), f);
    Value* o = g.sub(node.input(2), moved);
    factor = g.reshape(f, shape);
    offset = g.reshape(o, shape);
  }
  Value* scaled = g.mul(node.input(0), factor);
  return {g.add(scaled, offset)};
}

Values rewrite_atan(Rewriting& r) {
  if (!is_plain_float(r)) return {};
  note(r);
  return {arctangent(r.g, r.in())};
}

Values rewrite_asin(Rewriting& r) {
  if (!is_plain_float(r)) return {};
  note(r);
  return {arcsine(r.g, r.in())};
}

Values rewrite_acos(Rewriting& r) {
  if (!is_plain_float(r)) return {};
  note(r);
  return {r.g.sub(std::numbers::pi / 2, arcsine(r.g, r.in()))};
}

Values rewrite_tan(Rewriting& r) {
  if (!is_plain_float(r)) return {};
  Value* sine = r.g.op("Sin", {r.in()});
  Value* cosine = r.g.op("Cos", {r.in()});
  return {r.g.div(sine, cosine)};
}

Values rewrite_sinh(Rewriting& r) {
  if (!is_plain_float(r)) return {};
  Value* up = r.g.op("Exp", {r.in()});
  Value* down = r.g.op("Exp", {r.g.neg(r.in())});
  return {r.g.mul(r.g.sub(up, down), 0.5)};
}

Values rewrite_cosh(Rewriting& r) {
  if (!is_plain_float(r)) return {};
  Value* up = r.g.op("Exp", {r.in()});
  Value* down = r.g.op("Exp", {r.g.neg(r.in())});
  return {r.g.mul(r.g.add(up, down), 0.5)};
}

/// sign(x) * log(|x| + sqrt(x * x + 1)): nothing is taken away from anything.
Values rewrite_asinh(Rewriting& r) {
  if (!is_plain_float(r)) return {};
  GraphBuilder& g = r.g;
  Value* size = g.op("Abs", {r.in()});
  Value* root = g.op("Sqrt", {g.add(g.mul(size, size), 1)});
  Value* positive = g.op("Log", {g.add(size, root)});
  return {g.mul(positive, g.op("Sign", {r.in()}))};
}

Values rewrite_acosh(Rewriting& r) {
  if (!is_plain_float(r)) return {};
  GraphBuilder& g = r.g;
  Value* below = g.sub(r.in(), 1);
  Value* above = g.add(r.in(), 1);
  Value* root_below = g.op("Sqrt", {below});
  Value* root = g.mul(root_below, g.op("Sqrt", {above}));
  return {g.op("Log", {g.add(r.in(), root)})};
}

Values rewrite_atanh(Rewriting& r) {
  if (!is_plain_float(r)) return {};
  GraphBuilder& g = r.g;
  Value* above = g.add(r.in(), 1);
  Value* below = g.sub(1.0, r.in());
  return {g.mul(g.op("Log", {g.div(above, below)}), 0.5)};
}

/// fmod: the sign of the dividend on the remainder of the sizes.
Values rewrite_mod(Rewriting& r) {
  if (!r.attr("fmod", 0) || !r.in()->type.shape || (r.elem() != DType::i32 && r.elem() != DType::i64)) return {};
  GraphBuilder& g = r.g;
  Value* zero = g.scalar(0, r.elem());
  const auto size = [&](Value* x) {
    Value* is_negative = g.op("Less", {x, zero});
    return g.where(is_negative, g.neg(x), x);
  };
  Value* a = size(r.in(0));
  Value* b = size(r.in(1));
  Value* rest = g.op("Mod", {a, b});
  return {g.mul(rest, g.op("Sign", {r.in(0)}))};
}

/// The last of equal elements is the first from the other end.
Values rewrite_arg_extremum(Rewriting& r) {
  if (!r.attr("select_last_index", 0) || !r.rank()) return {};
  GraphBuilder& g = r.g;
  const std::int64_t axis = r.axis(0, r.rank());
  const Dim size = (*r.in()->type.shape)[static_cast<std::size_t>(axis)];
  Value *last = g.ints({-1}), *end = g.ints({std::numeric_limits<std::int64_t>::min()}), *along = g.ints({axis});
  Value* reversed = g.op("Slice", {r.in(), last, end, along, last});
  const Attrs attrs{{"axis", axis}, {"keepdims", r.attr("keepdims", 1)}};
  Value* found = r.node.is("ArgMax") ? g.op("ArgMax", {reversed}, attrs) : g.op("ArgMin", {reversed}, attrs);
  if (size.is_known()) return {g.sub(static_cast<double>(size.value() - 1), found)};
  Value *sizes = g.shape(r.in()), *at = g.index(axis);
  return {g.sub(g.sub(g.op("Gather", {sizes, at}), 1), found)};
}

/// Known before running, whatever the input holds.
Values rewrite_eye_like(Rewriting& r) {
  const auto dims = r.dims();
  constexpr std::int64_t kMost = 1 << 22;
  if (!dims || dims->size() != 2 || (*dims)[0] * (*dims)[1] > kMost) return {};
  const std::int64_t shift = r.attr("k", 0);
  std::vector<float> values(static_cast<std::size_t>((*dims)[0] * (*dims)[1]));
  for (std::int64_t i = 0; i < (*dims)[0]; ++i)
    if (i + shift >= 0 && i + shift < (*dims)[1]) values[static_cast<std::size_t>(i * (*dims)[1] + i + shift)] = 1;
  Value* made = r.g.constant(Tensor::of<float>(*dims, values));
  return {r.g.cast(made, r.node.output(0)->type.elem)};
}

}  // namespace ingot::passes::legalize
