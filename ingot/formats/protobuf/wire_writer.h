#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/base/sink.h"
#include "ingot/formats/protobuf/wire_type.h"

namespace ingot::formats::protobuf {

/// Writes fields. A message is written by a function that is called twice, first to measure, then to write, and must do
/// the same both times; so the length of every nested message is computed once and nothing is copied to be moved:
///
///   void write(Writer& w, const Tensor& t) {
///     w.packed(1, t.dims);
///     w.string(8, t.name);
///     w.bytes(9, t.data);
///   }
///   write_message(file, [&](Writer& w) {
///     for (const Tensor& t : tensors) w.message(5, [&] { write(w, t); });
///   });
///
/// Lengths have 64 bits. Fields appear in the order of the calls.
class Writer {
 public:
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void varint(std::uint32_t field, std::uint64_t value) {
    tag(field, WireType::varint);
    put_varint(value);
  }
  void int64(std::uint32_t field, std::int64_t value) { varint(field, static_cast<std::uint64_t>(value)); }
  /// Negative numbers take ten bytes, as protobuf wants it.
  void int32(std::uint32_t field, std::int32_t value) { int64(field, value); }
  void boolean(std::uint32_t field, bool value) { varint(field, value ? 1 : 0); }
  void fixed_float(std::uint32_t field, float value);
  void fixed_double(std::uint32_t field, double value);
  /// Written straight from where the bytes are.
  void bytes(std::uint32_t field, std::span<const std::byte> value);
  void bytes(std::uint32_t field, const Bytes& value) { bytes(field, value.span()); }
  void string(std::uint32_t field, std::string_view value) { bytes(field, bytes_of(value)); }

  /// A nested message whose fields `fill` writes to this Writer.
  template <class Fill> void message(std::uint32_t field, Fill&& fill) {
    const Nested nested = open(field);
    fill();
    close(nested);
  }

  // Repeated numbers as one packed field; an empty run is written as an empty field.
  void packed(std::uint32_t field, std::span<const std::int64_t> values);
  void packed(std::uint32_t field, std::span<const std::int32_t> values);
  void packed(std::uint32_t field, std::span<const std::uint64_t> values);
  void packed(std::uint32_t field, std::span<const float> values);
  void packed(std::uint32_t field, std::span<const double> values);

  /// A field as Reader::raw_field() gave it.
  void raw_field(const Bytes& field) { put(field.span()); }

 private:
  template <class Fill> friend std::uint64_t message_size(Fill&& fill);
  template <class Fill> friend void write_message(Sink& sink, Fill&& fill);

  struct Nested {
    std::size_t index;    // in sizes_
    std::uint64_t start;  // position_ of the first byte inside
  };

  Writer() = default;
  /// The second pass, with the sizes that the first has found.
  Writer(Sink& sink, std::vector<std::uint64_t> sizes) : sink_(&sink), sizes_(std::move(sizes)) {
    buffer_.reserve(kBufferSize);
  }

  Nested open(std::uint32_t field);
  void close(const Nested& nested);
  /// Sends the rest to the sink; throws if another number of bytes was written than measured.
  void finish(std::uint64_t measured);
  void tag(std::uint32_t field, WireType type) {
    put_varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
  }
  void put_varint(std::uint64_t value);
  void put(std::span<const std::byte> bytes);
  void flush();
  bool measuring() const { return sink_ == nullptr; }

  static constexpr std::size_t kBufferSize = std::size_t{64} << 10;

  Sink* sink_ = nullptr;              // none: measuring
  std::uint64_t position_ = 0;        // bytes so far; while measuring without the lengths of open messages
  std::vector<std::uint64_t> sizes_;  // of nested messages, in the order in which they open
  std::size_t next_size_ = 0;
  int depth_ = 0;  // of open messages
  std::vector<std::byte> buffer_;
};

/// How many bytes `fill` writes.
template <class Fill> std::uint64_t message_size(Fill&& fill) {
  Writer measure;
  fill(measure);
  return measure.position_;
}

/// Writes one message to `sink`; see Writer.
template <class Fill> void write_message(Sink& sink, Fill&& fill) {
  Writer measure;
  fill(measure);
  Writer write(sink, std::move(measure.sizes_));
  fill(write);
  write.finish(measure.position_);
}

/// The message as a string.
template <class Fill> std::string serialize(Fill&& fill) {
  StringSink sink;
  write_message(sink, fill);
  return sink.take();
}

}  // namespace ingot::formats::protobuf
