// Col2Im: adds the columns of unfolded blocks back into an image.
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/nn/window.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

constexpr std::int64_t kMostRank = 64;

void infer(InferContext& c) {
  require_rank(c, 0, 3, "the input");
  require_rank(c, 1, 1, "image_shape");
  require_rank(c, 2, 1, "block_shape");
  const Dim axes = agree(c, c.dim(1, 0), c.dim(2, 0), "the number of spatial axes");
  const auto image = c.ints(1), block = c.ints(2);
  if (image && block && image->size() != block->size()) c.fail("image_shape and block_shape differ in length");
  const auto count = image ? std::optional(static_cast<std::int64_t>(image->size())) : axes.as_int();
  if (!count) return;
  c.require(*count >= 1 && *count <= kMostRank - 2, "the number of spatial axes is out of range");
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

/// A transposed convolution whose kernel puts row k of a block at the block's position k.
Values decompose(DecomposeContext& c) {
  const Tensor *image = c.constant(1), *block = c.constant(2);
  const DType elem = c.elem(0);
  if (!image || !block || elem == DType::undefined || !TypeSet(Floats{}).has(elem)) return {};
  const auto sizes = image->to_ints(), kernel = block->to_ints();
  const Shape taps(kernel.begin(), kernel.end());
  const Window window = Window::read(c.node.attributes, kernel.size(), &taps);
  constexpr std::int64_t kMostTaps = 4096;
  const Dim count = product(taps);
  if (sizes.size() != kernel.size() || !count.is_known() || count.value() > kMostTaps) return {};

  std::vector<std::int64_t> grid = {-1, count.value()}, result = {0, -1}, padding;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Dim steps = window.output_size(i, sizes[i]);
    grid.push_back(steps.value());
    padding.push_back(sizes[i] - window.transposed_size(i, steps).value());
    result.push_back(sizes[i]);
  }
  const auto n = static_cast<std::size_t>(count.value());
  std::vector<float> spread(n * n, 0);
  for (std::size_t k = 0; k < n; ++k) spread[k * n + k] = 1;
  Dims weight_dims = {count.value(), 1};
  weight_dims.insert(weight_dims.end(), kernel.begin(), kernel.end());
  Value* weights = c.g.cast(c.g.constant(Tensor::of<float>(weight_dims, spread)), elem);
  Value* x = c.g.reshape(c.in(0), grid);  // [N * C, taps, ...]
  Value* y = c.g.op("ConvTranspose", {x, weights},
                    {{"strides", window.strides},
                     {"dilations", window.dilations},
                     {"pads", window.pads},
                     {"output_padding", padding}});
  result[0] = 0;
  Value* batch = size_along(c.g, c.in(0), 0);
  std::vector<std::int64_t> rest(result.begin() + 1, result.end());
  return {c.g.op("Reshape", {y, c.g.concat({batch, c.g.ints(rest)}, 0)})};
}

}  // namespace

constinit const OpDef defs::Col2Im = {.name = "Col2Im", .infer = infer, .decompose = decompose};

}  // namespace ingot::ops
