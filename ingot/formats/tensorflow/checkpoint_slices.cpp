// Variables that are stored in parts.
#include "ingot/formats/tensorflow/checkpoint_slices.h"

#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"

namespace ingot::formats::tensorflow {

std::vector<SliceExtent> read_slice(protobuf::Reader r) {
  std::vector<SliceExtent> slice;
  while (r.next()) {
    if (r.field() != 1) continue;
    SliceExtent extent;
    for (protobuf::Reader e = r.message(); e.next();) {
      if (e.field() == 1) extent.start = e.int64();
      if (e.field() == 2) extent.length = e.int64();
    }
    slice.push_back(extent);
  }
  return slice;
}

SlicedTensor::SlicedTensor(DataType dtype, TensorShape shape, std::uint64_t available, Budget& budget)
    : dtype_(dtype), shape_(std::move(shape)), width_(element_size(dtype)) {
  if (!width_) throw Error(Code::unsupported_feature, "texts that are stored in parts");
  const auto bytes = checked_mul(element_count(shape_), width_);
  if (!bytes || *bytes > available) throw Error(Code::bad_checkpoint, "a tensor is larger than the data files");
  budget.charge_memory(*bytes);
  bytes_.resize(static_cast<std::size_t>(*bytes));
}

std::vector<std::int64_t> SlicedTensor::sizes_of(const std::vector<SliceExtent>& slice) const {
  const std::vector<std::int64_t>& dims = shape_.dims;
  if (slice.size() != dims.size()) throw Error(Code::bad_checkpoint, "a part has another rank than its tensor");
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    sizes.push_back(slice[i].length < 0 ? dims[i] : slice[i].length);
    const auto end = checked_add(slice[i].start, sizes.back());
    if (slice[i].start < 0 || !end || *end > dims[i])
      throw Error(Code::bad_checkpoint, "a part lies outside its tensor");
  }
  return sizes;
}

void SlicedTensor::place(const std::vector<SliceExtent>& slice, const Bytes& elements) {
  const std::vector<std::int64_t>& dims = shape_.dims;
  const std::vector<std::int64_t> sizes = sizes_of(slice);
  const auto count = ingot::element_count(sizes);
  if (!count || *count * width_ != elements.size())
    throw Error(Code::bad_checkpoint, "a part has another size than it states");
  placed_ += *count;
  if (*count == 0) return;
  // Row by row of the last dimension.
  const std::uint64_t row = sizes.empty() ? 1 : static_cast<std::uint64_t>(sizes.back());
  for (std::uint64_t at = 0; at < *count; at += row) {
    std::uint64_t rest = at, place = 0, stride = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
      const auto size = static_cast<std::uint64_t>(sizes[i]);
      place += (rest % size + static_cast<std::uint64_t>(slice[i].start)) * stride;
      rest /= size;
      stride *= static_cast<std::uint64_t>(dims[i]);
    }
    std::memcpy(&bytes_[static_cast<std::size_t>(place * width_)], elements.data() + at * width_,
                static_cast<std::size_t>(row * width_));
  }
}

TensorProto SlicedTensor::finish() {
  if (placed_ < bytes_.size() / width_) throw Error(Code::bad_checkpoint, "a part of a tensor is missing");
  return {dtype_, std::move(shape_), Bytes::own(std::move(bytes_)), {}};
}

}  // namespace ingot::formats::tensorflow
