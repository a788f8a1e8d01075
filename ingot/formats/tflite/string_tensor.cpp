// STRING tensors: a count, count + 1 offsets from the beginning of the data, the texts.
#include "ingot/formats/tflite/string_tensor.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"

namespace ingot::formats::tflite {
namespace {

std::int32_t int_at(const Bytes& data, std::size_t position) {
  std::int32_t value;
  std::memcpy(&value, data.data() + position, sizeof value);
  return value;
}

}  // namespace

std::vector<std::string_view> string_elements(const Bytes& data) {
  constexpr std::size_t kInt = sizeof(std::int32_t);
  const std::int64_t count = data.size() < kInt ? -1 : int_at(data, 0);
  if (count < 0 || static_cast<std::uint64_t>(count) > data.size() / kInt ||
      (static_cast<std::size_t>(count) + 2) * kInt > data.size())
    throw Error(Code::bad_tensor, "its texts end before their table does");
  const std::size_t texts_begin = (static_cast<std::size_t>(count) + 2) * kInt;
  std::vector<std::string_view> texts(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::int64_t begin = int_at(data, (i + 1) * kInt);
    const std::int64_t end = int_at(data, (i + 2) * kInt);
    if (begin < static_cast<std::int64_t>(texts_begin) || end < begin || static_cast<std::uint64_t>(end) > data.size())
      throw Error(Code::bad_tensor, fmt::format("its text {} lies outside its data", i));
    texts[i] = data.text().substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }
  return texts;
}

Bytes string_data(std::span<const std::string> texts) {
  std::vector<std::int32_t> table = {narrow<std::int32_t>(texts.size())};
  std::size_t end = (texts.size() + 2) * sizeof(std::int32_t);
  table.push_back(narrow<std::int32_t>(end));
  for (const std::string& text : texts) table.push_back(narrow<std::int32_t>(end += text.size()));
  std::string data(reinterpret_cast<const char*>(table.data()), table.size() * sizeof(std::int32_t));
  for (const std::string& text : texts) data += text;
  return Bytes::own(std::move(data));
}

}  // namespace ingot::formats::tflite
