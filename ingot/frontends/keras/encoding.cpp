// Categories as vectors.
#include "ingot/frontends/keras/encoding.h"

namespace ingot::frontends::keras {

IrValue* encoded(Call& call, IrValue* index, std::int64_t size, const std::string& mode, IrValue* weights) {
  GraphBuilder& b = call.b;
  if (mode == "int") return index;
  call.require(size > 0 && size < (std::int64_t{1} << 31), "it has no categories");
  const auto rank = rank_of(index);
  call.require(rank.has_value(), "the rank of its input is not known");
  const Values hot{index, b.ints({size}), b.cast(b.ints({0, 1}), DType::f32)};
  if (mode == "one_hot") {
    IrValue* y = b.cast(b.op("OneHot", hot, {{"axis", -1}}), call.elem());
    return *rank > 1 && dim_of(index, -1) == 1 ? b.squeeze(y, {-2}) : y;
  }
  IrValue* y = b.cast(b.op("OneHot", hot, {{"axis", -1}}), call.elem());
  if (*rank < 2) return y;
  if (mode == "multi_hot") return b.op("ReduceMax", {y, b.ints({-2})}, {{"keepdims", 0}});
  if (mode != "count") call.refuse("output_mode '" + mode + "' has no translation");
  if (weights) y = b.mul(y, b.unsqueeze(b.cast(weights, call.elem()), {-1}));
  return b.reduce_sum(y, {-2}, false);
}

}  // namespace ingot::frontends::keras
