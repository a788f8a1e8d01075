#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/formats/hdf5/header.h"
#include "ingot/formats/hdf5/types.h"

namespace ingot::formats::hdf5 {

/// How the elements of a dataset lie in the file.
struct Layout {
  enum class Kind : std::uint8_t { none, compact, contiguous, chunked };
  Kind kind = Kind::none;
  Bytes compact;
  std::uint64_t address = 0, size = 0;  // of contiguous data, or of the index of chunks
  std::vector<std::uint64_t> chunk;     // elements of a chunk along each axis
  unsigned index = 0;                   // 0: a tree of version 1, else as the file numbers them
  std::uint64_t single_size = 0;        // of the only chunk where it is compressed
  std::uint32_t single_mask = 0;
};

struct Filter {
  unsigned id = 0;
  std::vector<std::uint32_t> values;
};

struct Link {
  std::string name;
  std::uint64_t address = 0;
};

/// What an object header says, decoded as far as every reader needs it.
struct ObjectData {
  bool is_group = false;
  std::vector<Link> links;
  std::map<std::string, Bytes, std::less<>> attributes;  // as messages
  std::optional<Bytes> datatype, dataspace;              // as messages
  std::optional<Layout> layout;
  std::vector<Filter> filters;
};

/// All objects of a file that were asked for.
struct Objects {
  Objects(Bytes contents, Budget* budget) : space(std::move(contents), budget) {}
  const Object& at(std::uint64_t address);

  Space space;
  GlobalHeap heap;
  std::uint64_t root = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Object>> known;
};

ObjectData read_object(const Space& space, std::uint64_t address);
/// Adds the members of a group.
void read_links(const Space& space, const std::vector<Message>& messages, ObjectData& object);
Array read_attribute(const Space& space, GlobalHeap& heap, const Bytes& message);
/// The elements of a dataset, out of their chunks.
Bytes read_elements(const Space& space, const ObjectData& object, const Datatype& type,
                    const std::vector<std::int64_t>& dims);
/// A chunk as it was before its filters; `size`: of the elements in it.
std::vector<std::byte> unfiltered(std::span<const std::byte> stored, const std::vector<Filter>& filters,
                                  std::uint32_t skipped, std::uint64_t size);

}  // namespace ingot::formats::hdf5
