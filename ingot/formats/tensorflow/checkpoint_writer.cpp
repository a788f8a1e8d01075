// Checkpoints: tables of where tensors lie, and the tensors.
#include "ingot/formats/tensorflow/checkpoint_writer.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/base/hash.h"
#include "ingot/formats/tensorflow/table_file.h"
#include "ingot/formats/tensorflow/write_messages.h"

namespace ingot::formats::tensorflow {
namespace {

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

template <class T> void append_fixed(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Entries of a block: keys without what they share with the one before.
class Block {
 public:
  explicit Block(std::size_t restart_interval) : interval_(restart_interval) {}

  void add(const std::string& key, const std::string& value) {
    std::size_t shared = 0;
    if (count_ % interval_ == 0)
      restarts_.push_back(static_cast<std::uint32_t>(text_.size()));
    else
      while (shared < std::min(last_.size(), key.size()) && last_[shared] == key[shared]) ++shared;
    append_varint(text_, shared);
    append_varint(text_, key.size() - shared);
    append_varint(text_, value.size());
    text_.append(key, shared);
    text_ += value;
    last_ = key;
    ++count_;
  }

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return text_.size(); }
  const std::string& last_key() const { return last_; }

  std::string finish() {
    if (restarts_.empty()) restarts_.push_back(0);
    for (const std::uint32_t at : restarts_) append_fixed(text_, at);
    append_fixed(text_, static_cast<std::uint32_t>(restarts_.size()));
    return std::move(text_);
  }

 private:
  std::size_t interval_, count_ = 0;
  std::string text_, last_;
  std::vector<std::uint32_t> restarts_;
};

class TableWriter {
 public:
  explicit TableWriter(Sink& sink) : sink_(sink) {}

  void add(const std::string& key, const std::string& value) {
    constexpr std::size_t kBlockSize = 262144;
    block_.add(key, value);
    if (block_.size() >= kBlockSize) end_block();
  }

  void finish() {
    if (!block_.empty()) end_block();
    std::string footer = write(Block(1).finish());  // there is nothing to say of the table itself
    footer += write(index_.finish());
    footer.resize(40);
    append_fixed(footer, std::uint64_t{0xdb4775248b80fb57});
    sink_.write(bytes_of(footer));
  }

 private:
  void end_block() {
    const std::string last = block_.last_key();
    index_.add(last, write(block_.finish()));
    block_ = Block(16);
  }

  /// Where the block lies.
  std::string write(std::string block) {
    std::string handle;
    append_varint(handle, position_);
    append_varint(handle, block.size());
    block += '\0';  // not compressed
    append_fixed(block, masked_crc(crc32c(bytes_of(block))));
    sink_.write(bytes_of(block));
    position_ += block.size();
    return handle;
  }

  Sink& sink_;
  std::uint64_t position_ = 0;
  Block block_{16}, index_{1};
};

/// Lengths, their checksum, then the bytes of all. Returns the checksum of what it means.
std::uint32_t pack_strings(const std::vector<std::string>& strings, std::string& out) {
  std::uint32_t crc = 0;
  for (const std::string& s : strings) {
    append_varint(out, s.size());
    std::string length;
    if (s.size() <= UINT32_MAX)
      append_fixed(length, static_cast<std::uint32_t>(s.size()));
    else
      append_fixed(length, static_cast<std::uint64_t>(s.size()));
    crc = crc32c(bytes_of(length), crc);
  }
  std::string stored;
  append_fixed(stored, masked_crc(crc));
  out += stored;
  crc = crc32c(bytes_of(stored), crc);
  for (const std::string& s : strings) {
    out += s;
    crc = crc32c(bytes_of(s), crc);
  }
  return crc;
}

std::string entry_of(const TensorProto& tensor, std::uint64_t offset, std::uint64_t size, std::uint32_t crc) {
  std::string checksum("\x35");  // field 6 of four bytes
  append_fixed(checksum, masked_crc(crc));
  const Bytes raw = Bytes::own(std::move(checksum));
  return protobuf::serialize([&](protobuf::Writer& w) {
    w.int32(1, static_cast<std::int32_t>(tensor.dtype));
    w.message(2, [&] { write_shape(w, tensor.shape); });
    if (offset) w.varint(4, offset);
    if (size) w.varint(5, size);
    w.raw_field(raw);
  });
}

}  // namespace

void write_table(const std::vector<std::pair<std::string, std::string>>& entries, Sink& sink) {
  TableWriter table(sink);
  for (const auto& [key, value] : entries) table.add(key, value);
  table.finish();
}

void write_checkpoint(std::vector<std::pair<std::string, TensorProto>> tensors, Sink& index, Sink& data) {
  std::ranges::sort(tensors, {}, &std::pair<std::string, TensorProto>::first);
  std::vector<std::pair<std::string, std::string>> entries;
  entries.emplace_back("", protobuf::serialize([](protobuf::Writer& w) {
                         w.int32(1, 1);  // one data file
                         w.message(3, [&] { w.int32(1, 1); });
                       }));
  std::uint64_t at = 0;
  for (const auto& [key, tensor] : tensors) {
    if (tensor.dtype == DataType::string) {
      std::string packed;
      const std::uint32_t crc = pack_strings(tensor.strings, packed);
      data.write(bytes_of(packed));
      entries.emplace_back(key, entry_of(tensor, at, packed.size(), crc));
      at += packed.size();
      continue;
    }
    data.write(tensor.elements.span());
    entries.emplace_back(key, entry_of(tensor, at, tensor.elements.size(), crc32c(tensor.elements.span())));
    at += tensor.elements.size();
  }
  for (std::size_t i = 1; i < entries.size(); ++i)
    if (entries[i].first <= entries[i - 1].first)
      throw Error(Code::broken_invariant, "two variables of a checkpoint are named '" + entries[i].first + "'");
  write_table(entries, index);
}

}  // namespace ingot::formats::tensorflow
