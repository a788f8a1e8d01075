// CenterCropPad: cut or padded with zeros on both sides to a given size.
#include <numeric>

#include "ingot/ops/infer.h"
#include "ingot/ops/short_list.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/index_maps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  require_short_list(c, 1);
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

void run(KernelContext& c) {
  const Array& x = c.in(0);
  const std::vector<std::size_t> axes = axes_of_attribute(c, "axes", x.rank());
  const std::vector<std::int64_t> wanted = list_of_ints(c, 1);
  if (wanted.size() != axes.size()) c.fail("the shape does not have one entry for each axis");
  Dims dims = x.dims();
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (wanted[k] < 0) c.fail("the shape has a dimension of " + std::to_string(wanted[k]));
    dims[axes[k]] = wanted[k];
  }
  Array& y = c.make(0, x.dtype(), dims);
  if (y.size() == 0) return;
  std::vector<Array> memory;
  std::vector<IndexMap> maps;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t size = x.dims()[i];
    // Of an odd number the larger half is at the end, of what is cut as of what is added.
    const std::int64_t first = dims[i] > size ? -((dims[i] - size) / 2) : (size - dims[i]) / 2;
    memory.push_back(scratch(c, DType::i64, {dims[i]}));
    const auto map = memory.back().mutable_data<std::int64_t>();
    for (std::size_t k = 0; k < map.size(); ++k) {
      const std::int64_t at = first + static_cast<std::int64_t>(k);
      map[k] = at < size ? std::max<std::int64_t>(at, -1) : -1;
    }
    maps.push_back(map);
  }
  gather_by_maps(c, x, maps, Array(x.dtype(), {}), y);
}

}  // namespace

constinit const OpDef defs::CenterCropPad = {
    .name = "CenterCropPad",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
