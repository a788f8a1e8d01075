// AffineGrid: where each pixel of an affinely transformed image comes from, for GridSample.
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const auto size = c.ints(1);
  const auto length = size ? static_cast<std::int64_t>(size->size()) : c.dim(1, 0).as_int();
  if (length && *length != 4 && *length != 5)
    c.fail("the size has " + std::to_string(*length) + " entries, not 4 or 5");
  std::optional<std::int64_t> dims = length ? std::optional(*length - 2) : c.dim(0, 1).as_int();
  if (const Shape* theta = c.shape(0)) {
    c.require(theta->size() == 3, "theta is not of rank 3");
    if (dims && (!may_equal((*theta)[1], *dims) || !may_equal((*theta)[2], *dims + 1)))
      c.fail("theta holds matrices of " + (*theta)[1].str() + " by " + (*theta)[2].str());
  }
  if (!dims || (*dims != 2 && *dims != 3)) return;
  Shape y(static_cast<std::size_t>(*dims) + 2);
  y.front() = c.dim(0, 0);
  y.back() = *dims;
  if (size) {
    if (!y.front().is_known() && !size->front().is_unknown()) y.front() = size->front();
    for (std::size_t i = 2; i < size->size(); ++i) y[i - 1] = (*size)[i];
  }
  for (const Dim& d : y)
    if (d.is_known() && d.value() < 0) c.fail("the size has a dimension of " + d.str());
  c.out_shape(0, std::move(y));
  if (!size) c.name_open_dims(0);
}

// grid[n, d, h, w] = theta[n] * (x_w, y_h, z_d, 1), where the coordinates go from -1 to 1
Values decompose(DecomposeContext& c) {
  if (!c.has(0) || !c.has(1)) return {};
  const Type &theta_type = c.in(0)->type, &size_type = c.in(1)->type;
  std::optional<std::int64_t> dims;
  if (theta_type.shape && theta_type.shape->size() == 3) dims = (*theta_type.shape)[1].as_int();
  if (!dims && size_type.shape && size_type.shape->size() == 1 && size_type.shape->front().is_known())
    dims = size_type.shape->front().value() - 2;
  const DType elem = c.elem(0);
  if (!dims || (*dims != 2 && *dims != 3) || elem == DType::undefined) return {};
  GraphBuilder& g = c.g;
  const bool aligns = c.attr("align_corners", std::int64_t{0}) != 0;
  const auto count = static_cast<std::size_t>(*dims);
  Value* sizes = g.op("Slice", {c.in(1), g.ints({2}), g.ints({*dims + 2})});
  Value* last = g.ints({-1});
  Values coordinates(count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    Value* size = g.op("Gather", {sizes, g.index(static_cast<std::int64_t>(i))});
    Value* length = g.cast(size, elem);
    Value* step = g.div(2.0, aligns ? g.sub(length, 1.0) : length);
    // The depth alone may be 1 with aligned corners.
    if (aligns && count == 3 && i == 0) step = g.where(g.op("Equal", {size, g.index(1)}), g.scalar(0, elem), step);
    Value* start = aligns ? g.scalar(-1, elem) : g.sub(g.div(step, 2.0), 1.0);
    Value* steps = g.cast(g.op("Range", {g.index(0), size, g.index(1)}), elem);
    std::vector<std::int64_t> along(count, 1);
    along[i] = -1;
    Value* line = g.reshape(g.add(g.mul(steps, step), start), along);
    coordinates[count - 1 - i] = g.op("Unsqueeze", {g.op("Expand", {line, sizes}), last});
  }
  coordinates[count] = g.op("Unsqueeze", {g.op("Expand", {g.scalar(1, elem), sizes}), last});
  Value* points = g.transpose(g.reshape(g.concat(coordinates, -1), {-1, *dims + 1}), {1, 0});
  Value* moved = g.transpose(g.op("MatMul", {c.in(0), points}), {0, 2, 1});
  Value* batch = g.op("Slice", {c.in(1), g.ints({0}), g.ints({1})});
  return {g.op("Reshape", {moved, g.concat({batch, sizes, g.ints({*dims})}, 0)})};
}

}  // namespace

constinit const OpDef defs::AffineGrid = {
    .name = "AffineGrid",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
