// Random numbers: of the same distribution, not the same numbers.
#include <fmt/format.h>

#include "ingot/backends/tflite/rows.h"

namespace ingot::backends::tflite {

using Op = BuiltinOperator;

Refused refuse_random(const Node& n) {
  const Value* y = n.output(0);
  if (y->type.elem != DType::f32) return Refusal{Kind::attribute_value, "TFLite's random numbers are float"};
  const bool is_like = n.op.ends_with("Like");
  if (is_like) return needs_rank(n);
  if (!y->type.shape) return Refusal{Kind::unknown_size, "the rank is not known"};
  return {};
}

void emit_random(NodeOut& n, Op op) {
  Emitter& e = n.e;
  const bool is_uniform = op == Op::RANDOM_UNIFORM;
  const Shape& shape = n.out_shape();
  const std::int32_t sizes = is_fixed(shape) ? e.ints(dims_of(shape)) : shape_of(e, n.in(0), n.rank());
  Options options(op);
  options.set("seed", static_cast<std::int64_t>(n.attr("seed", 0.f)));
  const std::int32_t drawn = e.temporary(DType::f32, shape);
  e.add(op, {sizes}, {drawn}, options);
  const float low = n.attr("low", 0.f), width = is_uniform ? n.attr("high", 1.f) - low : n.attr("scale", 1.f),
              start = is_uniform ? low : n.attr("mean", 0.f);
  const std::int32_t factor = e.scalar(static_cast<double>(width), DType::f32), scaled = e.temporary(DType::f32, shape);
  e.add(Op::MUL, {drawn, factor}, {scaled});
  const std::int32_t shift = e.scalar(static_cast<double>(start), DType::f32);
  e.add(Op::ADD, {scaled, shift}, {n.out()});
  e.output().notes.push_back(
      fmt::format("{} ({}): random numbers of the same distribution, not the same numbers", n.node.label(), n.node.op));
}

}  // namespace ingot::backends::tflite
