// safetensors: a header of JSON, then the tensors without gaps.
#include "ingot/formats/torch/safetensors.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <set>

#include "ingot/base/byte_reader.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/base/sink.h"
#include "ingot/formats/torch/scalar_type.h"

namespace ingot::formats::torch {
namespace {

using simdjson::dom::element;

constexpr std::uint64_t kMostHeader = 100'000'000;
constexpr std::size_t kPadding = 8;

[[noreturn]] void refuse_file(const std::string& why) {
  throw Error(Code::bad_json, "the safetensors file is refused: " + why);
}

struct Entry {
  NamedTensor tensor;
  std::uint64_t begin = 0, end = 0;
};

Entry read_entry(std::string_view name, const element& json) {
  Entry entry;
  entry.tensor.name = name;
  std::string_view dtype;
  simdjson::dom::array shape, offsets;
  if (json["dtype"].get(dtype) || json["shape"].get(shape) || json["data_offsets"].get(offsets))
    refuse_file(fmt::format("'{}' lacks dtype, shape or data_offsets", name));
  entry.tensor.dtype = dtype_of_safetensors(dtype);
  if (entry.tensor.dtype == DType::undefined)
    throw Error(Code::unknown_dtype,
                fmt::format("'{}' has elements of type {}, which Ingot does not know", name, dtype));
  for (const element d : shape) {
    std::int64_t size = 0;
    if (d.get(size) || size < 0) refuse_file(fmt::format("the shape of '{}' is not valid", name));
    entry.tensor.dims.push_back(size);
  }
  std::vector<std::uint64_t> ends;
  for (const element o : offsets) {
    std::uint64_t at = 0;
    if (o.get(at)) refuse_file(fmt::format("the place of '{}' is not valid", name));
    ends.push_back(at);
  }
  if (ends.size() != 2 || ends[0] > ends[1]) refuse_file(fmt::format("the place of '{}' is not valid", name));
  entry.begin = ends[0];
  entry.end = ends[1];
  const auto count = element_count(entry.tensor.dims);
  const auto bytes = count ? byte_count(entry.tensor.dtype, *count) : std::nullopt;
  if (!bytes || *bytes != entry.end - entry.begin)
    refuse_file(fmt::format("the size of '{}' is not that of its shape", name));
  return entry;
}

}  // namespace

bool looks_like_safetensors(const Bytes& file) {
  if (file.size() < 10) return false;
  const std::uint64_t header = ByteReader(file.span()).u64();
  return header >= 2 && header <= kMostHeader && header <= file.size() - 8 && file.text()[8] == '{';
}

Safetensors read_safetensors(const Bytes& file) {
  if (!looks_like_safetensors(file)) refuse_file("its header has no valid length");
  const std::uint64_t header = ByteReader(file.span()).u64();
  const simdjson::padded_string text(file.text().substr(8, header));
  simdjson::dom::parser parser;
  simdjson::dom::object root;
  if (parser.allocate(text.size() + 64, 16) || parser.parse(text).get(root))
    refuse_file("its header is no JSON object");
  const Bytes data = file.slice(8 + header, file.size() - 8 - header);

  Safetensors content;
  std::vector<Entry> entries;
  std::set<std::string_view> names;
  for (const auto& [name, value] : root) {
    if (!names.insert(name).second) refuse_file(fmt::format("it has '{}' twice", name));
    if (name == "__metadata__") {
      simdjson::dom::object pairs;
      if (value.get(pairs)) refuse_file("its metadata is no object");
      for (const auto& [key, note] : pairs) {
        std::string_view said;
        if (note.get(said)) refuse_file("its metadata holds more than texts");
        content.metadata[std::string(key)] = said;
      }
      continue;
    }
    entries.push_back(read_entry(name, value));
  }
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
  });
  std::uint64_t at = 0;
  for (Entry& e : entries) {
    if (e.begin != at) refuse_file(fmt::format("'{}' does not begin where the tensor before it ends", e.tensor.name));
    if (e.end > data.size()) refuse_file(fmt::format("'{}' leaves the file", e.tensor.name));
    e.tensor.data = data.slice(e.begin, e.end - e.begin);
    at = e.end;
    content.tensors.push_back(std::move(e.tensor));
  }
  if (at != data.size()) refuse_file("there is more data than its tensors have");
  return content;
}

void write_safetensors(const Safetensors& content, Sink& sink) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& t : content.tensors) order.push_back(&t);
  std::ranges::sort(order, [](const NamedTensor* a, const NamedTensor* b) {
    const unsigned wide = bits_of(a->dtype), other = bits_of(b->dtype);
    return wide != other ? wide > other : a->name < b->name;
  });
  Json header = Json::object();
  if (!content.metadata.empty()) header["__metadata__"] = Json(content.metadata);
  std::uint64_t at = 0;
  for (const NamedTensor* t : order) {
    const std::string_view dtype = safetensors_name(t->dtype);
    if (dtype.empty())
      throw Error(
          Code::unsupported_type_in_target,
          fmt::format("'{}' has elements of type {}, which safetensors has none for", t->name, name_of(t->dtype)));
    if (header.contains(t->name))
      throw Error(Code::not_writable, fmt::format("two tensors have the name '{}'", t->name));
    Json entry = Json::object();
    entry["dtype"] = dtype;
    entry["shape"] = Json(t->dims);
    entry["data_offsets"] = Json(std::vector<std::uint64_t>{at, at + t->data.size()});
    header[t->name] = std::move(entry);
    at += t->data.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + kPadding - 1) / kPadding * kPadding, ' ');
  const std::uint64_t length = text.size();
  sink.write(std::as_bytes(std::span(&length, 1)));
  sink.write(bytes_of(text));
  for (const NamedTensor* t : order) sink.write(t->data.span());
}

}  // namespace ingot::formats::torch
