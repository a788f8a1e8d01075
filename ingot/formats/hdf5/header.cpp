// Object headers: lists of messages, in one block or several.
#include "ingot/formats/hdf5/header.h"

#include <unordered_set>

namespace ingot::formats::hdf5 {
namespace {

struct Block {
  std::uint64_t address = 0, size = 0;
};

class Header {
 public:
  explicit Header(const Space& space) : space_(space) {}

  std::vector<Message> read(std::uint64_t address) {
    ByteReader in = space_.reader(address);
    if (in.u8() == 1)
      begin_old(address);
    else
      begin_new(address);
    while (!blocks_.empty()) {
      const Block block = blocks_.back();
      blocks_.pop_back();
      if (!seen_.insert(block.address).second) refuse("an object header leads back to itself");
      if (is_old_)
        read_block(space_.reader(block.address, block.size));
      else
        read_block(space_.checked_reader(block.address, block.size, "OCHK"));
    }
    return std::move(messages_);
  }

 private:
  void begin_old(std::uint64_t address) {
    is_old_ = true;
    ByteReader in = space_.reader(address, 16);
    in.skip(8);
    blocks_.push_back({address + 16, in.u32()});
  }

  void begin_new(std::uint64_t address) {
    ByteReader in = space_.reader(address);
    expect_signature(in, "OHDR");
    if (in.u8() != 2) refuse("an object header is of an unknown version");
    const unsigned flags = in.u8();
    has_order_ = (flags & 4) != 0;
    if (flags & 0x20) in.skip(16);  // times
    if (flags & 0x10) in.skip(4);   // how many attributes are kept inside
    const std::uint64_t size = read_number(in, 1U << (flags & 3));
    const std::uint64_t before = in.position();
    if (size > space_.size()) refuse("an object header is too long");
    ByteReader all = space_.checked_reader(address, before + size + 4, "OHDR");
    all.skip(before - 4);
    read_block(all);
  }

  void read_block(ByteReader in) {
    const std::size_t head = is_old_ ? 8 : has_order_ ? 6 : 4;
    while (in.remaining() >= head) {
      const unsigned type = is_old_ ? in.u16() : in.u8();
      const std::uint64_t size = in.u16();
      const unsigned flags = in.u8();
      in.skip(is_old_ ? 3 : has_order_ ? 2 : 0);
      const std::size_t at = in.offset();
      Message message{static_cast<MessageType>(type), (flags & 2) != 0, ByteReader(in.bytes(size), at)};
      if (message.type == MessageType::continuation) {
        const std::uint64_t address = space_.offset(message.content);
        blocks_.push_back({address, space_.length(message.content)});
      } else if (type != 0) {
        messages_.push_back(message);
      }
    }
  }

  const Space& space_;
  bool is_old_ = false, has_order_ = false;
  std::vector<Block> blocks_;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<Message> messages_;
};

}  // namespace

std::vector<Message> read_messages(const Space& space, std::uint64_t address) { return Header(space).read(address); }

}  // namespace ingot::formats::hdf5
