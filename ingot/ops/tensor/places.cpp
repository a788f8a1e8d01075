// Where indices of gathering and scattering operators point.
#include "ingot/ops/tensor/places.h"

#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {

void check_indices(const KernelContext& c, const Dims& data, const Dims& indices, std::int64_t axis) {
  if (data.size() != indices.size()) c.fail("data and indices differ in rank");
  for (std::size_t i = 0; i < data.size(); ++i)
    if (i != static_cast<std::size_t>(axis) && indices[i] > data[i])
      c.fail("dimension " + std::to_string(i) + " of the indices is " + std::to_string(indices[i]) + ", of the data " +
             std::to_string(data[i]));
}

Array places_of_elements(KernelContext& c, const Array& data, const Array& indices, std::int64_t axis) {
  check_indices(c, data.dims(), indices.dims(), axis);
  const auto along = static_cast<std::size_t>(axis);
  const Array index = converted(indices, DType::i64, c.host());
  Array places = scratch(c, DType::i64, indices.dims());
  const Dims dense = strides_of(data.dims());
  Walk walk{indices.dims(), {dense}};
  walk.strides[0][along] = 0;
  const std::int64_t step = walk.strides[0].back(), size = data.dims()[along];
  const std::int64_t* in = index.data<std::int64_t>().data();
  std::int64_t* out = places.mutable_data<std::int64_t>().data();
  for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) *out++ = at[0] + i * step + index_within(c, *in++, size) * dense[along];
  });
  return places;
}

Slices slices_of_tuples(KernelContext& c, const Array& data, const Array& indices, std::int64_t batch) {
  if (indices.rank() < 1) c.fail("the indices are a scalar");
  if (batch < 0 || (batch > 0 && (batch >= data.rank() || batch >= indices.rank())))
    c.fail("batch_dims is " + std::to_string(batch) + " for ranks " + std::to_string(data.rank()) + " and " +
           std::to_string(indices.rank()));
  const std::int64_t length = indices.dims().back();
  if (length > data.rank() - batch)
    c.fail("index tuples have " + std::to_string(length) + " entries, data has rank " + std::to_string(data.rank()));
  const auto first = data.dims().begin() + batch, end = first + length;
  if (!std::equal(data.dims().begin(), first, indices.dims().begin())) c.fail("the batch dimensions differ");
  Slices slices;
  slices.dims.assign(indices.dims().begin(), indices.dims().end() - 1);
  slices.places = scratch(c, DType::i64, slices.dims);
  slices.dims.insert(slices.dims.end(), end, data.dims().end());
  slices.size = tensor_size({end, data.dims().end()});
  const auto places = slices.places.mutable_data<std::int64_t>();
  if (places.empty()) return slices;
  const Array index = converted(indices, DType::i64, c.host());
  const std::int64_t* in = index.data<std::int64_t>().data();
  const Dims dense = strides_of(data.dims());
  const std::int64_t batches = tensor_size({data.dims().begin(), first});
  const std::int64_t per_batch = static_cast<std::int64_t>(places.size()) / batches;
  const std::int64_t batch_size = tensor_size({first, data.dims().end()});
  WorkMeter meter(c.host().budget());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = static_cast<std::int64_t>(i) / per_batch * batch_size;
    for (std::int64_t k = 0; k < length; ++k) {
      const auto axis = static_cast<std::size_t>(batch + k);
      const std::int64_t index_there = *in++, size = data.dims()[axis];
      const std::int64_t from_front = index_there < 0 ? index_there + size : index_there;
      if (from_front < 0 || from_front >= size) index_within(c, index_there, size);  // which refuses it
      places[i] += from_front * dense[axis];
    }
    meter.did(length);
  }
  return slices;
}

}  // namespace ingot::ops
