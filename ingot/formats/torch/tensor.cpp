// Windows into storages.
#include "ingot/formats/torch/tensor.h"

#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"

namespace ingot::formats::torch {
namespace {

[[noreturn]] void refuse_window(const char* why) { throw Error(Code::bad_tensor, std::string("a tensor ") + why); }

/// The largest index that the window reaches.
std::uint64_t last_index(const Tensor& t) {
  std::uint64_t last = static_cast<std::uint64_t>(t.offset);
  for (std::size_t i = 0; i < t.sizes.size(); ++i) {
    const auto step = checked_mul(static_cast<std::uint64_t>(t.sizes[i] - 1), static_cast<std::uint64_t>(t.strides[i]));
    const auto sum = step ? checked_add(last, *step) : std::nullopt;
    if (!sum) refuse_window("leaves its storage");
    last = *sum;
  }
  return last;
}

bool is_row_major(const Tensor& t) {
  std::int64_t expected = 1;
  for (std::size_t i = t.sizes.size(); i-- > 0;) {
    if (t.sizes[i] != 1 && t.strides[i] != expected) return false;
    expected *= t.sizes[i];
  }
  return true;
}

/// Runs through all indices but the last axis, and copies that axis.
void copy_elements(const Tensor& t, std::size_t width, std::vector<std::byte>& to) {
  const std::size_t rank = t.sizes.size();
  std::vector<std::int64_t> index(rank, 0);
  const std::byte* from = t.storage.data();
  std::size_t written = 0;
  while (written < to.size()) {
    std::size_t at = static_cast<std::size_t>(t.offset);
    for (std::size_t i = 0; i < rank; ++i)
      at += static_cast<std::size_t>(index[i]) * static_cast<std::size_t>(t.strides[i]);
    const auto step = static_cast<std::size_t>(t.strides[rank - 1]) * width;
    for (std::int64_t k = 0; k < t.sizes[rank - 1]; ++k, written += width)
      std::memcpy(to.data() + written, from + at * width + static_cast<std::size_t>(k) * step, width);
    for (std::size_t i = rank - 1; i-- > 0;) {
      if (++index[i] < t.sizes[i]) break;
      index[i] = 0;
    }
  }
}

}  // namespace

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) {
    // Sizes beyond any storage may wrap here; who reads the window refuses them.
    const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(sizes[i], 1));
    strides[i - 1] = static_cast<std::int64_t>(static_cast<std::uint64_t>(strides[i]) * size);
  }
  return strides;
}

Bytes Tensor::contiguous(Budget* budget) const {
  const auto count = element_count(sizes);
  const auto bytes = count ? byte_count(dtype, *count) : std::nullopt;
  if (!bytes || strides.size() != sizes.size() || offset < 0) refuse_window("has no valid shape");
  if (*bytes == 0) return {};
  for (const std::int64_t stride : strides)
    if (stride < 0) refuse_window("has a negative stride");
  const std::uint64_t width = bits_of(dtype) / 8;
  if (width == 0) refuse_window("has elements smaller than a byte");
  if (last_index(*this) >= storage.size() / width) refuse_window("leaves its storage");
  if (is_row_major(*this)) return storage.slice(static_cast<std::size_t>(offset) * width, *bytes);
  // A stride of 0 makes much of little: what is copied is charged before it is made.
  if (*bytes > storage.size() && !budget && *bytes > (std::uint64_t{1} << 32))
    refuse_window("repeats its storage too often");
  if (budget) budget->charge_memory(*bytes);
  std::vector<std::byte> made(*bytes);
  copy_elements(*this, width, made);
  return Bytes::own(std::move(made));
}

}  // namespace ingot::formats::torch
