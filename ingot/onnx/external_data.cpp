// External data on the way in: its description is checked before a byte of the file is looked at.
#include "ingot/onnx/external_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "ingot/base/error.h"
#include "ingot/base/zero_pages.h"

namespace ingot::onnx {
namespace {

/// Plain decimal digits; no sign, no blank, no overflow.
std::uint64_t parse_number(std::string_view key, const std::string& text) {
  std::uint64_t value = 0;
  const bool digits = !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!digits || result.ec != std::errc())
    throw Error(Code::bad_external_data, fmt::format("{} '{}' of the external data is not a number", key, text));
  return value;
}

}  // namespace

Bytes read_external_data(const Metadata& entries, std::uint64_t needed, ReadContext& context) {
  std::optional<std::string> location, offset_text, length_text;
  for (const auto& [key, value] : entries) {
    std::optional<std::string>* known = key == "location" ? &location
                                        : key == "offset" ? &offset_text
                                        : key == "length" ? &length_text
                                                          : nullptr;
    if (!known) continue;
    if (*known) throw Error(Code::bad_external_data, fmt::format("the external data states its {} twice", key));
    *known = value;
  }
  if (!location) throw Error(Code::bad_external_data, "the external data has no location");
  // Tags that ONNX Runtime uses within a process for addresses: never honoured from a file.
  if (location->starts_with("*/_ORT_"))
    throw Error(Code::bad_external_data, fmt::format("location '{}' is an address in memory, not a file", *location));
  const std::uint64_t offset = offset_text ? parse_number("offset", *offset_text) : 0;
  const std::uint64_t stated_length = length_text ? parse_number("length", *length_text) : 0;

  const Bytes* found = context.external_file(*location);
  if (!found) return zero_pages(static_cast<std::size_t>(needed));
  const Bytes& file = *found;
  if (offset > file.size())
    throw Error(Code::bad_external_data, fmt::format("offset {} lies beyond the end of '{}', which has {} bytes",
                                                     offset, *location, file.size()));
  // Without a length the tensor takes what it needs: the file may hold others behind it.
  const std::uint64_t length = length_text ? stated_length : std::min<std::uint64_t>(needed, file.size() - offset);
  if (length > file.size() - offset)
    throw Error(Code::bad_external_data, fmt::format("{} bytes at offset {} reach beyond the end of '{}', which has {}",
                                                     length, offset, *location, file.size()));
  if (length != needed)
    throw Error(Code::tensor_size_mismatch,
                fmt::format("type and shape need {} bytes, but '{}' is to give {}", needed, *location, length));
  return file.slice(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
}

}  // namespace ingot::onnx
