// Checkpoints: the index and data files of version 2.
#include "ingot/formats/tensorflow/checkpoint.h"

#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/byte_reader.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/base/hash.h"
#include "ingot/formats/protobuf/wire_reader.h"
#include "ingot/formats/tensorflow/checkpoint_slices.h"
#include "ingot/formats/tensorflow/read_messages.h"
#include "ingot/formats/tensorflow/table_file.h"

namespace ingot::formats::tensorflow {
namespace {

void append_number(std::string& out, std::uint64_t value) {
  std::string digits;
  for (; value; value >>= 8) digits.insert(digits.begin(), static_cast<char>(value & 255));
  out += static_cast<char>(digits.size());
  out += digits;
}

/// Numbers whose bytes sort as they do: the header's leading ones tell the length.
void append_signed(std::string& out, std::int64_t value) {
  if (value >= -64 && value < 64) {
    out += static_cast<char>(0x80 ^ static_cast<int>(value & 0xff));
    return;
  }
  const std::uint64_t magnitude = static_cast<std::uint64_t>(value < 0 ? ~value : value);
  unsigned bits = 0;
  while (bits < 64 && magnitude >> bits) ++bits;
  const unsigned length = std::min(10u, bits / 7 + 1);
  std::array<unsigned char, 10> bytes{};
  for (unsigned i = 0; i < length; ++i) {
    const unsigned shift = 8 * (length - 1 - i);
    bytes[i] = shift < 64 ? static_cast<unsigned char>(static_cast<std::uint64_t>(value) >> shift)
                          : static_cast<unsigned char>(value < 0 ? 0xff : 0);
  }
  const unsigned ones = length;
  for (unsigned i = 0; i < ones; ++i) bytes[i / 8] ^= static_cast<unsigned char>(0x80 >> (i % 8));
  out.append(reinterpret_cast<const char*>(bytes.data()), length);
}

std::string data_name(const std::string& prefix, std::int32_t shard, std::int32_t count) {
  const auto five = [](std::int32_t n) {
    const std::string digits = std::to_string(n);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return prefix + ".data-" + five(shard) + "-of-" + five(count);
}

/// Lengths, their checksum, then the bytes of all.
std::vector<std::string> read_strings(const Bytes& data, std::uint64_t count, std::uint32_t& crc) {
  if (count > data.size()) throw Error(Code::bad_checkpoint, "a tensor has fewer texts than its shape");
  ByteReader in(data.span());
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t i = 0; i < count; ++i) {
    lengths.push_back(in.varint());
    const std::uint64_t wide = lengths.back();
    const std::uint32_t narrow = static_cast<std::uint32_t>(wide);
    const bool is_narrow = wide == narrow;
    crc = crc32c(
        std::as_bytes(std::span(reinterpret_cast<const char*>(is_narrow ? static_cast<const void*>(&narrow) : &wide),
                                is_narrow ? 4 : 8)),
        crc);
  }
  const std::uint32_t stored = in.u32();
  if (stored != masked_crc(crc)) throw Error(Code::checksum_mismatch, "the lengths of a tensor's texts are damaged");
  crc = crc32c(std::as_bytes(std::span(&stored, 1)), crc);
  std::vector<std::string> strings;
  for (const std::uint64_t length : lengths) {
    const auto bytes = in.bytes(length);
    crc = crc32c(bytes, crc);
    strings.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return strings;
}

}  // namespace

std::string slice_key(std::string_view name, const std::vector<SliceExtent>& slice) {
  std::string key;
  append_number(key, 0);
  for (const char c : name) {
    key += c;
    if (c == '\0') key += '\xff';
    if (c == '\xff') key += '\0';
  }
  key += std::string("\0\1", 2);
  append_number(key, slice.size());
  for (const SliceExtent& e : slice) {
    append_signed(key, e.start);
    append_signed(key, e.length);
  }
  return key;
}

Checkpoint::Entry Checkpoint::read_entry(const Bytes& message) {
  Entry entry;
  for (protobuf::Reader r(message); r.next();) {
    switch (r.field()) {
      case 1:
        entry.dtype = data_type_of(r.int64());
        break;
      case 2:
        entry.shape = read_shape(r.message());
        break;
      case 3:
        entry.shard = r.int32();
        break;
      case 4:
        entry.offset = r.int64();
        break;
      case 5:
        entry.size = r.int64();
        break;
      case 6: {
        const float bits = r.fixed_float();
        std::memcpy(&entry.crc, &bits, sizeof entry.crc);
        break;
      }
      case 7:
        entry.slices.push_back(read_slice(r.message()));
        break;
      default:
        r.skip();
    }
  }
  return entry;
}

void Checkpoint::read_index(const Bytes& index, Budget& budget) {
  const std::map<std::string, Bytes> table = read_table(index, budget);
  const auto header = table.find("");
  if (header == table.end()) throw Error(Code::bad_checkpoint, "the checkpoint has no header");
  if (is_version_1(header->second)) {
    v1_ = read_version_1(table, budget);
    return;
  }
  std::int64_t endianness = 0;
  for (protobuf::Reader r(header->second); r.next();) {
    if (r.field() == 1) shard_count_ = r.int32();
    if (r.field() == 2) endianness = r.int64();
  }
  if (endianness != 0) throw Error(Code::unsupported_feature, "the checkpoint was written on a big-endian machine");
  if (shard_count_ < 1 || shard_count_ > 99999)
    throw Error(Code::bad_checkpoint, "the number of data files is not sensible");
  for (const auto& [key, value] : table)
    if (!key.empty()) entries_.emplace(key, read_entry(value));
}

Checkpoint Checkpoint::of(const Bytes& index, std::vector<Bytes> shards, Budget& budget) {
  Checkpoint checkpoint;
  checkpoint.read_index(index, budget);
  checkpoint.shards_ = std::move(shards);
  return checkpoint;
}

Checkpoint Checkpoint::open(const std::string& directory, const std::string& prefix, PathPolicy policy,
                            Budget& budget) {
  Bytes index;
  try {
    index = map_beneath(directory, prefix + ".index", policy);
  } catch (const Error& error) {
    if (error.code() != Code::cannot_open) throw;
    index = map_beneath(directory, prefix, policy);
  }
  Checkpoint checkpoint = of(index, {}, budget);
  // A missing data file is told when something in it is asked for.
  for (std::int32_t i = 0; i < checkpoint.shard_count_; ++i) {
    if (checkpoint.shard_count_ > 1000)
      throw Error(Code::bad_checkpoint, "the checkpoint has more than 1000 data files");
    try {
      checkpoint.shards_.push_back(map_beneath(directory, data_name(prefix, i, checkpoint.shard_count_), policy));
    } catch (const Error& error) {
      if (error.code() != Code::cannot_open) throw;
      checkpoint.shards_.emplace_back();
    }
  }
  return checkpoint;
}

std::vector<std::string> Checkpoint::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, entry] : entries_)
    if (key.find('\0') == std::string::npos) names.push_back(key);
  for (const auto& [key, tensor] : v1_) names.push_back(key);
  return names;
}

const Bytes& Checkpoint::shard(std::int32_t number) const {
  if (number < 0 || static_cast<std::size_t>(number) >= shards_.size())
    throw Error(Code::bad_checkpoint, "a tensor lies in data file " + std::to_string(number) + ", which there is not");
  return shards_[static_cast<std::size_t>(number)];
}

TensorProto Checkpoint::read(const Entry& entry, Budget& budget) const {
  (void)budget;
  if (entry.offset < 0 || entry.size < 0) throw Error(Code::bad_checkpoint, "a tensor lies at a negative place");
  const Bytes data =
      shard(entry.shard).slice(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.size));
  TensorProto tensor;
  tensor.dtype = entry.dtype;
  tensor.shape = entry.shape;
  std::uint32_t crc = 0;
  if (entry.dtype == DataType::string) {
    tensor.strings = read_strings(data, element_count(entry.shape), crc);
  } else {
    const auto wanted = checked_mul(element_count(entry.shape), std::uint64_t{element_size(entry.dtype)});
    if (!wanted || *wanted != data.size())
      throw Error(Code::tensor_size_mismatch, "a tensor's data does not have the size that its shape needs");
    crc = crc32c(data.span());
    tensor.elements = data;
  }
  if (masked_crc(crc) != entry.crc) throw Error(Code::checksum_mismatch, "a tensor's data is damaged");
  return tensor;
}

TensorProto Checkpoint::joined(const std::string& key, const Entry& entry, Budget& budget) const {
  std::uint64_t available = 0;
  for (const Bytes& s : shards_) available += s.size();
  SlicedTensor tensor(entry.dtype, entry.shape, available, budget);
  for (const std::vector<SliceExtent>& slice : entry.slices) {
    const auto part = entries_.find(slice_key(key, slice));
    if (part == entries_.end()) throw Error(Code::bad_checkpoint, "a part of a tensor is missing");
    tensor.place(slice, read(part->second, budget).elements);
  }
  return tensor.finish();
}

std::optional<TensorProto> Checkpoint::read(const std::string& key, Budget& budget) const try {
  if (const auto found = v1_.find(key); found != v1_.end()) return found->second;
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  return found->second.slices.empty() ? read(found->second, budget) : joined(key, found->second, budget);
} catch (const Error& error) {
  throw Error(error.code(), "variable '" + key + "': " + error.message());
}

}  // namespace ingot::formats::tensorflow
