// Col2Im: adds the columns of unfolded blocks back into an image.
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/nn/sliding.h"
#include "ingot/ops/nn/window.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  require_rank(c, 0, 3, "the input");
  require_rank(c, 1, 1, "image_shape");
  require_rank(c, 2, 1, "block_shape");
  const Dim axes = agree(c, c.dim(1, 0), c.dim(2, 0), "the number of spatial axes");
  const auto image = c.ints(1), block = c.ints(2);
  if (image && block && image->size() != block->size()) c.fail("image_shape and block_shape differ in length");
  const auto count = image ? std::optional(static_cast<std::int64_t>(image->size())) : axes.as_int();
  if (!count) return;
  c.require(*count >= 1 && *count <= kMostDims - 2, "the number of spatial axes is out of range");
  Shape y = {c.dim(0, 0), Dim()};
  if (block) {
    const Window window = Window::read(c.node().attributes, block->size(), &*block);
    const Dim taps = product(*block);
    const Dim packed = c.dim(0, 1);
    if (packed.is_known() && taps.is_known() && packed.value() % taps.value())
      c.fail(packed.str() + " rows cannot be split into blocks of " + taps.str());
    y[1] = exact_div(packed, taps);
    if (image) {
      Dim columns = 1;
      for (std::size_t i = 0; i < image->size(); ++i) columns = columns * window.output_size(i, (*image)[i]);
      agree(c, c.dim(0, 2), columns, "the number of columns");
    }
  }
  for (std::int64_t i = 0; i < *count; ++i) y.push_back(image ? (*image)[static_cast<std::size_t>(i)] : Dim());
  for (const Dim& size : y)
    if (size.is_known() && size.value() < 0) c.fail("image_shape is negative");
  c.out_shape(0, std::move(y));
}

/// A transposed convolution whose kernel puts row k of a block at the block's position k; then zeros up to the
/// image's size, where the last blocks do not reach.
Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const DType elem = c.elem(0);
  auto axes = c.constant(2) ? std::optional(c.constant(2)->size()) : stated_size(c.in(2), 0).as_int();
  if (const auto& image = c.node.output(0)->type.shape; !axes && image)
    axes = static_cast<std::int64_t>(image->size()) - 2;
  if (!c.in(0) || !c.in(1) || elem == DType::undefined || !TypeSet(Floats{}).has(elem)) return {};
  if (!axes || *axes < 1 || *axes > kMostDims - 2) return {};
  const Shape unknown(static_cast<std::size_t>(*axes));
  const Window window = Window::read(c.node.attributes, unknown.size(), &unknown);
  std::vector<std::int64_t> padding(unknown.size());
  for (std::size_t i = 0; i < padding.size(); ++i) padding[i] = window.pads[i] + window.pads[i + padding.size()];

  Value *image = g.reshape(c.in(1), {*axes}), *block = g.reshape(c.in(2), {*axes}), *one = g.ints({1}),
        *strides = g.ints(window.strides);
  Value* taps = g.op("ReduceProd", {block}, {{"keepdims", 1}});
  Value* extent = g.add(g.mul(g.sub(block, one), g.ints(window.dilations)), one);
  Value* padded = g.add(image, g.ints(padding));
  Value* steps = g.add(g.div(g.sub(padded, extent), strides), one);
  Value* reached = g.add(g.mul(g.sub(steps, one), strides), extent);
  Value* square = g.op("ConstantOfShape", {g.concat({taps, taps}, 0)});
  Value* kernel =
      g.op("Reshape", {g.op("EyeLike", {square}, {{"dtype", DType::f32}}), g.concat({taps, one, block}, 0)});
  Value* x = g.op("Reshape", {c.in(0), g.concat({g.ints({-1}), taps, steps}, 0)});  // [N * C, taps, ...]
  Value* y = g.op("ConvTranspose", {x, g.cast(kernel, elem)},
                  {{"strides", window.strides}, {"dilations", window.dilations}, {"pads", window.pads}});
  Value* nothing = g.ints(std::vector<std::int64_t>(unknown.size() + 4));
  y = g.op("Pad", {y, g.concat({nothing, g.sub(padded, reached)}, 0)});
  return {g.op("Reshape", {y, g.concat({size_along(g, c.in(0), 0), g.ints({-1}), image}, 0)})};
}

/// The type to add in: bits are counted and then tested.
DType sum_dtype(DType dtype) {
  return dtype == DType::boolean ? DType::i64 : dtype == DType::f32 ? DType::f64 : compute_dtype(dtype);
}

void run(KernelContext& c) {
  const DType elem = c.in(0).dtype(), sums = sum_dtype(elem);
  const bool is_complex = elem == DType::c64 || elem == DType::c128;
  const Array x = is_complex ? c.in(0) : converted(c.in(0), sums, c.host());
  if (x.rank() != 3) c.fail("the input has rank " + std::to_string(x.rank()) + ", not 3");
  const Array &image = c.in(1), &block = c.in(2);
  if (image.rank() != 1 || block.dims() != image.dims()) c.fail("image_shape and block_shape differ in length");
  const Dims kernel = block.to_ints();
  Dims dims = {1, 1};
  for (const std::int64_t size : image.to_ints()) dims.push_back(size);
  const Sliding s = Sliding::over(c, dims, &kernel);
  const std::int64_t rows = x.dims()[1];
  if (rows % s.tap_count) c.fail("the rows cannot be split into blocks");
  if (x.dims()[2] != s.window_count)
    c.fail(std::to_string(x.dims()[2]) + " columns where " + std::to_string(s.window_count) + " blocks fit");
  dims[0] = x.dims()[0];
  dims[1] = rows / s.tap_count;
  Array y = scratch(c, x.dtype(), dims);
  if (x.size() == 0 || y.size() == 0) return c.set(0, converted(y, elem, c.host()));
  Pace pace(c.host().budget());
  dispatch(x.dtype(), JoinTypes<ComputeNumbers, Complexes>{}, [&]<class T>() {
    const T* in = x.data<T>().data();
    T* out = y.mutable_data<T>().data();
    for (Taps taps(c, s); taps.next();)
      for (std::int64_t plane = 0; plane < dims[0] * dims[1]; ++plane) {
        const T* from = in + (plane * s.tap_count + taps.index()) * s.window_count;
        T* to = out + plane * s.plane_size;
        taps.each_row([&](std::int64_t window, std::int64_t element, std::int64_t count, std::int64_t step) {
          for (std::int64_t i = 0; i < count; ++i) {
            T& sum = to[element + i * step];
            if constexpr (std::is_integral_v<T>)  // wraps around, which C++ promises for unsigned ones only
              sum = static_cast<T>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(from[window + i]));
            else
              sum += from[window + i];
          }
        });
        pace.step(s.window_count);
      }
  });
  if (is_complex)
    c.set(0, y);
  else
    put(c, 0, y, elem);
}

}  // namespace

constinit const OpDef defs::Col2Im = {
    .name = "Col2Im",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
