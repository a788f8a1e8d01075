// Quantisation to small floats, where a target has casts to them.
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {
namespace {

bool is_small_float(DType type) {
  return type == DType::f8e4m3fn || type == DType::f8e4m3fnuz || type == DType::f8e5m2 || type == DType::f8e5m2fnuz ||
         type == DType::f4e2m1;
}

/// Scales of an axis as they are multiplied with all elements.
Value* scales_along(Rewriting& r, DType type) {
  Value* scale = r.g.cast(r.in(1), type);
  if (r.rank(1) != 1 || same((*r.in(1)->type.shape)[0], 1)) return scale;
  std::vector<std::int64_t> dims(r.rank(), 1);
  dims[static_cast<std::size_t>(r.axis(1, r.rank()))] = -1;
  return r.g.reshape(scale, dims);
}

}  // namespace

/// Numbers with a point are scaled and cast, and their zero is 0.
Values rewrite_quantize_to_float(Rewriting& r) {
  const DType to = r.node.output(0)->type.elem;
  if (!is_small_float(to) || r.attr("block_size", 0) || (r.rank(1) == 1 && !r.rank())) return {};
  Value* scaled = r.g.div(r.g.cast(r.in(), DType::f32), scales_along(r, DType::f32));
  return {r.g.op("Cast", {scaled}, {{"to", to}, {"saturate", r.attr("saturate", 1)}})};
}
Values rewrite_dequantize_from_float(Rewriting& r) {
  if (!is_small_float(r.elem()) || r.attr("block_size", 0) || (r.rank(1) == 1 && !r.rank())) return {};
  const DType type = r.node.output(0)->type.elem;
  return {r.g.mul(r.g.cast(r.in(), type), scales_along(r, type))};
}

}  // namespace ingot::passes::legalize
