#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/formats/protobuf/wire_type.h"

namespace ingot {
class ByteReader;
}

namespace ingot::formats::protobuf {

/// Walks the fields of one message:
///
///   for (Reader r(bytes); r.next();)
///     switch (r.field()) {
///       case 1: name = r.string(); break;
///       case 2: r.ints(dims); break;
///       case 3: read_shape(r.message()); break;
///       default: unknown.push_back(r.raw_field());
///     }
///
/// The input is taken to be hostile: lengths have 64 bits and are checked against the message, a field read as another
/// wire type than it has is an error, nesting is limited, groups are skipped without recursion. next() has checked the
/// whole field, so a field that nobody asks for is skipped. Errors name the byte offset in the file.
class Reader {
 public:
  /// `file_offset`: where the message begins in its file, for messages of errors.
  explicit Reader(Bytes message, std::size_t file_offset = 0)
      : message_(std::move(message)), file_offset_(file_offset) {}

  /// Goes to the next field; false at the end of the message.
  bool next();

  std::uint32_t field() const { return field_; }
  WireType type() const { return type_; }

  std::uint64_t varint() const {
    expect(WireType::varint);
    return value_;
  }
  std::int64_t int64() const { return static_cast<std::int64_t>(varint()); }
  /// Throws if the number has more than 32 bits, which protobuf itself would cut off.
  std::int32_t int32() const;
  bool boolean() const { return varint() != 0; }
  float fixed_float() const;
  double fixed_double() const;
  /// A length-delimited payload; shares the file's bytes.
  Bytes bytes() const;
  std::string string() const { return std::string(text()); }
  /// As string(), but a view into the file.
  std::string_view text() const;
  Reader message() const;

  // Repeated numbers, appended: one of them or a packed run, since writers differ.
  void ints(std::vector<std::int64_t>& out) const;
  void int32s(std::vector<std::int32_t>& out) const;
  void uint64s(std::vector<std::uint64_t>& out) const;
  void floats(std::vector<float>& out) const;
  void doubles(std::vector<double>& out) const;

  /// The field as it stands in the file, tag and all: what is kept of a field that nobody knows.
  Bytes raw_field() const;
  /// For readers that want to say that they leave a field out.
  void skip() const {}

  /// Where the field begins in the file.
  std::size_t offset() const { return file_offset_ + field_start_; }

 private:
  void expect(WireType type) const {
    if (type_ != type) throw_wrong_type(type);
  }
  [[noreturn]] void throw_wrong_type(WireType expected) const;
  void skip_group(ByteReader& in) const;
  template <class T, class Convert> void append_varints(std::vector<T>& out, Convert convert) const;
  template <class T> void append_fixed(std::vector<T>& out, WireType single) const;
  const std::byte* payload() const { return message_.data() + payload_start_; }

  Bytes message_;
  std::size_t file_offset_;
  int depth_ = 0;
  std::size_t field_start_ = 0;    // of the tag
  std::size_t payload_start_ = 0;  // after the tag and the length
  std::size_t field_end_ = 0;      // where the next field begins
  std::uint32_t field_ = 0;
  WireType type_ = WireType::varint;
  std::uint64_t value_ = 0;  // of a varint
};

}  // namespace ingot::formats::protobuf
