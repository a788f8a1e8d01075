// Element types, dimensions, and elements as they are stored.
#include "ingot/formats/hdf5/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"

namespace ingot::formats::hdf5 {
namespace {

constexpr std::size_t kMostDims = 32;  // HDF5's own limit

Error unread(const std::string& what) { return Error(Code::unsupported_feature, "HDF5: " + what + " are not read"); }

DType integer_type(std::uint32_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? DType::i8 : DType::u8;
    case 2:
      return is_signed ? DType::i16 : DType::u16;
    case 4:
      return is_signed ? DType::i32 : DType::u32;
    case 8:
      return is_signed ? DType::i64 : DType::u64;
    default:
      throw unread(fmt::format("integers of {} bytes", size));
  }
}

/// By the sizes of exponent and mantissa.
DType float_type(std::uint32_t size, unsigned exponent, unsigned mantissa) {
  const std::array<unsigned, 3> form{size, exponent, mantissa};
  if (form == std::array<unsigned, 3>{2, 5, 10}) return DType::f16;
  if (form == std::array<unsigned, 3>{2, 8, 7}) return DType::bf16;
  if (form == std::array<unsigned, 3>{4, 8, 23}) return DType::f32;
  if (form == std::array<unsigned, 3>{8, 11, 52}) return DType::f64;
  throw unread(fmt::format("real numbers of {} bytes with {} bits of exponent", size, exponent));
}

Datatype read_integer(ByteReader& in, std::uint32_t bits, std::uint32_t size) {
  const unsigned shift = in.u16(), precision = in.u16();
  if (shift != 0 || precision != 8 * size) throw unread("integers that do not fill their bytes");
  return {Datatype::Kind::number, integer_type(size, (bits & 8) != 0), size, (bits & 1) != 0};
}

Datatype read_float(ByteReader& in, std::uint32_t bits, std::uint32_t size) {
  if ((bits & 0x41) == 0x41) throw unread("real numbers of VAX machines");
  const unsigned shift = in.u16(), precision = in.u16();
  in.skip(1);
  const unsigned exponent = in.u8();
  in.skip(1);
  const unsigned mantissa = in.u8();
  in.skip(4);
  if (shift != 0 || precision != 8 * size) throw unread("real numbers that do not fill their bytes");
  return {Datatype::Kind::number, float_type(size, exponent, mantissa), size, (bits & 1) != 0};
}

/// h5py writes bool as an enumeration of FALSE and TRUE.
Datatype read_enumeration(ByteReader& in, std::uint32_t bits, unsigned version) {
  Datatype base = read_datatype(in);
  const std::uint32_t count = bits & 0xffff;
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(count, 3); ++i) {
    std::string name;
    while (const std::uint8_t c = in.u8()) name.push_back(static_cast<char>(c));
    if (version < 3) in.skip((8 - (name.size() + 1) % 8) % 8);
    names.push_back(std::move(name));
  }
  if (names == std::vector<std::string>{"FALSE", "TRUE"} && base.size == 1) base.dtype = DType::boolean;
  return base;
}

Bytes swapped(const Space& space, const Bytes& stored, std::size_t width) {
  if (space.budget()) space.budget()->charge_memory(stored.size());
  std::vector<std::byte> out(stored.data(), stored.data() + stored.size());
  for (std::size_t i = 0; i + width <= out.size(); i += width)
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(i), out.begin() + static_cast<std::ptrdiff_t>(i + width));
  return Bytes::own(std::move(out));
}

std::string without_padding(std::string_view text, bool is_padded_with_spaces) {
  text = text.substr(0, text.find('\0'));
  if (is_padded_with_spaces)
    while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

Datatype read_datatype(ByteReader& in) {
  const unsigned first = in.u8(), type = first & 15, version = first >> 4;
  if (version < 1 || version > 4) refuse("a type is of an unknown version");
  const auto bits = static_cast<std::uint32_t>(read_number(in, 3));
  const std::uint32_t size = in.u32();
  if (size == 0) refuse("a type has no size");
  switch (type) {
    case 0:
      return read_integer(in, bits, size);
    case 1:
      return read_float(in, bits, size);
    case 3:
      return {Datatype::Kind::text, DType::string, size, false, (bits & 15) == 2};
    case 5:
      return {Datatype::Kind::raw, DType::undefined, size};
    case 8:
      return read_enumeration(in, bits, version);
    case 9:
      if ((bits & 15) != 1) throw unread("lists of any length");
      return {Datatype::Kind::variable_text, DType::string, size, false, (bits >> 4 & 15) == 2};
    default: {
      constexpr std::array<const char*, 11> kNames = {"",          "",           "times", "", "bit fields", "",
                                                      "compounds", "references", "",      "", "arrays"};
      throw unread(type < kNames.size() ? kNames[type] : "unknown types");
    }
  }
}

std::optional<std::vector<std::int64_t>> read_dataspace(const Space& space, ByteReader& in) {
  const unsigned version = in.u8(), rank = in.u8();
  in.skip(1);  // whether limits follow
  const unsigned kind = in.u8();
  if (version != 1 && version != 2) refuse("dimensions are of an unknown version");
  if (version == 1) in.skip(4);
  if (version == 2 && kind == 2) return std::nullopt;
  if (rank > kMostDims) refuse("an array has too many dimensions");
  std::vector<std::int64_t> dims;
  for (unsigned i = 0; i < rank; ++i) {
    const std::uint64_t size = space.length(in);
    if (!std::in_range<std::int64_t>(size)) refuse("a dimension does not fit");
    dims.push_back(static_cast<std::int64_t>(size));
  }
  return dims;
}

const GlobalHeap::Collection& GlobalHeap::collection(const Space& space, std::uint64_t address) {
  const auto [known, is_new] = collections_.try_emplace(address);
  if (!is_new) return known->second;
  ByteReader head = space.reader(address);
  expect_signature(head, "GCOL");
  if (head.u8() != 1) refuse("a heap is of an unknown version");
  head.skip(3);
  const std::uint64_t size = space.length(head);
  ByteReader in = space.reader(address, size);
  in.skip(8 + space.length_size());
  while (in.remaining() >= 8 + space.length_size()) {
    const std::uint32_t index = in.u16();
    in.skip(6);
    const std::uint64_t bytes = space.length(in);
    if (index == 0) break;  // what is free
    known->second[index] = {in.offset(), bytes};
    in.skip(bytes);
    in.skip(std::min<std::uint64_t>((8 - bytes % 8) % 8, in.remaining()));
  }
  return known->second;
}

std::string GlobalHeap::text(const Space& space, std::uint64_t address, std::uint32_t index, std::uint32_t length) {
  if (length == 0) return {};
  const Collection& all = collection(space, address);
  const auto place = all.find(index);
  if (place == all.end() || length > place->second.size) refuse("a text is not where it is said to be");
  space.count(length);
  return std::string(space.slice(place->second.address, length).text());
}

std::uint64_t stored_size(const Datatype& type, const std::vector<std::int64_t>& dims) {
  const auto count = element_count(dims);
  const auto size = count ? checked_mul(*count, std::uint64_t{type.size}) : std::nullopt;
  if (!size) refuse("the size of an array does not fit");
  return *size;
}

Array to_array(const Space& space, GlobalHeap& heap, const Datatype& type, std::vector<std::int64_t> dims,
               const Bytes& stored) {
  Array array{type.dtype, type.size, std::move(dims), {}, {}};
  if (type.kind == Datatype::Kind::number || type.kind == Datatype::Kind::raw) {
    array.data = type.is_big_endian && type.size > 1 ? swapped(space, stored, type.size) : stored;
    return array;
  }
  if (type.kind == Datatype::Kind::variable_text && type.size != 8 + space.offset_size())
    refuse("texts have an unusual size");
  const std::uint64_t count = stored.size() / type.size;
  ByteReader in(stored.span());
  for (std::uint64_t i = 0; i < count; ++i) {
    if (type.kind == Datatype::Kind::text) {
      const auto bytes = in.bytes(type.size);
      space.count(bytes.size());
      array.strings.push_back(
          without_padding({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, type.is_padded_with_spaces));
    } else {
      const std::uint32_t length = in.u32();
      const std::uint64_t collection = space.offset(in);
      const std::uint32_t index = in.u32();
      space.count(16);
      array.strings.push_back(without_padding(heap.text(space, collection, index, length), type.is_padded_with_spaces));
    }
  }
  return array;
}

}  // namespace ingot::formats::hdf5
