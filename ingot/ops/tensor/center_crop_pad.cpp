// CenterCropPad: cut or padded with zeros on both sides to a given size.
#include <numeric>

#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  const auto* given = c.attr_ints("axes");
  const auto wanted = c.ints(1);
  if (!x) {
    if (!given && wanted) c.out_shape(0, *wanted);
    return;
  }
  const auto rank = static_cast<std::int64_t>(x->size());
  std::vector<std::int64_t> axes;
  if (given) {
    axes = *given;
  } else {
    axes.resize(x->size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  const auto count = c.dim(1, 0).as_int();
  if ((wanted && wanted->size() != axes.size()) || (count && *count != static_cast<std::int64_t>(axes.size())))
    c.fail("the shape does not have one entry for each of the " + std::to_string(axes.size()) + " axes");
  Shape y = *x;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    Dim& d = y[static_cast<std::size_t>(c.axis(axes[k], rank, "axes"))];
    d = wanted ? (*wanted)[k] : Dim();
    if (d.is_unknown()) d = c.data_dim(0, &d - y.data());
    if (d.is_known() && d.value() < 0) c.fail("the shape has a dimension of " + d.str());
  }
  c.out_shape(0, std::move(y));
}

// Pad to what is larger, then cut to what is wanted; of an odd number the larger half is at the end.
Values decompose(DecomposeContext& c) {
  if (!c.has(0) || !c.has(1)) return {};
  GraphBuilder& g = c.g;
  const auto axes = c.node.attributes.ints_or("axes", {});
  const bool has_axes = c.node.attributes.has("axes");
  Value* only = has_axes ? g.ints(axes) : nullptr;
  Value* wanted = g.cast(c.in(1), DType::i64);
  Value* size = g.shape(c.in(0));
  if (has_axes) size = g.op("Gather", {size, only});
  Value* padded_size = g.op("Max", {size, wanted});
  Value* two = g.index(2);
  Value* padding = g.sub(padded_size, size);
  Value* before = g.div(padding, two);
  Value* pads = g.concat({before, g.sub(padding, before)}, 0);
  Value* padded = g.op("Pad", {c.in(0), pads, nullptr, only});
  Value* start = g.div(g.sub(padded_size, wanted), two);
  return {g.op("Slice", {padded, start, g.add(start, wanted), only})};
}

}  // namespace

constinit const OpDef defs::CenterCropPad = {
    .name = "CenterCropPad",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
