#pragma once
#include <span>
#include <string>
#include <string_view>

#include "ingot/base/hash.h"
#include "ingot/formats/tensorflow/table_file.h"

namespace ingot::test {

inline void append_u32(std::string& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
}

inline void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

/// The block with its kind and a checksum that holds; returns the handle.
inline std::string append_block(std::string& file, std::string_view block, char kind) {
  std::string handle;
  append_varint(handle, file.size());
  append_varint(handle, block.size());
  const std::string stored = std::string(block) + kind;
  file += stored;
  append_u32(file, formats::tensorflow::masked_crc(crc32c(std::as_bytes(std::span(stored)))));
  return handle;
}

/// A table whose one block of data is given.
inline std::string table_of(std::string_view block, char kind = 0) {
  std::string file;
  const std::string data = append_block(file, block, kind);
  const std::string no_restarts(4, '\0');
  const std::string empty = append_block(file, no_restarts, 0);
  std::string index{'\0', 1, static_cast<char>(data.size()), 'k'};
  index += data + no_restarts;
  std::string footer = empty + append_block(file, index, 0);
  footer.resize(40);
  append_u32(footer, 0x8b80fb57u);
  append_u32(footer, 0xdb477524u);
  return file + footer;
}

/// One entry of a block, its key in full.
inline std::string table_entry(std::string_view key, std::string_view value) {
  std::string entry;
  append_varint(entry, 0);
  append_varint(entry, key.size());
  append_varint(entry, value.size());
  return entry.append(key).append(value);
}

}  // namespace ingot::test
