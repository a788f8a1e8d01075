#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ingot {

/// Reads little-endian numbers and runs of bytes one after the other and never beyond the end. Errors name the byte
/// offset: `file_offset` is where `data` begins in its file.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> data, std::size_t file_offset = 0)
      : data_(data), file_offset_(file_offset) {}

  std::uint8_t u8() { return read<std::uint8_t>(); }
  std::uint16_t u16() { return read<std::uint16_t>(); }
  std::uint32_t u32() { return read<std::uint32_t>(); }
  std::uint64_t u64() { return read<std::uint64_t>(); }
  std::int8_t i8() { return read<std::int8_t>(); }
  std::int16_t i16() { return read<std::int16_t>(); }
  std::int32_t i32() { return read<std::int32_t>(); }
  std::int64_t i64() { return read<std::int64_t>(); }
  float f32() { return read<float>(); }
  double f64() { return read<double>(); }

  /// A base-128 number as protobuf and others write it: at most ten bytes and 64 bits.
  std::uint64_t varint() {
    if (position_ < data_.size() && static_cast<std::uint8_t>(data_[position_]) < 0x80)
      return static_cast<std::uint8_t>(data_[position_++]);
    return long_varint();
  }

  std::span<const std::byte> bytes(std::uint64_t count) {
    need(count);
    const auto run = data_.subspan(position_, static_cast<std::size_t>(count));
    position_ += run.size();
    return run;
  }
  void skip(std::uint64_t count) { (void)bytes(count); }
  /// To a position within the data; the end is one.
  void seek(std::uint64_t position);

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return data_.size() - position_; }
  bool at_end() const { return position_ == data_.size(); }
  /// The position in the file, for messages.
  std::size_t offset() const { return file_offset_ + position_; }

 private:
  template <class T> T read() {
    static_assert(std::endian::native == std::endian::little);
    need(sizeof(T));
    T value;
    std::memcpy(&value, data_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }
  void need(std::uint64_t count) const {
    if (count > remaining()) throw_truncated(count);
  }
  [[noreturn]] void throw_truncated(std::uint64_t count) const;
  std::uint64_t long_varint();

  std::span<const std::byte> data_;
  std::size_t position_ = 0;
  std::size_t file_offset_;
};

}  // namespace ingot
