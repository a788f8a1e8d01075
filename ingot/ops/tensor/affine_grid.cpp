// AffineGrid: where each pixel of an affinely transformed image comes from, for GridSample.
#include <array>

#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/blocks.h"

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
  const auto& grid = c.node.output(0)->type.shape;
  if (!dims && grid) dims = static_cast<std::int64_t>(grid->size()) - 2;
  const DType elem = c.elem(0);
  if (!dims || (*dims != 2 && *dims != 3) || elem == DType::undefined) return {};
  GraphBuilder& g = c.g;
  const bool aligns = c.attr("align_corners", std::int64_t{0}) != 0;
  const auto count = static_cast<std::size_t>(*dims);
  Value* sizes = g.reshape(g.op("Slice", {c.in(1), g.ints({2}), g.ints({*dims + 2})}), {*dims});
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

void run(KernelContext& c) {
  const Array& theta = c.in(0);
  const std::vector<std::int64_t> size = list_of_ints(c, 1);
  if (size.size() != 4 && size.size() != 5) c.fail("the size does not have 4 or 5 entries");
  const std::size_t dims = size.size() - 2;
  const auto count = static_cast<std::int64_t>(dims);
  if (theta.dims() != Dims{size[0], count, count + 1}) c.fail("theta does not hold a fitting matrix per batch");
  const bool aligns = c.attr("align_corners", std::int64_t{0}) != 0;
  Dims result = {size[0]};
  result.insert(result.end(), size.begin() + 2, size.end());
  for (const std::int64_t d : result)
    if (d < 0) c.fail("the size has a dimension of " + std::to_string(d));
  result.push_back(count);
  const Array matrices = converted(theta, DType::f64, c.host());
  Array y = scratch(c, DType::f64, result);
  if (y.size() > 0) {
    const double* matrix = matrices.data<double>().data();
    double* out = y.mutable_data<double>().data();
    const std::int64_t points = y.size() / (size[0] * count);
    WorkMeter meter(c.host().budget());
    for (std::int64_t n = 0; n < size[0]; ++n, matrix += count * (count + 1))
      for (std::int64_t point = 0; point < points; ++point) {
        // The first coordinate, x, goes along the last dimension.
        std::array<double, 4> at{};
        std::int64_t rest = point;
        for (std::size_t k = 0; k < dims; ++k) {
          const std::int64_t length = size[size.size() - 1 - k];
          const auto i = static_cast<double>(rest % length), whole = static_cast<double>(length);
          rest /= length;
          at[k] = aligns ? (length == 1 ? -1 : 2 * i / (whole - 1) - 1) : (2 * i + 1) / whole - 1;
        }
        at[dims] = 1;
        for (std::size_t row = 0; row < dims; ++row) {
          double sum = 0;
          for (std::size_t k = 0; k <= dims; ++k) sum += matrix[row * (dims + 1) + k] * at[k];
          *out++ = sum;
        }
        meter.did(count);
      }
  }
  put(c, 0, y, theta.dtype());
}

}  // namespace

constinit const OpDef defs::AffineGrid = {
    .name = "AffineGrid",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
