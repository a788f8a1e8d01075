#pragma once
#include "ingot/formats/hdf5/space.h"

namespace ingot::formats::hdf5 {

/// Where groups and objects keep many links and attributes.
class FractalHeap {
 public:
  FractalHeap(const Space& space, std::uint64_t address);

  /// The object that an identifier names.
  Bytes object(ByteReader id) const;

 private:
  Bytes managed(std::uint64_t offset, std::uint64_t size) const;
  Bytes huge(std::uint64_t key) const;
  std::uint64_t row_size(unsigned row) const;

  const Space& space_;
  unsigned width_ = 0, offset_width_ = 0, length_width_ = 0, root_rows_ = 0;
  std::uint64_t first_block_ = 0, largest_block_ = 0, root_ = 0, huge_tree_ = 0;
};

}  // namespace ingot::formats::hdf5
