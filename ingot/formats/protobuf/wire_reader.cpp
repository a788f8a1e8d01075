// Reading the protobuf wire format from hostile bytes.
#include "ingot/formats/protobuf/wire_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ingot/base/byte_reader.h"
#include "ingot/base/error.h"

namespace ingot::formats::protobuf {
namespace {

struct Tag {
  std::uint32_t field;
  WireType type;
};

Tag read_tag(ByteReader& in) {
  const std::size_t at = in.offset();
  const std::uint64_t tag = in.varint();
  const std::uint64_t field = tag >> 3;
  if (field == 0 || field > kMaxField)
    throw Error(Code::bad_field_number,
                fmt::format("field number {} at byte {} is not between 1 and {}", field, at, kMaxField));
  const auto type = static_cast<unsigned>(tag & 7);
  if (type > static_cast<unsigned>(WireType::fixed32))
    throw Error(Code::bad_wire_type,
                fmt::format("field {} at byte {} has wire type {}, which does not exist", field, at, type));
  return {static_cast<std::uint32_t>(field), static_cast<WireType>(type)};
}

std::size_t read_length(ByteReader& in, std::uint32_t field) {
  const std::size_t at = in.offset();
  const std::uint64_t length = in.varint();
  if (length > in.remaining())
    throw Error(Code::length_beyond_end, fmt::format("field {} at byte {} has {} bytes, but its message ends after {}",
                                                     field, at, length, in.remaining()));
  return static_cast<std::size_t>(length);
}

std::string_view name_of(WireType type) {
  constexpr std::string_view kNames[] = {"varint", "fixed64", "length", "group", "end of group", "fixed32"};
  return kNames[static_cast<std::size_t>(type)];
}

std::int32_t to_int32(std::uint64_t value, std::size_t offset) {
  const auto number = static_cast<std::int64_t>(value);
  if (number < INT32_MIN || number > static_cast<std::int64_t>(UINT32_MAX))
    throw Error(Code::overflow, fmt::format("the number {} at byte {} has more than 32 bits", number, offset));
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

}  // namespace

bool Reader::next() {
  if (field_end_ == message_.size()) return false;
  field_start_ = field_end_;
  const auto rest = message_.span().subspan(field_start_);
  ByteReader in(rest, offset());
  const Tag tag = read_tag(in);
  field_ = tag.field;
  type_ = tag.type;
  payload_start_ = field_start_ + in.position();
  switch (type_) {
    case WireType::varint:
      value_ = in.varint();
      break;
    case WireType::fixed64:
      in.skip(8);
      break;
    case WireType::fixed32:
      in.skip(4);
      break;
    case WireType::length: {
      const std::size_t length = read_length(in, field_);
      payload_start_ = field_start_ + in.position();
      in.skip(length);
      break;
    }
    case WireType::start_group:
      skip_group(in);
      break;
    case WireType::end_group:
      throw Error(Code::unmatched_group, fmt::format("group {} ends at byte {} but has not begun", field_, offset()));
  }
  field_end_ = field_start_ + in.position();
  return true;
}

void Reader::skip_group(ByteReader& in) const {
  std::vector<std::uint32_t> open = {field_};
  while (!open.empty()) {
    const std::size_t at = in.offset();
    if (in.at_end())
      throw Error(Code::unmatched_group, fmt::format("group {} at byte {} does not end", open.front(), offset()));
    const Tag tag = read_tag(in);
    switch (tag.type) {
      case WireType::varint:
        (void)in.varint();
        break;
      case WireType::fixed64:
        in.skip(8);
        break;
      case WireType::fixed32:
        in.skip(4);
        break;
      case WireType::length:
        in.skip(read_length(in, tag.field));
        break;
      case WireType::start_group:
        if (depth_ + static_cast<int>(open.size()) >= kMaxDepth)
          throw Error(Code::too_deep, fmt::format("groups are nested deeper than {} at byte {}", kMaxDepth, at));
        open.push_back(tag.field);
        break;
      case WireType::end_group:
        if (tag.field != open.back())
          throw Error(Code::unmatched_group,
                      fmt::format("group {} ends at byte {}, but group {} is open", tag.field, at, open.back()));
        open.pop_back();
        break;
    }
  }
}

std::int32_t Reader::int32() const { return to_int32(varint(), offset()); }

float Reader::fixed_float() const {
  expect(WireType::fixed32);
  float value;
  std::memcpy(&value, payload(), sizeof(value));
  return value;
}

double Reader::fixed_double() const {
  expect(WireType::fixed64);
  double value;
  std::memcpy(&value, payload(), sizeof(value));
  return value;
}

Bytes Reader::bytes() const {
  expect(WireType::length);
  return message_.slice(payload_start_, field_end_ - payload_start_);
}

std::string_view Reader::text() const {
  expect(WireType::length);
  return message_.text().substr(payload_start_, field_end_ - payload_start_);
}

Reader Reader::message() const {
  if (depth_ + 1 >= kMaxDepth)
    throw Error(Code::too_deep, fmt::format("messages are nested deeper than {} at byte {}", kMaxDepth, offset()));
  Reader inner(bytes(), file_offset_ + payload_start_);
  inner.depth_ = depth_ + 1;
  return inner;
}

Bytes Reader::raw_field() const { return message_.slice(field_start_, field_end_ - field_start_); }

template <class T, class Convert> void Reader::append_varints(std::vector<T>& out, Convert convert) const {
  if (type_ == WireType::varint) {
    out.push_back(convert(value_, offset()));
    return;
  }
  const Bytes run = bytes();
  const auto ends =
      std::ranges::count_if(run.span(), [](std::byte b) { return (b & std::byte{0x80}) == std::byte{0}; });
  out.reserve(out.size() + static_cast<std::size_t>(ends));
  ByteReader in(run.span(), file_offset_ + payload_start_);
  while (!in.at_end()) {
    const std::size_t at = in.offset();
    out.push_back(convert(in.varint(), at));
  }
}

void Reader::ints(std::vector<std::int64_t>& out) const {
  append_varints(out, [](std::uint64_t value, std::size_t) { return static_cast<std::int64_t>(value); });
}

void Reader::int32s(std::vector<std::int32_t>& out) const { append_varints(out, to_int32); }

void Reader::uint64s(std::vector<std::uint64_t>& out) const {
  append_varints(out, [](std::uint64_t value, std::size_t) { return value; });
}

template <class T> void Reader::append_fixed(std::vector<T>& out, WireType single) const {
  if (type_ != single) expect(WireType::length);
  const std::size_t size = field_end_ - payload_start_;
  if (size % sizeof(T) != 0)
    throw Error(Code::truncated, fmt::format("field {} at byte {} has {} bytes, which is not a multiple of {}", field_,
                                             offset(), size, sizeof(T)));
  if (size == 0) return;
  const std::size_t before = out.size();
  out.resize(before + size / sizeof(T));
  std::memcpy(out.data() + before, payload(), size);
}

void Reader::floats(std::vector<float>& out) const { append_fixed(out, WireType::fixed32); }
void Reader::doubles(std::vector<double>& out) const { append_fixed(out, WireType::fixed64); }

void Reader::throw_wrong_type(WireType expected) const {
  throw Error(Code::bad_wire_type, fmt::format("field {} at byte {} has wire type {} instead of {}", field_, offset(),
                                               name_of(type_), name_of(expected)));
}

}  // namespace ingot::formats::protobuf
