// The members of a group: in a tree with a heap of names, as messages, or in a fractal heap.
#include "ingot/base/error.h"
#include "ingot/formats/hdf5/fractal_heap.h"
#include "ingot/formats/hdf5/object.h"
#include "ingot/formats/hdf5/trees.h"

namespace ingot::formats::hdf5 {
namespace {

[[noreturn]] void refuse_link(const std::string& name, bool is_external) {
  throw Error(Code::bad_hdf5, "HDF5: '" + name + "' is " + (is_external ? "a link to another file" : "a link by name") +
                                  ", which is refused")
      .hint("copy the file with h5repack, or save the model again");
}

std::string text_at(const Bytes& heap, std::uint64_t offset) {
  if (offset >= heap.size()) refuse("a name lies outside its heap");
  const std::string_view rest = heap.text().substr(static_cast<std::size_t>(offset));
  return std::string(rest.substr(0, rest.find('\0')));
}

void read_symbol_table(const Space& space, ByteReader in, ObjectData& object) {
  const std::uint64_t tree = space.offset(in), heap_address = space.offset(in);
  ByteReader head = space.reader(heap_address, 8 + 2 * space.length_size() + space.offset_size());
  expect_signature(head, "HEAP");
  head.skip(4);
  const std::uint64_t size = space.length(head);
  head.skip(space.length_size());
  const Bytes names = space.slice(space.offset(head), size);
  walk_old_tree(space, tree, 0, space.length_size(), [&](ByteReader, std::uint64_t node) {
    const unsigned o = space.offset_size();
    ByteReader top = space.reader(node, 8);
    expect_signature(top, "SNOD");
    top.skip(2);
    const std::uint64_t count = top.u16();
    ByteReader entries = space.reader(node + 8, count * (2 * o + 24));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t name_at = space.offset(entries), address = space.offset(entries);
      const std::uint32_t cached = entries.u32();
      entries.skip(20);
      const std::string name = text_at(names, name_at);
      space.count(name.size());
      if (cached == 2) refuse_link(name, false);
      object.links.push_back({name, address});
    }
  });
}

void read_link(const Space& space, ByteReader in, ObjectData& object) {
  if (in.u8() != 1) refuse("a link is of an unknown version");
  const unsigned flags = in.u8();
  const unsigned type = flags & 8 ? in.u8() : 0;
  if (flags & 4) in.skip(8);
  if (flags & 16) in.skip(1);
  const std::uint64_t size = read_number(in, 1U << (flags & 3));
  const auto bytes = in.bytes(size);
  const std::string name(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  space.count(size);
  if (type != 0) refuse_link(name, type == 64);
  object.links.push_back({name, space.offset(in)});
}

void read_dense_links(const Space& space, ByteReader in, ObjectData& object) {
  in.skip(1);
  const unsigned flags = in.u8();
  if (flags & 1) in.skip(8);
  const std::uint64_t heap_address = space.offset(in), tree = space.offset(in);
  if (space.is_undefined(heap_address) || space.is_undefined(tree)) return;
  const FractalHeap heap(space, heap_address);
  walk_tree(space, tree, 5, [&](ByteReader record) {
    record.skip(4);
    const std::size_t at = record.offset();
    const Bytes message = heap.object(ByteReader(record.bytes(record.remaining()), at));
    read_link(space, ByteReader(message.span()), object);
  });
}

}  // namespace

void read_links(const Space& space, const std::vector<Message>& messages, ObjectData& object) {
  for (const Message& message : messages) {
    switch (message.type) {
      case MessageType::symbol_table:
        object.is_group = true;
        read_symbol_table(space, message.content, object);
        break;
      case MessageType::link_info:
        object.is_group = true;
        read_dense_links(space, message.content, object);
        break;
      case MessageType::link:
        object.is_group = true;
        read_link(space, message.content, object);
        break;
      default:
        break;
    }
  }
}

}  // namespace ingot::formats::hdf5
