// Tables of keys and values: blocks with shared prefixes, checksums, an index.
#include "ingot/formats/tensorflow/table_file.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/byte_reader.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/base/hash.h"

namespace ingot::formats::tensorflow {
namespace {

constexpr std::size_t kFooter = 48, kTrailer = 5;
constexpr std::uint64_t kMagic = 0xdb4775248b80fb57u;
constexpr std::uint64_t kMostUncompressed = std::uint64_t{1} << 30;

struct Handle {
  std::uint64_t offset = 0, size = 0;
};

Handle read_handle(ByteReader& in) {
  Handle h;
  h.offset = in.varint();
  h.size = in.varint();
  return h;
}

Bytes read_block(const Bytes& file, Handle handle, Budget& budget) {
  const auto end = checked_add(handle.offset, handle.size);
  if (!end || *end > file.size() || file.size() - *end < kTrailer)
    throw Error(Code::bad_checkpoint, "a block lies outside the table");
  const Bytes block = file.slice(static_cast<std::size_t>(handle.offset), static_cast<std::size_t>(handle.size));
  ByteReader trailer(file.span().subspan(static_cast<std::size_t>(*end), kTrailer));
  const std::uint8_t type = trailer.u8();
  const std::uint32_t stored = trailer.u32();
  const auto with_type =
      file.span().subspan(static_cast<std::size_t>(handle.offset), static_cast<std::size_t>(handle.size) + 1);
  if (masked_crc(crc32c(with_type)) != stored) throw Error(Code::checksum_mismatch, "a block of the table is damaged");
  if (type == 0) return block;
  if (type == 1) return uncompress_snappy(block.span(), budget);
  throw Error(Code::bad_checkpoint, "a block is compressed in an unknown way (" + std::to_string(type) + ")");
}

/// Calls `visit` for each entry; keys share prefixes with the ones before.
void for_each_entry(const Bytes& block, const std::function<void(const std::string&, const Bytes&)>& visit) {
  if (block.size() < 4) throw Error(Code::bad_checkpoint, "a block of the table is too short");
  std::uint32_t restarts;
  std::memcpy(&restarts, block.data() + block.size() - 4, 4);
  if (restarts > (block.size() - 4) / 4) throw Error(Code::bad_checkpoint, "a block has more restarts than room");
  const std::size_t end = block.size() - 4 - std::size_t{restarts} * 4;
  ByteReader in(block.span().first(end));
  std::string key;
  while (!in.at_end()) {
    const std::uint64_t shared = in.varint(), own = in.varint(), size = in.varint();
    if (shared > key.size()) throw Error(Code::bad_checkpoint, "a key shares more than the key before it has");
    const auto rest = in.bytes(own);
    key.resize(static_cast<std::size_t>(shared));
    key.append(reinterpret_cast<const char*>(rest.data()), rest.size());
    const std::size_t at = in.position();
    in.skip(size);
    visit(key, block.slice(at, static_cast<std::size_t>(size)));
  }
}

}  // namespace

std::uint32_t masked_crc(std::uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

bool looks_like_table(const Bytes& file) {
  if (file.size() < kFooter) return false;
  std::uint64_t magic;
  std::memcpy(&magic, file.data() + file.size() - 8, 8);
  return magic == kMagic;
}

std::map<std::string, Bytes> read_table(const Bytes& file, Budget& budget) {
  if (!looks_like_table(file)) throw Error(Code::not_a_model, "the file does not end like a table of TensorFlow");
  ByteReader footer(file.span().subspan(file.size() - kFooter));
  read_handle(footer);  // of an empty block
  const Handle index = read_handle(footer);
  std::map<std::string, Bytes> all;
  // Keys built of shared prefixes may be longer than the file: together they stay below what memory allows.
  std::uint64_t memory = 0;
  for_each_entry(read_block(file, index, budget), [&](const std::string&, const Bytes& value) {
    ByteReader in(value.span());
    for_each_entry(read_block(file, read_handle(in), budget), [&](const std::string& key, const Bytes& entry) {
      memory += key.size() + 64;
      if (memory > kMostUncompressed) throw Error(Code::memory_limit, "the keys of the table fill more than 1 GiB");
      all.insert_or_assign(key, entry);
    });
    budget.poll();
  });
  return all;
}

Bytes uncompress_snappy(std::span<const std::byte> compressed, Budget& budget) {
  ByteReader in(compressed);
  const std::uint64_t size = in.varint();
  // Each byte of input gives at most 64 of output or so: a larger size is a lie.
  if (size > kMostUncompressed || size > compressed.size() * std::uint64_t{64} + 64)
    throw Error(Code::bad_checkpoint, "a compressed block states a size that it cannot have");
  budget.charge_memory(size);
  std::vector<std::byte> out;
  out.reserve(static_cast<std::size_t>(size));
  const auto fail = [] { throw Error(Code::bad_checkpoint, "a compressed block is damaged"); };
  while (!in.at_end()) {
    const std::uint8_t tag = in.u8();
    if ((tag & 3) == 0) {
      std::uint64_t length = tag >> 2;
      if (length >= 60) {
        const unsigned bytes = static_cast<unsigned>(length) - 59;
        length = 0;
        for (unsigned i = 0; i < bytes; ++i) length |= std::uint64_t{in.u8()} << (8 * i);
      }
      const auto literal = in.bytes(length + 1);
      if (literal.size() > size - out.size()) fail();
      out.insert(out.end(), literal.begin(), literal.end());
      continue;
    }
    std::size_t length = 0, offset = 0;
    if ((tag & 3) == 1) {
      length = static_cast<std::size_t>(tag >> 2 & 7) + 4;
      offset = static_cast<std::size_t>(tag >> 5) << 8 | in.u8();
    } else {
      length = static_cast<std::size_t>(tag >> 2) + 1;
      offset = (tag & 3) == 2 ? in.u16() : in.u32();
    }
    if (offset == 0 || offset > out.size() || length > size - out.size()) fail();
    for (std::size_t i = 0; i < length; ++i) out.push_back(out[out.size() - offset]);
  }
  if (out.size() != size) fail();
  return Bytes::own(std::move(out));
}

}  // namespace ingot::formats::tensorflow
