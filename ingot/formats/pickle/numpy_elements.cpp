// The elements of arrays as numbers and texts, in whatever order and byte order they lie.
#include "ingot/formats/pickle/numpy_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/utf8.h"

namespace ingot::formats::pickle {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(Code::bad_pickle, "an array of the pickle " + why); }

template <class T> T load(const std::byte* at, bool is_big) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, at, sizeof(T));
  if (is_big) std::reverse(std::begin(bytes), std::end(bytes));
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023, sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

constexpr std::size_t kPiece = std::size_t{4} << 20;  // bytes after which memory is given back

/// Where the elements of an array in Fortran order, one after the other as they lie, stand in C order.
class TurnedPlaces {
 public:
  explicit TurnedPlaces(const std::vector<std::int64_t>& dims) : dims_(dims), steps_(dims.size()), at_(dims.size()) {
    std::size_t step = 1;
    for (std::size_t i = dims.size(); i-- > 0;) {
      steps_[i] = step;
      step *= static_cast<std::size_t>(dims[i]);
    }
  }
  std::size_t next() {
    const std::size_t place = place_;
    for (std::size_t axis = 0; axis < dims_.size(); ++axis) {
      place_ += steps_[axis];
      if (++at_[axis] < static_cast<std::size_t>(dims_[axis])) break;
      place_ -= at_[axis] * steps_[axis];
      at_[axis] = 0;
    }
    return place;
  }

 private:
  const std::vector<std::int64_t>& dims_;
  std::vector<std::size_t> steps_, at_;
  std::size_t place_ = 0;
};

/// `visit(i, place)` of each element in the order in which they lie: the i-th stands at `place` in C order. Gives back
/// the memory of what was visited, so that an array in a file is not there twice.
template <class Visit> void for_each_element(const Array& array, const Visit& visit) {
  const auto count = static_cast<std::size_t>(array.size());
  const std::size_t size = std::max<std::size_t>(1, static_cast<std::size_t>(array.dtype.size));
  const std::size_t piece = std::max<std::size_t>(1, kPiece / size);
  const bool is_turned = array.is_fortran && array.dims.size() > 1;
  TurnedPlaces places(array.dims);
  for (std::size_t begin = 0; begin < count; begin += piece) {
    const std::size_t end = begin + std::min(piece, count - begin);
    for (std::size_t i = begin; i < end; ++i) visit(i, is_turned ? places.next() : i);
    if (count > piece && !array.data.empty()) drop_pages(array.data.slice(begin * size, (end - begin) * size));
  }
}

template <class Result, class Read> std::vector<Result> elements(const Array& array, const Read& read) {
  if (array.data.size() > kPiece) drop_pages(array.data);
  std::vector<Result> values(static_cast<std::size_t>(array.size()));
  for_each_element(array, [&](std::size_t i, std::size_t place) { values[place] = read(i); });
  return values;
}

}  // namespace

double element(const Dtype& type, const std::byte* at) {
  const bool big = type.is_big_endian;
  switch (type.size > 8 ? 0 : type.kind * 16 + static_cast<int>(type.size)) {
    case 'f' * 16 + 8:
      return load<double>(at, big);
    case 'f' * 16 + 4:
      return load<float>(at, big);
    case 'f' * 16 + 2:
      return half(load<std::uint16_t>(at, big));
    case 'i' * 16 + 8:
      return static_cast<double>(load<std::int64_t>(at, big));
    case 'i' * 16 + 4:
      return load<std::int32_t>(at, big);
    case 'i' * 16 + 2:
      return load<std::int16_t>(at, big);
    case 'i' * 16 + 1:
      return load<std::int8_t>(at, big);
    case 'u' * 16 + 8:
      return static_cast<double>(load<std::uint64_t>(at, big));
    case 'u' * 16 + 4:
      return load<std::uint32_t>(at, big);
    case 'u' * 16 + 2:
      return load<std::uint16_t>(at, big);
    case 'u' * 16 + 1:
    case 'b' * 16 + 1:
      return load<std::uint8_t>(at, big);
    default:
      refuse("holds '" + type.name() + "' where numbers are expected");
  }
}

std::string text_element(const Dtype& type, const std::byte* at) {
  std::string text;
  if (type.kind == 'S') {
    text.assign(reinterpret_cast<const char*>(at), type.size);
    text.erase(text.find_last_not_of('\0') + 1);
    return text;
  }
  std::size_t count = type.size / 4;
  while (count > 0 && load<std::uint32_t>(at + 4 * (count - 1), false) == 0) --count;
  for (std::size_t i = 0; i < count; ++i) {
    const auto code = load<std::uint32_t>(at + 4 * i, type.is_big_endian);
    append_utf8(text, code > 0x10ffff ? U'\xfffd' : static_cast<char32_t>(code));
  }
  return text;
}

namespace {

std::int64_t integer_element(const Dtype& type, const std::byte* at) {
  if (type.kind == 'i' && type.size == 8) return load<std::int64_t>(at, type.is_big_endian);
  if (type.kind == 'u' && type.size == 8)
    return std::bit_cast<std::int64_t>(load<std::uint64_t>(at, type.is_big_endian));
  const double value = element(type, at);
  if (!(std::abs(value) < 9e18)) refuse("holds no whole numbers");
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::vector<double> to_doubles(const Document& document, const Array& array) {
  const std::byte* data = array.data.data();
  const std::size_t step = array.dtype.size;
  if (array.dtype.kind == 'O')
    return elements<double>(array, [&](std::size_t i) {
      const auto number = number_of(document, *array.objects[i]);
      if (!number && array.objects[i]->is_none()) return std::numeric_limits<double>::quiet_NaN();
      if (!number) refuse("holds " + kind_text(*array.objects[i]) + " where numbers are expected");
      return *number;
    });
  return elements<double>(array, [&](std::size_t i) { return element(array.dtype, data + i * step); });
}

std::vector<std::int64_t> to_ints(const Document& document, const Array& array) {
  const std::byte* data = array.data.data();
  const std::size_t step = array.dtype.size;
  if (array.dtype.kind == 'O') {
    std::vector<std::int64_t> values;
    for (const double v : to_doubles(document, array)) {
      if (!(std::abs(v) < 9e18)) refuse("holds no whole numbers");
      values.push_back(static_cast<std::int64_t>(v));
    }
    return values;
  }
  return elements<std::int64_t>(array, [&](std::size_t i) { return integer_element(array.dtype, data + i * step); });
}

std::vector<std::string> to_texts(const Document& document, const Array& array) {
  const std::byte* data = array.data.data();
  const std::size_t step = array.dtype.size;
  if (array.dtype.kind == 'O')
    return elements<std::string>(array, [&](std::size_t i) {
      const Value& value = *array.objects[i];
      if (auto text = text_of(document, value)) return *text;
      if (value.is(Kind::boolean)) return std::string(value.integer ? "True" : "False");
      if (value.is(Kind::integer)) return std::to_string(value.integer);
      if (const auto number = number_of(document, value)) return fmt::format("{}", *number);
      if (value.is_none()) return std::string("None");
      refuse("holds " + kind_text(value) + " where texts are expected");
    });
  if (!array.is_text()) refuse("holds '" + array.dtype.name() + "' where texts are expected");
  return elements<std::string>(array, [&](std::size_t i) { return text_element(array.dtype, data + i * step); });
}

Bytes to_bytes(const Array& array) {
  const bool is_turned = array.is_fortran && array.dims.size() > 1;
  if (!is_turned && !array.dtype.is_big_endian) return array.data;
  const std::size_t step = array.dtype.size;
  std::vector<std::byte> bytes(array.data.size());
  for_each_element(array, [&](std::size_t i, std::size_t place) {
    std::byte* const to = bytes.data() + place * step;
    std::memcpy(to, array.data.data() + i * step, step);
    if (array.dtype.is_big_endian) std::reverse(to, to + step);
  });
  return Bytes::own(std::move(bytes));
}

double number_at(const Array& array, std::size_t i) {
  return element(array.dtype, array.data.data() + i * array.dtype.size);
}

FieldNumbers::FieldNumbers(const Array& array, const Field& field)
    : data_(array.data),
      type_(field.dtype),
      offset_(static_cast<std::size_t>(field.offset)),
      step_(static_cast<std::size_t>(array.dtype.size)),
      size_(static_cast<std::size_t>(array.size())),
      width_(static_cast<std::size_t>(element_count(type_.sub_dims).value_or(0))) {
  type_.size /= std::max<std::uint64_t>(1, width_);
}

double FieldNumbers::at(std::size_t i, std::size_t k) const {
  return element(type_, data_.data() + i * step_ + offset_ + k * type_.size);
}

std::optional<FieldNumbers> field_of(const Array& array, std::string_view name) {
  for (const Field& field : array.dtype.fields)
    if (field.name == name) return FieldNumbers(array, field);
  return std::nullopt;
}

}  // namespace ingot::formats::pickle
