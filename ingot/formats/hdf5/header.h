#pragma once
#include <vector>

#include "ingot/formats/hdf5/space.h"

namespace ingot::formats::hdf5 {

enum class MessageType : std::uint16_t {
  dataspace = 1,
  link_info = 2,
  datatype = 3,
  link = 6,
  external_files = 7,
  layout = 8,
  filters = 11,
  attribute = 12,
  continuation = 16,
  symbol_table = 17,
  attribute_info = 21,
};

/// One of the statements that an object is made of.
struct Message {
  MessageType type{};
  bool is_shared = false;  // its content is elsewhere
  ByteReader content;
};

/// All messages of the object at an address, of either version.
std::vector<Message> read_messages(const Space& space, std::uint64_t address);

}  // namespace ingot::formats::hdf5
