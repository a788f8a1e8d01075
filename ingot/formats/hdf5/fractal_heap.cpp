// Fractal heaps: objects in blocks whose sizes double from row to row.
#include "ingot/formats/hdf5/fractal_heap.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "ingot/base/error.h"
#include "ingot/formats/hdf5/trees.h"

namespace ingot::formats::hdf5 {

FractalHeap::FractalHeap(const Space& space, std::uint64_t address) : space_(space) {
  const unsigned o = space.offset_size(), l = space.length_size();
  ByteReader in = space.checked_reader(address, 26 + 3 * o + 12 * l, "FRHP");
  if (in.u8() != 0) refuse("a heap is of an unknown version");
  in.skip(2);  // the size of identifiers, which say their own
  if (in.u16() != 0) throw Error(Code::unsupported_feature, "HDF5: heaps that are compressed are not read");
  in.skip(1);
  const std::uint64_t most_managed = in.u32();
  in.skip(l);
  huge_tree_ = space.offset(in);
  in.skip(l + o + 8 * l);
  width_ = in.u16();
  first_block_ = space.length(in);
  largest_block_ = space.length(in);
  const unsigned bits = in.u16();
  in.skip(2);
  root_ = space.offset(in);
  root_rows_ = in.u16();
  if (!std::has_single_bit(first_block_) || !std::has_single_bit(largest_block_) || largest_block_ < first_block_ ||
      !std::has_single_bit(width_) || bits == 0 || bits > 64 || root_rows_ > 64 ||
      std::bit_width(largest_block_) + std::bit_width(width_) > 60)
    refuse("a heap is impossible");
  offset_width_ = (bits + 7) / 8;
  length_width_ = width_of(std::min(most_managed, largest_block_));
}

std::uint64_t FractalHeap::row_size(unsigned row) const { return row < 2 ? first_block_ : first_block_ << (row - 1); }

Bytes FractalHeap::object(ByteReader id) const {
  const unsigned head = id.u8();
  if (head >> 6 != 0) refuse("an object of a heap has an unknown form");
  switch (head >> 4 & 3) {
    case 0: {
      const std::uint64_t offset = read_number(id, offset_width_);
      return managed(offset, read_number(id, length_width_));
    }
    case 1:
      return huge(read_number(id, std::min<unsigned>(8, static_cast<unsigned>(id.remaining()))));
    case 2: {
      const auto bytes = id.bytes((head & 15) + 1U);
      return Bytes::copy(bytes);
    }
    default:
      refuse("an object of a heap has an unknown form");
  }
}

Bytes FractalHeap::huge(std::uint64_t key) const {
  std::optional<Bytes> found;
  walk_tree(space_, huge_tree_, 1, [&](ByteReader record) {
    const std::uint64_t address = space_.offset(record), size = space_.length(record);
    if (space_.length(record) == key) found = space_.slice(address, size);
  });
  if (!found) refuse("a large object is not in its heap");
  return *found;
}

Bytes FractalHeap::managed(std::uint64_t offset, std::uint64_t size) const {
  std::uint64_t block = root_, from = 0, block_size = first_block_;
  unsigned rows = root_rows_;
  const auto direct_rows = static_cast<unsigned>(std::bit_width(largest_block_) - std::bit_width(first_block_)) + 2;
  // From table to table down to the block that holds the object.
  for (int depth = 0; rows != 0; ++depth) {
    if (depth > 32) refuse("a heap is too deep");
    std::uint64_t row_start = from;
    unsigned row = 0;
    while (row < rows && offset - row_start >= row_size(row) * width_) row_start += row_size(row++) * width_;
    if (row >= rows || row >= 60) refuse("an object lies outside its heap");
    const std::uint64_t column = (offset - row_start) / row_size(row);
    const std::uint64_t entry = std::uint64_t{row} * width_ + column;
    const unsigned o = space_.offset_size();
    ByteReader head = space_.reader(block, 5 + o + offset_width_);
    expect_signature(head, "FHIB");
    ByteReader in = space_.reader(block + 5 + o + offset_width_ + entry * o, o);
    block = space_.offset(in);
    from = row_start + column * row_size(row);
    block_size = row_size(row);
    const int wide =
        static_cast<int>(std::bit_width(block_size)) - static_cast<int>(std::bit_width(first_block_ * width_));
    if (row >= direct_rows && wide < 0) refuse("a heap is impossible");
    rows = row < direct_rows ? 0 : static_cast<unsigned>(wide) + 1;
  }
  ByteReader head = space_.reader(block, 4);
  expect_signature(head, "FHDB");
  if (offset < from || size > block_size || offset - from > block_size - size)
    refuse("an object lies outside its heap");
  space_.count(size);
  return space_.slice(block + (offset - from), size);
}

}  // namespace ingot::formats::hdf5
