// Random numbers: of the same distribution, not the same numbers.
#include <fmt/format.h>

#include "ingot/backends/tensorflow/rows.h"

namespace ingot::backends::tensorflow {

Refused refuse_random(const Node& n, Dialect dialect) {
  const Value* y = n.output(0);
  const DType type = y->type.elem;
  if (type != DType::f32 && (dialect == Dialect::tfjs || (type != DType::f16 && type != DType::f64)))
    return Refusal{Kind::element_type, "no random numbers of this type"};
  if (n.op.ends_with("Like")) return {};
  if (!y->type.shape) return Refusal{Kind::unknown_size, "the rank is not known"};
  return {};
}

void emit_random(NodeOut& n, const char* word) {
  Emitter& e = n.e;
  const bool is_uniform = n.node.op.starts_with("RandomUniform");
  const auto& shape = n.node.output(0)->type.shape;
  const Ref sizes = shape && is_fixed(*shape) ? e.ints(dims_of(*shape)) : shape_of(e, n.in(0));
  const DType type = n.out_elem();
  const Ref drawn =
      e.add(word, {sizes}, {{"dtype", type}, {"seed", static_cast<std::int64_t>(n.attr("seed", 0.f))}, {"seed2", 0}});
  const float low = n.attr("low", 0.f), width = is_uniform ? n.attr("high", 1.f) - low : n.attr("scale", 1.f),
              start = is_uniform ? low : n.attr("mean", 0.f);
  const Ref scaled = e.add("Mul", {drawn, e.scalar(static_cast<double>(width), type)});
  n.set(e.add("AddV2", {scaled, e.scalar(static_cast<double>(start), type)}));
  e.output().notes.push_back(
      fmt::format("{} ({}): random numbers of the same distribution, not the same numbers", n.node.label(), n.node.op));
}

}  // namespace ingot::backends::tensorflow
