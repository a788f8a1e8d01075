// Fuzzes checkpoints. Checksums would keep a fuzzer out: the input is one block of the index, to which this adds what
// makes a table of it, and the data file. The first byte says how the block is stored, the next two how long it is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/hash.h"
#include "ingot/formats/tensorflow/checkpoint.h"
#include "ingot/formats/tensorflow/table_file.h"

namespace {

using namespace ingot;
namespace tf = formats::tensorflow;

void append_u32(std::string& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i));
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

/// The block with its kind and a checksum that holds; returns the handle.
std::string append_block(std::string& file, std::string_view block, char kind) {
  std::string handle;
  append_varint(handle, file.size());
  append_varint(handle, block.size());
  const std::string stored = std::string(block) + kind;
  file += stored;
  append_u32(file, tf::masked_crc(crc32c(std::as_bytes(std::span(stored)))));
  return handle;
}

std::string table_of(std::string_view block, char kind) {
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::size_t length = std::min<std::size_t>(rest.size(), data[1] | data[2] << 8);
  Budget budget({.memory = std::uint64_t{16} << 20, .time = std::chrono::seconds(2)});
  try {
    const Bytes index = Bytes::own(table_of(rest.substr(0, length), static_cast<char>(data[0] % 3)));
    const Bytes shard = Bytes::own(std::string(rest.substr(length)));
    const tf::Checkpoint checkpoint = tf::Checkpoint::of(index, {shard}, budget);
    for (const std::string& key : checkpoint.keys()) try {
        (void)checkpoint.read(key, budget);
      } catch (const Error&) {
        // the next entry may be sound
      }
  } catch (const Error&) {
    // refused, as it should be
  }
  return 0;
}
