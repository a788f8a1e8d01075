// Bytes: shared, read-only views.
#include "ingot/base/bytes.h"

#include <fmt/format.h>

#include "ingot/base/error.h"

namespace ingot {
namespace {

template <class Container> Bytes keep(Container container) {
  auto owner = std::make_shared<const Container>(std::move(container));
  const auto bytes = std::as_bytes(std::span(*owner));
  return Bytes(std::move(owner), bytes.data(), bytes.size());
}

}  // namespace

Bytes Bytes::copy(std::span<const std::byte> bytes) { return keep(std::vector<std::byte>(bytes.begin(), bytes.end())); }
Bytes Bytes::own(std::vector<std::byte> bytes) { return keep(std::move(bytes)); }
Bytes Bytes::own(std::string bytes) { return keep(std::move(bytes)); }

Bytes Bytes::slice(std::size_t offset, std::size_t size) const {
  if (offset > size_ || size > size_ - offset)
    throw Error(Code::out_of_bounds, fmt::format("{} bytes at offset {} are not inside {} bytes", size, offset, size_));
  return Bytes(owner_, size_ == 0 ? data_ : data_ + offset, size);
}

}  // namespace ingot
