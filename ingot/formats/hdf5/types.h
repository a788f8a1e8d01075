#pragma once
#include <map>
#include <optional>
#include <vector>

#include "ingot/formats/hdf5/file.h"
#include "ingot/formats/hdf5/space.h"

namespace ingot::formats::hdf5 {

/// What the elements of a dataset or attribute are.
struct Datatype {
  enum class Kind : std::uint8_t { number, text, variable_text, raw };
  Kind kind = Kind::raw;
  DType dtype = DType::undefined;
  std::uint32_t size = 0;  // of one element as it is stored
  bool is_big_endian = false;
  bool is_padded_with_spaces = false;  // else with zeros
};

/// Refuses what is no number and no text with its name: references, compounds, lists of any length.
Datatype read_datatype(ByteReader& in);
/// The dimensions; nothing: it holds no element at all.
std::optional<std::vector<std::int64_t>> read_dataspace(const Space& space, ByteReader& in);

/// Texts of any length lie in collections of their own.
class GlobalHeap {
 public:
  std::string text(const Space& space, std::uint64_t collection, std::uint32_t index, std::uint32_t length);

 private:
  struct Place {
    std::uint64_t address = 0, size = 0;
  };
  using Collection = std::map<std::uint32_t, Place>;
  const Collection& collection(const Space& space, std::uint64_t address);
  std::map<std::uint64_t, Collection> collections_;
};

/// Stored elements as an array; `stored` has exactly the bytes that type and dimensions need.
Array to_array(const Space& space, GlobalHeap& heap, const Datatype& type, std::vector<std::int64_t> dims,
               const Bytes& stored);
/// Bytes of that many elements; refuses what does not fit.
std::uint64_t stored_size(const Datatype& type, const std::vector<std::int64_t>& dims);

}  // namespace ingot::formats::hdf5
