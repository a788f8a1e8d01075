// Tensors with their axes in another order.
#include "ingot/ir/transpose.h"

#include <algorithm>
#include <cstring>

namespace ingot {

std::vector<std::int64_t> to_channels_first(std::size_t rank) {
  std::vector<std::int64_t> perm{0, static_cast<std::int64_t>(rank) - 1};
  for (std::size_t i = 1; i + 1 < rank; ++i) perm.push_back(static_cast<std::int64_t>(i));
  return perm;
}

std::vector<std::int64_t> to_channels_last(std::size_t rank) {
  std::vector<std::int64_t> perm{0};
  for (std::size_t i = 2; i < rank; ++i) perm.push_back(static_cast<std::int64_t>(i));
  perm.push_back(1);
  return perm;
}

namespace {

template <std::size_t kWidth>
void move_elements(const Dims& dims, const std::vector<std::int64_t>& perm, const std::byte* from, std::byte* to) {
  for_each_transposed(dims, perm, [&](std::size_t at, std::size_t source) {
    std::memcpy(to + at * kWidth, from + source * kWidth, kWidth);
  });
}

/// Elements of 2 or 4 bits.
void move_parts(const Dims& dims, const std::vector<std::int64_t>& perm, unsigned bits, const std::byte* from,
                std::byte* to) {
  const std::size_t per_byte = 8 / bits;
  const unsigned mask = (1U << bits) - 1;
  for_each_transposed(dims, perm, [&](std::size_t at, std::size_t source) {
    const unsigned element = (std::to_integer<unsigned>(from[source / per_byte]) >> (source % per_byte * bits)) & mask;
    to[at / per_byte] |= static_cast<std::byte>(element << (at % per_byte * bits));
  });
}

}  // namespace

Tensor transposed(const Tensor& tensor, const std::vector<std::int64_t>& perm) {
  if (std::ranges::is_sorted(perm)) return tensor;
  const Dims& dims = tensor.dims();
  if (tensor.dtype() == DType::string) {
    std::vector<std::string> strings;
    for_each_transposed(dims, perm, [&](std::size_t, std::size_t from) { strings.push_back(tensor.strings()[from]); });
    return Tensor::of_strings(permuted(dims, perm), std::move(strings));
  }
  std::vector<std::byte> bytes(tensor.bytes().size());
  const std::byte* data = tensor.bytes().data();
  switch (const unsigned bits = bits_of(tensor.dtype()); bits) {
    case 8:
      move_elements<1>(dims, perm, data, bytes.data());
      break;
    case 16:
      move_elements<2>(dims, perm, data, bytes.data());
      break;
    case 32:
      move_elements<4>(dims, perm, data, bytes.data());
      break;
    case 64:
      move_elements<8>(dims, perm, data, bytes.data());
      break;
    case 128:
      move_elements<16>(dims, perm, data, bytes.data());
      break;
    default:
      move_parts(dims, perm, bits, data, bytes.data());
  }
  return Tensor(tensor.dtype(), permuted(dims, perm), Bytes::own(std::move(bytes)));
}

}  // namespace ingot
