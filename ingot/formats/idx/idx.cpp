// idx: two zero bytes, a type, a rank, big-endian sizes, big-endian elements.
#include "ingot/formats/idx/idx.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"

namespace ingot::formats::idx {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 33;  // an unpacked file beyond this is refused

[[noreturn]] void refuse(const std::string& message) { throw Error(Code::bad_array_file, message); }

unsigned char byte_at(const Bytes& file, std::size_t i) { return static_cast<unsigned char>(file.data()[i]); }

bool is_gzip(const Bytes& file) { return file.size() >= 2 && byte_at(file, 0) == 0x1f && byte_at(file, 1) == 0x8b; }

Bytes unpacked(const Bytes& file) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) refuse("gzip cannot be started");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ends(&stream, &inflateEnd);
  std::vector<std::byte> out;
  std::array<unsigned char, 1 << 16> buffer;
  std::size_t at = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    if (stream.avail_in == 0) {
      const std::size_t part = std::min<std::size_t>(file.size() - at, 1 << 30);
      stream.next_in = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(file.data() + at));
      stream.avail_in = static_cast<unsigned>(part);
      at += part;
    }
    stream.next_out = buffer.data();
    stream.avail_out = static_cast<unsigned>(buffer.size());
    state = inflate(&stream, Z_NO_FLUSH);
    const auto* made = reinterpret_cast<const std::byte*>(buffer.data());
    out.insert(out.end(), made, made + (buffer.size() - stream.avail_out));
    if (out.size() > kMostBytes) break;
    // Growing a vector takes up to twice its size for a moment.
    current_budget().poll();
    const Budget::MemoryGuard fits(current_budget(), out.size());
  }
  if (state != Z_STREAM_END) refuse("the gzip data is damaged, cut off or too large");
  return Bytes::own(std::move(out));
}

DType type_of(unsigned char code) {
  switch (code) {
    case 0x08:
      return DType::u8;
    case 0x09:
      return DType::i8;
    case 0x0b:
      return DType::i16;
    case 0x0c:
      return DType::i32;
    case 0x0d:
      return DType::f32;
    case 0x0e:
      return DType::f64;
    default:
      refuse("there is no element type " + std::to_string(code));
  }
}

}  // namespace

bool looks_like_idx(const Bytes& file) {
  if (is_gzip(file)) return true;
  return file.size() >= 4 && byte_at(file, 0) == 0 && byte_at(file, 1) == 0 && byte_at(file, 2) >= 0x08 &&
         byte_at(file, 2) <= 0x0e && byte_at(file, 3) > 0;
}

IdxArray read(const Bytes& packed) {
  const Bytes file = is_gzip(packed) ? unpacked(packed) : packed;
  if (file.size() < 4 || byte_at(file, 0) != 0 || byte_at(file, 1) != 0) refuse("this is no idx file");
  IdxArray array;
  array.dtype = type_of(byte_at(file, 2));
  const std::size_t rank = byte_at(file, 3), header = 4 + 4 * rank;
  if (file.size() < header) refuse("the file ends in its header");
  const std::size_t width = array.dtype == DType::f64                                ? 8
                            : array.dtype == DType::i32 || array.dtype == DType::f32 ? 4
                            : array.dtype == DType::i16                              ? 2
                                                                                     : 1;
  const std::uint64_t room = (file.size() - header) / width;
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    std::uint64_t size = 0;
    for (std::size_t k = 0; k < 4; ++k) size = size << 8 | byte_at(file, 4 + 4 * i + k);
    array.dims.push_back(static_cast<std::int64_t>(size));
    if (size && count > room / size) refuse("the header says more elements than the file has");
    count *= size;
  }
  if (count * width != file.size() - header) refuse("the file has more elements than its header says");
  array.data = file.slice(header, file.size() - header);
  if (width > 1) {
    std::vector<std::byte> swapped(array.data.span().begin(), array.data.span().end());
    for (std::size_t i = 0; i < swapped.size(); i += width)
      std::reverse(swapped.begin() + static_cast<std::ptrdiff_t>(i),
                   swapped.begin() + static_cast<std::ptrdiff_t>(i + width));
    array.data = Bytes::own(std::move(swapped));
  }
  return array;
}

}  // namespace ingot::formats::idx
