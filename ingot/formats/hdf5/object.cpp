// What an object says of itself: attributes, the form of its data.
#include "ingot/formats/hdf5/object.h"

#include "ingot/base/error.h"
#include "ingot/formats/hdf5/fractal_heap.h"
#include "ingot/formats/hdf5/trees.h"

namespace ingot::formats::hdf5 {
namespace {

Bytes bytes_at(const Space& space, const ByteReader& content) {
  return space.slice(content.offset(), content.remaining());
}

Error refused(const std::string& what) {
  return Error(Code::bad_hdf5, "HDF5: " + what).hint("copy the weights into a file of their own");
}

/// Versions 1 and 2.
Layout read_old_layout(const Space& space, ByteReader& in) {
  Layout layout;
  const unsigned rank = in.u8(), kind = in.u8();
  in.skip(5);
  if (kind > 2) refuse("data lie in an unknown way");
  layout.kind = kind == 0 ? Layout::Kind::compact : kind == 1 ? Layout::Kind::contiguous : Layout::Kind::chunked;
  if (kind != 0) layout.address = space.offset(in);
  std::vector<std::uint64_t> sizes;
  for (unsigned i = 0; i < rank; ++i) sizes.push_back(in.u32());
  if (kind == 2) {
    layout.chunk.assign(sizes.begin(), sizes.empty() ? sizes.end() : sizes.end() - 1);  // the last is the element's
  } else if (kind == 0) {
    const std::uint64_t size = in.u32();
    layout.compact = space.slice(in.offset(), size);
    in.skip(size);
  } else {
    layout.size = ~std::uint64_t{0};  // not stated
  }
  return layout;
}

void read_chunks_4(const Space& space, ByteReader& in, Layout& layout) {
  const unsigned flags = in.u8(), rank = in.u8(), width = in.u8();
  if (rank == 0 || width == 0 || width > 8) refuse("chunks have no sizes");
  for (unsigned i = 0; i < rank; ++i) layout.chunk.push_back(read_number(in, width));
  layout.chunk.pop_back();  // the element's
  layout.index = in.u8();
  switch (layout.index) {
    case 1:
      if (flags & 2) {
        layout.single_size = space.length(in);
        layout.single_mask = in.u32();
      }
      break;
    case 2:
      break;
    case 3:
      in.skip(1);
      break;
    case 5:
      in.skip(6);
      break;
    default:
      throw Error(Code::unsupported_feature, "HDF5: chunks of a dataset that may grow along one axis are not read")
          .hint("write it without libver='latest', or without maxshape");
  }
  layout.address = space.offset(in);
}

Layout read_layout(const Space& space, ByteReader in) {
  const unsigned version = in.u8();
  if (version == 1 || version == 2) return read_old_layout(space, in);
  if (version != 3 && version != 4) refuse("data lie in an unknown way");
  Layout layout;
  switch (in.u8()) {
    case 0: {
      layout.kind = Layout::Kind::compact;
      const std::uint64_t size = in.u16();
      layout.compact = space.slice(in.offset(), size);
      in.skip(size);
      return layout;
    }
    case 1:
      layout.kind = Layout::Kind::contiguous;
      layout.address = space.offset(in);
      layout.size = space.length(in);
      return layout;
    case 2:
      layout.kind = Layout::Kind::chunked;
      if (version == 4) {
        read_chunks_4(space, in, layout);
        return layout;
      }
      {
        const unsigned rank = in.u8();
        layout.address = space.offset(in);
        for (unsigned i = 0; i + 1 < rank; ++i) layout.chunk.push_back(in.u32());
      }
      return layout;
    case 3:
      throw refused("virtual datasets, whose data lie in other files, are refused");
    default:
      refuse("data lie in an unknown way");
  }
}

std::vector<Filter> read_filters(ByteReader in) {
  const unsigned version = in.u8(), count = in.u8();
  if (version != 1 && version != 2) refuse("filters are of an unknown version");
  if (version == 1) in.skip(6);
  std::vector<Filter> filters;
  for (unsigned i = 0; i < count; ++i) {
    Filter filter;
    filter.id = in.u16();
    const bool has_name = version == 1 || filter.id >= 256;
    const std::uint64_t name = has_name ? in.u16() : 0;
    in.skip(2);
    const unsigned values = in.u16();
    in.skip(version == 1 ? (name + 7) / 8 * 8 : name);
    for (unsigned v = 0; v < values; ++v) filter.values.push_back(in.u32());
    if (version == 1 && values % 2) in.skip(4);
    filters.push_back(std::move(filter));
  }
  return filters;
}

std::string attribute_name(ByteReader in) {
  const unsigned version = in.u8();
  if (version < 1 || version > 3) refuse("an attribute is of an unknown version");
  in.skip(1);
  const std::uint64_t size = in.u16();
  in.skip(version == 3 ? 5 : 4);
  const auto bytes = in.bytes(size);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::string(text.substr(0, text.find('\0')));
}

/// Many attributes lie in a heap.
void read_dense_attributes(const Space& space, ByteReader in, ObjectData& object) {
  in.skip(1);
  const unsigned flags = in.u8();
  if (flags & 1) in.skip(2);
  const std::uint64_t heap_address = space.offset(in), tree = space.offset(in);
  if (space.is_undefined(heap_address) || space.is_undefined(tree)) return;
  const FractalHeap heap(space, heap_address);
  walk_tree(space, tree, 8, [&](ByteReader record) {
    const std::size_t at = record.offset();
    const auto id = record.bytes(8);
    if ((record.u8() & 2) != 0) throw refused("attributes that several objects share are refused");
    const Bytes message = heap.object(ByteReader(id, at));
    object.attributes.emplace(attribute_name(ByteReader(message.span())), message);
  });
}

}  // namespace

ObjectData read_object(const Space& space, std::uint64_t address) {
  ObjectData object;
  const std::vector<Message> messages = read_messages(space, address);
  for (const Message& message : messages) {
    const bool matters = message.type == MessageType::dataspace || message.type == MessageType::datatype ||
                         message.type == MessageType::layout || message.type == MessageType::filters ||
                         message.type == MessageType::attribute;
    if (matters && message.is_shared) throw refused("committed types and shared messages are refused");
    switch (message.type) {
      case MessageType::dataspace:
        object.dataspace = bytes_at(space, message.content);
        break;
      case MessageType::datatype:
        object.datatype = bytes_at(space, message.content);
        break;
      case MessageType::layout:
        object.layout = read_layout(space, message.content);
        break;
      case MessageType::filters:
        object.filters = read_filters(message.content);
        break;
      case MessageType::external_files:
        throw refused("datasets whose data lie in other files are refused");
      case MessageType::attribute:
        object.attributes.emplace(attribute_name(message.content), bytes_at(space, message.content));
        break;
      case MessageType::attribute_info:
        read_dense_attributes(space, message.content, object);
        break;
      default:
        break;
    }
  }
  read_links(space, messages, object);
  return object;
}

Array read_attribute(const Space& space, GlobalHeap& heap, const Bytes& message) {
  ByteReader in(message.span());
  const unsigned version = in.u8(), flags = in.u8();
  const std::uint64_t name = in.u16(), type_size = in.u16(), dims_size = in.u16();
  if (version == 3) in.skip(1);
  if (version >= 2 && flags != 0) throw refused("committed types and shared messages are refused");
  const auto padded = [&](std::uint64_t size) { return version == 1 ? (size + 7) / 8 * 8 : size; };
  in.skip(padded(name));
  ByteReader type_in(in.bytes(padded(type_size))), dims_in(in.bytes(padded(dims_size)));
  const Datatype type = read_datatype(type_in);
  const auto dims = read_dataspace(space, dims_in);
  if (!dims) return {type.dtype, type.size, {0}, {}, {}};
  const std::uint64_t size = stored_size(type, *dims);
  if (size > in.remaining()) refuse("an attribute is cut off");
  return to_array(space, heap, type, *dims, message.slice(in.position(), static_cast<std::size_t>(size)));
}

}  // namespace ingot::formats::hdf5
