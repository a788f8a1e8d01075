// FlexBuffers <-> FlexValue.
#include "ingot/formats/tflite/flexbuffer.h"

#include <flatbuffers/flexbuffers.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "ingot/base/error.h"

namespace ingot::formats::tflite {
namespace {

constexpr int kMostDepth = 32;

/// Values may be shared, so that few bytes can hold a huge tree: what is copied is counted.
class Decoder {
 public:
  explicit Decoder(std::string_view buffer) : buffer_(buffer), left_(4096 + 16 * buffer.size()) {}

  FlexValue value(const flexbuffers::Reference& source, int depth) {
    spend(1);
    if (depth > kMostDepth) throw Error(Code::bad_options, "a FlexBuffer is nested too deeply");
    if (source.IsNull()) return {};
    if (source.IsBool()) return {source.AsBool()};
    if (source.IsUInt()) return {std::uint64_t{source.AsUInt64()}};
    if (source.IsInt()) return {std::int64_t{source.AsInt64()}};
    if (source.IsFloat()) return {source.AsDouble()};
    if (source.IsKey()) return {text(source.AsKey())};
    if (source.IsString()) {
      const flexbuffers::String string = source.AsString();
      spend(string.length());
      return {std::string(string.c_str(), string.length())};
    }
    if (source.IsBlob()) {
      const flexbuffers::Blob blob = source.AsBlob();
      spend(blob.size());
      return {FlexValue::Blob{{reinterpret_cast<const char*>(blob.data()), blob.size()}}};
    }
    if (source.IsMap()) return map(source.AsMap(), depth);
    if (source.IsFixedTypedVector()) return list(source.AsFixedTypedVector(), depth);
    if (source.IsTypedVector()) return list(source.AsTypedVector(), depth);
    if (source.IsVector()) return list(source.AsVector(), depth);
    throw Error(Code::bad_options,
                fmt::format("a FlexBuffer has a value of unknown kind {}", static_cast<int>(source.GetType())));
  }

 private:
  void spend(std::size_t amount) {
    if (amount > left_) throw Error(Code::memory_limit, "a FlexBuffer shares its parts so often that it is too large");
    left_ -= amount;
  }

  /// The library's verifier takes any byte but zero for the end of a key.
  std::string text(const char* key) {
    const auto begin = static_cast<std::size_t>(key - buffer_.data());
    const std::size_t end = begin < buffer_.size() ? buffer_.find('\0', begin) : buffer_.npos;
    if (end == buffer_.npos) throw Error(Code::bad_options, "a FlexBuffer has a key without an end");
    spend(end - begin);
    return std::string(buffer_.substr(begin, end - begin));
  }

  template <class Vector> FlexValue list(const Vector& source, int depth) {
    spend(source.size());
    FlexValue::List items;
    items.reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) items.push_back(value(source[i], depth + 1));
    return {std::move(items)};
  }

  FlexValue map(const flexbuffers::Map& source, int depth) {
    const flexbuffers::TypedVector keys = source.Keys();
    const flexbuffers::Vector values = source.Values();
    if (keys.size() != values.size())
      throw Error(Code::bad_options, "a FlexBuffer has a map whose keys and values differ in number");
    spend(values.size());
    FlexValue::Map members;
    members.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      members.push_back({text(keys[i].AsKey()), value(values[i], depth + 1)});
    std::ranges::stable_sort(members, {}, &FlexValue::Member::key);
    return {std::move(members)};
  }

  std::string_view buffer_;
  std::size_t left_;
};

class Encoder {
 public:
  Bytes bytes(const FlexValue& value) {
    add(value, 0);
    builder_.Finish();
    return Bytes::copy(std::as_bytes(std::span(builder_.GetBuffer())));
  }

 private:
  void add(const FlexValue& source, int depth) {
    if (depth > kMostDepth) throw Error(Code::not_writable, "a FlexBuffer would be nested too deeply");
    std::visit([&](const auto& value) { add(value, depth); }, source.value);
  }
  void add(std::monostate, int) { builder_.Null(); }
  void add(bool value, int) { builder_.Bool(value); }
  void add(std::int64_t value, int) { builder_.Int(value); }
  void add(std::uint64_t value, int) { builder_.UInt(value); }
  void add(double value, int) {
    // Single precision where that is exact: readers of options look for floats.
    const auto single = static_cast<float>(value);
    if (static_cast<double>(single) == value || std::isnan(value))
      builder_.Float(single);
    else
      builder_.Double(value);
  }
  void add(const std::string& value, int) { builder_.String(value); }
  void add(const FlexValue::Blob& value, int) { builder_.Blob(value.bytes.data(), value.bytes.size()); }
  void add(const FlexValue::List& list, int depth) {
    const std::size_t begin = builder_.StartVector();
    for (const FlexValue& item : list) add(item, depth + 1);
    builder_.EndVector(begin, false, false);
  }
  void add(const FlexValue::Map& map, int depth) {
    const std::size_t begin = builder_.StartMap();
    for (const auto& [key, value] : map) {
      builder_.Key(key);
      add(value, depth + 1);
    }
    builder_.EndMap(begin);
  }

  flexbuffers::Builder builder_;
};

/// The number that a value is, if it is one.
std::optional<double> as_number(const FlexValue& source) {
  if (const auto* b = std::get_if<bool>(&source.value)) return *b;
  if (const auto* i = std::get_if<std::int64_t>(&source.value)) return static_cast<double>(*i);
  if (const auto* u = std::get_if<std::uint64_t>(&source.value)) return static_cast<double>(*u);
  if (const auto* d = std::get_if<double>(&source.value)) return *d;
  return std::nullopt;
}

}  // namespace

const FlexValue* FlexValue::find(std::string_view key) const {
  const Map* map = std::get_if<Map>(&value);
  if (!map) return nullptr;
  const auto found = std::ranges::find(*map, key, &Member::key);
  return found == map->end() ? nullptr : &found->value;
}

bool FlexValue::operator==(const FlexValue& other) const { return value == other.value; }

double FlexValue::number(double otherwise) const { return as_number(*this).value_or(otherwise); }

std::int64_t FlexValue::integer(std::int64_t otherwise) const {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return *i;
  const std::optional<double> number = as_number(*this);
  return number && std::abs(*number) < 9e15 && std::trunc(*number) == *number ? static_cast<std::int64_t>(*number)
                                                                              : otherwise;
}

bool FlexValue::boolean(bool otherwise) const {
  const std::optional<double> number = as_number(*this);
  return number ? *number != 0 : otherwise;
}

std::string_view FlexValue::text(std::string_view otherwise) const {
  const auto* found = std::get_if<std::string>(&value);
  return found ? std::string_view(*found) : otherwise;
}

FlexValue read_flexbuffer(const Bytes& bytes) {
  if (bytes.empty()) return {};
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  constexpr std::size_t kLargest = std::size_t{1} << 30;
  std::vector<std::uint8_t> seen;
  if (bytes.size() > kLargest || !flexbuffers::VerifyBuffer(data, bytes.size(), &seen))
    throw Error(Code::bad_options, "the custom options are no FlexBuffer or a damaged one");
  return Decoder(bytes.text()).value(flexbuffers::GetRoot(data, bytes.size()), 0);
}

Bytes write_flexbuffer(const FlexValue& value) { return Encoder().bytes(value); }

}  // namespace ingot::formats::tflite
