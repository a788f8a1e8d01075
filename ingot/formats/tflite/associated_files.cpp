// Where the ZIP archive behind a TFLite file begins. Only its extent is found here; nothing in it is unpacked.
#include "ingot/formats/tflite/associated_files.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace ingot::formats::tflite {
namespace {

template <class T> T number_at(const Bytes& file, std::size_t position) {
  T value;
  std::memcpy(&value, file.data() + position, sizeof value);
  return value;
}

bool has(const Bytes& file, std::size_t position, std::string_view signature) {
  return file.text().substr(position, signature.size()) == signature;
}

constexpr std::string_view kEnd("PK\5\6", 4);
constexpr std::string_view kEntry("PK\1\2", 4);
constexpr std::string_view kMember("PK\3\4", 4);
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kLongestComment = 0xffff;

/// The end record, whose comment must reach exactly to the end of the file.
std::optional<std::size_t> find_end(const Bytes& file) {
  if (file.size() < kEndSize) return std::nullopt;
  const std::size_t last = file.size() - kEndSize;
  const std::size_t first = last - std::min(last, kLongestComment);
  for (std::size_t position = last + 1; position-- > first;)
    if (has(file, position, kEnd) && position + kEndSize + number_at<std::uint16_t>(file, position + 20) == file.size())
      return position;
  return std::nullopt;
}

/// The first member's position, from the directory that ends at `end`.
std::optional<std::size_t> first_member(const Bytes& file, std::size_t end) {
  const std::uint64_t directory_size = number_at<std::uint32_t>(file, end + 12);
  const std::uint64_t directory_offset = number_at<std::uint32_t>(file, end + 16);
  // Offsets count from the beginning of the file or of the archive: the difference tells which.
  if (directory_size > end || directory_offset > end - directory_size) return std::nullopt;
  const std::uint64_t shift = end - directory_size - directory_offset;
  std::optional<std::size_t> first;
  for (std::size_t entry = end - directory_size; entry < end;) {
    if (end - entry < kEntrySize || !has(file, entry, kEntry)) return std::nullopt;
    const std::uint64_t member = number_at<std::uint32_t>(file, entry + 42) + shift;
    if (member >= end - directory_size || !has(file, member, kMember)) return std::nullopt;
    first = std::min<std::size_t>(first.value_or(member), member);
    entry += kEntrySize + number_at<std::uint16_t>(file, entry + 28) + number_at<std::uint16_t>(file, entry + 30) +
             number_at<std::uint16_t>(file, entry + 32);
  }
  return first;
}

}  // namespace

Bytes associated_files(const Bytes& file, std::uint64_t model_end) {
  const std::optional<std::size_t> end = find_end(file);
  const std::optional<std::size_t> begin = end ? first_member(file, *end) : std::nullopt;
  if (!begin || *begin < model_end) return {};
  return file.slice(*begin, file.size() - *begin);
}

}  // namespace ingot::formats::tflite
