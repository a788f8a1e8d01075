// NumPy's .npy and .npz files.
#include "ingot/formats/npy/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ingot/base/budget.h"
#include "ingot/base/byte_reader.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/base/sink.h"
#include "ingot/formats/npy/header.h"
#include "ingot/formats/npy/text.h"
#include "ingot/formats/zip/archive.h"

namespace ingot::formats::npy {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = 1 << 16;
constexpr std::uint64_t kMaxEmptyStrings = 1 << 16;  // of no width: the file's size says nothing about their number

/// "<f4" taken apart.
struct Element {
  DType dtype = DType::undefined;
  char kind = 0;            // U, S, V, or that of a number
  std::uint64_t bytes = 0;  // of one element
  std::uint64_t swap = 1;   // width of the numbers whose bytes are to be reversed; 1: none
};

struct Named {
  std::string_view code;
  DType dtype;
};
constexpr Named kNumbers[] = {{"b1", DType::boolean}, {"c16", DType::c128}, {"c8", DType::c64}, {"f2", DType::f16},
                              {"f4", DType::f32},     {"f8", DType::f64},   {"i1", DType::i8},  {"i2", DType::i16},
                              {"i4", DType::i32},     {"i8", DType::i64},   {"u1", DType::u8},  {"u2", DType::u16},
                              {"u4", DType::u32},     {"u8", DType::u64}};

[[noreturn]] void refuse_type(const std::string& descr) {
  Error error(Code::unsupported_feature, fmt::format("an array of NumPy's type '{}' cannot be read", descr));
  if (descr.find('O') != std::string::npos) error.hint("it holds Python objects, which would have to be unpickled");
  throw error;
}

Element element_of(const std::string& descr) {
  if (descr.size() < 3) refuse_type(descr);
  const char order = descr[0];
  if (order != '<' && order != '>' && order != '|' && order != '=') refuse_type(descr);
  const std::string_view code = std::string_view(descr).substr(1);
  Element e;
  e.kind = code[0];
  for (const Named& n : kNumbers) {
    if (n.code != code) continue;
    e.dtype = n.dtype;
    e.bytes = bits_of(n.dtype) / 8;
    if (order == '>') e.swap = is_complex(n.dtype) ? e.bytes / 2 : e.bytes;
    return e;
  }
  std::uint64_t width = 0;
  const auto [end, error] = std::from_chars(code.data() + 1, code.data() + code.size(), width);
  if (error != std::errc() || end != code.data() + code.size() || width > 1u << 30) refuse_type(descr);
  if (e.kind != 'U' && e.kind != 'S' && e.kind != 'V') refuse_type(descr);
  e.bytes = e.kind == 'U' ? 4 * width : width;
  if (e.kind == 'U') e.dtype = DType::string;
  if (e.kind == 'S') e.dtype = DType::string;
  if (e.kind == 'U' && order == '>') e.swap = 4;
  return e;
}

struct Charged {
  Charged(Budget* budget, std::uint64_t size) {
    if (budget) guard.emplace(*budget, size);
    bytes.resize(size);
  }
  std::optional<Budget::MemoryGuard> guard;
  std::vector<std::byte> bytes;
};

void swap_bytes(std::vector<std::byte>& bytes, std::uint64_t width) {
  for (std::size_t i = 0; i + width <= bytes.size(); i += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
}

/// From Fortran order to C order: the last dimension counts slowest in `from` and fastest in `to`.
void transpose(const std::byte* from, std::byte* to, const std::vector<std::int64_t>& dims, std::uint64_t width) {
  const std::size_t rank = dims.size();
  std::vector<std::uint64_t> strides(rank), index(rank, 0);
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    strides[i] = count;
    count *= static_cast<std::uint64_t>(dims[i]);
  }
  std::uint64_t at = 0;
  for (std::uint64_t n = 0; n < count; ++n, to += width) {
    std::copy_n(from + at * width, width, to);
    for (std::size_t axis = rank; axis-- > 0;) {
      at += strides[axis];
      if (++index[axis] < static_cast<std::uint64_t>(dims[axis])) break;
      at -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

Bytes in_c_order(const Bytes& data, const Header& header, const Element& e, Budget* budget) {
  const bool is_turned = header.is_fortran && header.dims.size() > 1 && !data.empty();
  if (!is_turned && e.swap == 1) return data;
  auto memory = std::make_shared<Charged>(budget, data.size());
  if (is_turned)
    transpose(data.data(), memory->bytes.data(), header.dims, e.bytes);
  else
    std::copy_n(data.data(), data.size(), memory->bytes.data());
  if (e.swap > 1) swap_bytes(memory->bytes, e.swap);
  const std::byte* start = memory->bytes.data();
  return Bytes(std::move(memory), start, data.size());
}

std::string descr_of(const NpyArray& array) {
  if (array.dtype == DType::string) {
    std::size_t longest = 0;
    for (const std::string& s : array.strings) longest = std::max(longest, code_points(s));
    return "<U" + std::to_string(longest);
  }
  for (const Named& n : kNumbers)
    if (n.dtype == array.dtype) return std::string(bits_of(n.dtype) == 8 ? "|" : "<") + std::string(n.code);
  return fmt::format("{}V{}", array.item_bytes == 1 ? "|" : "<", array.item_bytes);
}

}  // namespace

bool looks_like_npy(const Bytes& file) { return file.text().starts_with(kMagic); }

NpyArray read(const Bytes& file, Budget* budget) {
  if (!looks_like_npy(file)) throw Error(Code::bad_array_file, "the file does not begin as a .npy file does");
  ByteReader r(file.span());
  r.skip(kMagic.size());
  const std::uint8_t major = r.u8();
  r.skip(1);
  if (major < 1 || major > 3)
    throw Error(Code::unsupported_format_version, fmt::format("version {} of the .npy format is not known", major));
  const std::uint32_t length = major == 1 ? r.u16() : r.u32();
  if (length > kMaxHeader) throw Error(Code::bad_array_file, "the header of the array is too long");
  const auto text = r.bytes(length);
  const Header header = parse_header({reinterpret_cast<const char*>(text.data()), text.size()});
  const Element e = element_of(header.descr);
  const auto count = element_count(header.dims);
  const auto size = count ? checked_mul(*count, e.bytes) : std::nullopt;
  if (!size || *size != r.remaining())
    throw Error(Code::bad_array_file,
                fmt::format("the array has {} bytes of data; its shape and type need {}", r.remaining(),
                            size ? std::to_string(*size) : "more than there can be"));
  if (e.bytes == 0 && *count > kMaxEmptyStrings) throw Error(Code::bad_array_file, "too many elements without content");
  NpyArray array{.dtype = e.dtype, .item_bytes = e.bytes, .dims = header.dims, .data = {}, .strings = {}};
  const Bytes data = in_c_order(file.slice(r.position(), *size), header, e, budget);
  if (e.dtype == DType::string)
    array.strings = e.kind == 'U' ? texts_of_utf32(data, *count, e.bytes) : texts_of_bytes(data, *count, e.bytes);
  else
    array.data = data;
  return array;
}

std::string head_of(const NpyArray& array) {
  std::string text = header_text({.descr = descr_of(array), .is_fortran = false, .dims = array.dims});
  constexpr std::size_t kAlignment = 64;
  const std::size_t fixed = kMagic.size() + 2 + 2;
  text.append(kAlignment - (fixed + text.size() + 1) % kAlignment, ' ');
  text += '\n';
  std::string head(kMagic);
  head += '\x01';
  head += '\x00';
  head += static_cast<char>(text.size() & 0xff);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

void write(const NpyArray& array, Sink& sink) {
  sink.write(bytes_of(head_of(array)));
  if (array.dtype == DType::string) {
    const std::size_t width = std::stoul(descr_of(array).substr(2));
    for (const std::string& s : array.strings) sink.write(bytes_of(utf32_of(s, width)));
  } else {
    sink.write(array.data.span());
  }
}

std::string to_bytes(const NpyArray& array) {
  StringSink sink;
  write(array, sink);
  return sink.take();
}

std::vector<std::pair<std::string, NpyArray>> read_npz(const Bytes& file, Budget* budget) {
  const zip::Archive archive(file);
  std::vector<std::pair<std::string, NpyArray>> arrays;
  for (const zip::Member& member : archive.members()) {
    if (!member.name.ends_with(".npy"))
      throw Error(Code::bad_array_file, fmt::format("the archive holds '{}', which is no .npy file", member.name));
    arrays.emplace_back(member.name.substr(0, member.name.size() - 4), read(archive.read(member, budget), budget));
  }
  return arrays;
}

void write_npz(const std::vector<std::pair<std::string, NpyArray>>& arrays, Sink& sink) {
  std::vector<std::pair<std::string, Bytes>> members;
  for (const auto& [name, array] : arrays) members.emplace_back(name + ".npy", Bytes::own(to_bytes(array)));
  zip::write(members, sink);
}

}  // namespace ingot::formats::npy
