// ByteReader: the less frequent and the failing ways.
#include "ingot/base/byte_reader.h"

#include <fmt/format.h>

#include "ingot/base/error.h"

namespace ingot {

void ByteReader::throw_truncated(std::uint64_t count) const {
  throw Error(Code::truncated, fmt::format("the data ends at byte {}: {} bytes are needed at byte {}",
                                           file_offset_ + data_.size(), count, offset()));
}

void ByteReader::seek(std::uint64_t position) {
  if (position > data_.size())
    throw Error(Code::out_of_bounds,
                fmt::format("position {} lies beyond the end of {} bytes", position, data_.size()));
  position_ = static_cast<std::size_t>(position);
}

std::uint64_t ByteReader::long_varint() {
  const std::size_t start = offset();
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint64_t byte = u8();
    if (shift == 63 && byte > 1)  // the tenth byte holds one bit and must be the last
      throw Error(Code::bad_varint, fmt::format("the number at byte {} has more than 64 bits", start));
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

}  // namespace ingot
