#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

/// A read-only view of bytes that keeps what it points into alive: a mapped file, a heap block. Copying shares.
class Bytes {
 public:
  Bytes() = default;
  /// `owner` keeps `data` valid.
  Bytes(std::shared_ptr<const void> owner, const std::byte* data, std::size_t size)
      : owner_(std::move(owner)), data_(data), size_(size) {}

  static Bytes copy(std::span<const std::byte> bytes);
  static Bytes own(std::vector<std::byte> bytes);
  static Bytes own(std::string bytes);

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<const std::byte> span() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

  /// The part [offset, offset + size); throws Error if it is not inside.
  Bytes slice(std::size_t offset, std::size_t size) const;

  /// The same content, wherever it lies.
  friend bool operator==(const Bytes& a, const Bytes& b) { return a.text() == b.text(); }

 private:
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The bytes of a text, to write or hash it.
inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace ingot
