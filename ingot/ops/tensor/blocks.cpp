// What kernels that move slices of arrays share: blocks along an axis, checked axes and indices.
#include "ingot/ops/tensor/blocks.h"

#include <algorithm>
#include <numeric>

#include "ingot/base/checked.h"

namespace ingot::ops {
namespace {

std::vector<std::size_t> all_axes(std::int64_t rank) {
  std::vector<std::size_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  return axes;
}

}  // namespace

Blocks blocks_along(const Dims& dims, std::int64_t axis) {
  const auto at = dims.begin() + axis;
  return {tensor_size({dims.begin(), at}), *at, tensor_size({at + 1, dims.end()})};
}

void copy_elements(const Array& x, std::int64_t from, Array& y, std::int64_t to, std::int64_t count) {
  if (count == 0) return;
  if (x.dtype() == DType::string) {
    const auto in = x.data<std::string>();
    std::copy_n(in.begin() + from, count, y.mutable_data<std::string>().begin() + to);
    return;
  }
  const auto bytes = static_cast<std::int64_t>(std::max(1u, bits_of(x.dtype()) / 8));
  std::copy_n(x.bytes() + from * bytes, count * bytes, y.bytes() + to * bytes);
}

std::int64_t index_within(const KernelContext& c, std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size)
    c.fail("index " + std::to_string(index) + " is out of range for a dimension of " + std::to_string(size));
  return index < 0 ? index + size : index;
}

std::vector<std::size_t> distinct_axes(const KernelContext& c, const std::vector<std::int64_t>& axes,
                                       std::int64_t rank) {
  std::vector<bool> seen(static_cast<std::size_t>(rank), false);
  std::vector<std::size_t> result;
  for (const std::int64_t a : axes) {
    const auto axis = static_cast<std::size_t>(c.axis(a, rank));
    if (seen[axis]) c.fail("axes name dimension " + std::to_string(axis) + " twice");
    seen[axis] = true;
    result.push_back(axis);
  }
  return result;
}

std::vector<std::size_t> axes_of_input(const KernelContext& c, std::size_t input, std::int64_t rank) {
  return c.has(input) ? distinct_axes(c, list_of_ints(c, input), rank) : all_axes(rank);
}

std::vector<std::size_t> axes_of_attribute(const KernelContext& c, std::string_view name, std::int64_t rank) {
  return c.node.attributes.has(name) ? distinct_axes(c, c.attr_ints(name), rank) : all_axes(rank);
}

std::vector<std::int64_t> list_of_ints(const KernelContext& c, std::size_t input) {
  const Array& list = c.in(input);
  if (list.rank() != 1)
    c.fail("input " + std::to_string(input) + " has rank " + std::to_string(list.rank()) + ", not 1");
  return list.to_ints();
}

std::int64_t single_int(const KernelContext& c, std::size_t input) {
  const Array& number = c.in(input);
  if (number.size() != 1)
    c.fail("input " + std::to_string(input) + " has " + std::to_string(number.size()) + " elements, not one");
  return number.to_ints().front();
}

Array joined(KernelContext& c, const std::vector<Array>& parts, std::int64_t axis) {
  if (parts.empty()) c.fail("there is nothing to join");
  Dims dims = parts.front().dims();
  const auto along = static_cast<std::size_t>(c.axis(axis, parts.front().rank()));
  dims[along] = 0;
  for (const Array& part : parts) {
    if (part.dtype() != parts.front().dtype()) c.fail("the parts differ in element type");
    if (part.rank() != parts.front().rank()) c.fail("the parts differ in rank");
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (i != along && part.dims()[i] != dims[i])
        c.fail("dimension " + std::to_string(i) + " differs: " + std::to_string(dims[i]) + " and " +
               std::to_string(part.dims()[i]));
    const auto sum = checked_add(dims[along], part.dims()[along]);
    if (!sum) c.fail("the parts are too large together");
    dims[along] = *sum;
  }
  Array y = c.host().allocate(parts.front().dtype(), dims);
  const Blocks all = blocks_along(dims, static_cast<std::int64_t>(along));
  WorkMeter meter(c.host().budget());
  std::int64_t first = 0;
  for (const Array& part : parts) {
    const std::int64_t run = part.dims()[along] * all.inner;
    for (std::int64_t block = 0; run > 0 && block < all.outer; ++block) {
      copy_elements(part, block * run, y, block * all.size * all.inner + first, run);
      meter.did(run);
    }
    first += run;
  }
  return y;
}

Array stacked(KernelContext& c, std::vector<Array> parts, std::int64_t axis) {
  if (parts.empty()) c.fail("there is nothing to stack");
  const std::int64_t at = c.axis(axis, parts.front().rank() + 1);
  for (Array& part : parts) {
    if (part.rank() < at) c.fail("the parts differ in rank");
    Dims dims = part.dims();
    dims.insert(dims.begin() + at, 1);
    part = part.reshaped(std::move(dims));
  }
  return joined(c, parts, at);
}

Array part_of(KernelContext& c, const Array& x, std::int64_t axis, std::int64_t first, std::int64_t size) {
  Dims dims = x.dims();
  dims[static_cast<std::size_t>(axis)] = size;
  Array y = c.host().allocate(x.dtype(), std::move(dims));
  const Blocks all = blocks_along(x.dims(), axis);
  const std::int64_t run = size * all.inner;
  WorkMeter meter(c.host().budget());
  for (std::int64_t block = 0; run > 0 && block < all.outer; ++block) {
    copy_elements(x, (block * all.size + first) * all.inner, y, block * run, run);
    meter.did(run);
  }
  return y;
}

}  // namespace ingot::ops
