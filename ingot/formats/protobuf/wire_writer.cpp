// Writing the protobuf wire format in two passes.
#include "ingot/formats/protobuf/wire_writer.h"

#include <fmt/format.h>

#include "ingot/base/error.h"

namespace ingot::formats::protobuf {
namespace {

template <class T> std::span<const std::byte> bytes_of_number(const T& value) {
  static_assert(std::endian::native == std::endian::little);
  return std::as_bytes(std::span(&value, 1));
}

[[noreturn]] void throw_passes_differ() {
  throw Error(Code::internal, "a message was written in another way than it was measured");
}

}  // namespace

void Writer::put_varint(std::uint64_t value) {
  if (measuring()) {
    position_ += varint_size(value);
    return;
  }
  // Straight into the buffer: models of trees are lists of tens of millions of numbers.
  constexpr std::size_t kMost = 10;
  if (buffer_.size() + kMost > kBufferSize) flush();
  const std::size_t before = buffer_.size();
  for (; value >= 0x80; value >>= 7) buffer_.push_back(static_cast<std::byte>(value | 0x80));
  buffer_.push_back(static_cast<std::byte>(value));
  position_ += buffer_.size() - before;
}

void Writer::put(std::span<const std::byte> bytes) {
  position_ += bytes.size();
  if (measuring()) return;
  const bool large = bytes.size() >= kBufferSize / 2;
  if (large || buffer_.size() + bytes.size() > kBufferSize) flush();
  if (large)
    sink_->write(bytes);
  else
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void Writer::flush() {
  if (!buffer_.empty()) sink_->write(buffer_);
  buffer_.clear();
}

void Writer::fixed_float(std::uint32_t field, float value) {
  tag(field, WireType::fixed32);
  put(bytes_of_number(value));
}

void Writer::fixed_double(std::uint32_t field, double value) {
  tag(field, WireType::fixed64);
  put(bytes_of_number(value));
}

void Writer::bytes(std::uint32_t field, std::span<const std::byte> value) {
  tag(field, WireType::length);
  put_varint(value.size());
  put(value);
}

Writer::Nested Writer::open(std::uint32_t field) {
  if (++depth_ >= kMaxDepth)
    throw Error(Code::too_deep, fmt::format("messages are nested deeper than {}, which no reader accepts", kMaxDepth));
  tag(field, WireType::length);
  if (measuring()) {
    sizes_.push_back(0);
    return {sizes_.size() - 1, position_};
  }
  if (next_size_ == sizes_.size()) throw_passes_differ();
  put_varint(sizes_[next_size_]);
  return {next_size_++, position_};
}

void Writer::close(const Nested& nested) {
  --depth_;
  const std::uint64_t size = position_ - nested.start;
  if (measuring()) {
    sizes_[nested.index] = size;
    position_ += varint_size(size);
  } else if (size != sizes_[nested.index]) {
    throw_passes_differ();
  }
}

void Writer::finish(std::uint64_t measured) {
  if (position_ != measured || next_size_ != sizes_.size()) throw_passes_differ();
  flush();
}

void Writer::packed(std::uint32_t field, std::span<const std::int64_t> values) {
  message(field, [&] {
    for (const std::int64_t value : values) put_varint(static_cast<std::uint64_t>(value));
  });
}

void Writer::packed(std::uint32_t field, std::span<const std::int32_t> values) {
  message(field, [&] {
    for (const std::int64_t value : values) put_varint(static_cast<std::uint64_t>(value));
  });
}

void Writer::packed(std::uint32_t field, std::span<const std::uint64_t> values) {
  message(field, [&] {
    for (const std::uint64_t value : values) put_varint(value);
  });
}

void Writer::packed(std::uint32_t field, std::span<const float> values) { bytes(field, std::as_bytes(values)); }
void Writer::packed(std::uint32_t field, std::span<const double> values) { bytes(field, std::as_bytes(values)); }

}  // namespace ingot::formats::protobuf
