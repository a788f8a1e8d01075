// Datasets that are stored in pieces.
#include <algorithm>
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/formats/hdf5/object.h"
#include "ingot/formats/hdf5/trees.h"

namespace ingot::formats::hdf5 {
namespace {

struct Chunk {
  std::vector<std::uint64_t> start;  // of its first element along each axis
  std::uint64_t address = 0, size = 0;
  std::uint32_t skipped = 0;
};

/// The grid of chunks, the last axis fastest.
struct Grid {
  std::vector<std::uint64_t> chunk, counts;
  std::uint64_t total = 1, chunk_elements = 1;

  std::vector<std::uint64_t> start_of(std::uint64_t number) const {
    std::vector<std::uint64_t> start(chunk.size());
    for (std::size_t i = chunk.size(); i-- > 0; number /= counts[i]) start[i] = number % counts[i] * chunk[i];
    return start;
  }
};

Grid grid_of(const Layout& layout, const std::vector<std::int64_t>& dims) {
  Grid grid;
  grid.chunk = layout.chunk;
  if (grid.chunk.size() != dims.size()) refuse("chunks have another rank than their dataset");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto dim = static_cast<std::uint64_t>(dims[i]);
    if (grid.chunk[i] == 0) refuse("chunks are empty");
    grid.counts.push_back(dim / grid.chunk[i] + (dim % grid.chunk[i] ? 1 : 0));
    const auto total = checked_mul(grid.total, grid.counts[i]);
    const auto elements = checked_mul(grid.chunk_elements, grid.chunk[i]);
    if (!total || !elements) refuse("chunks are too many");
    grid.total = *total;
    grid.chunk_elements = *elements;
  }
  return grid;
}

/// Only as many as the file has room for.
void require_room(const Space& space, std::uint64_t count, std::uint64_t bytes_each) {
  const auto size = checked_mul(count, bytes_each);
  if (!size || *size > space.size()) refuse("it has fewer chunks than its dataset needs");
}

void read_fixed_array(const Space& space, const Layout& layout, const Grid& grid, std::uint64_t raw_size,
                      std::vector<Chunk>& chunks) {
  const unsigned o = space.offset_size(), l = space.length_size();
  ByteReader head = space.checked_reader(layout.address, 12 + l + o, "FAHD");
  head.skip(1);
  const bool is_filtered = head.u8() == 1;
  const unsigned entry = head.u8(), page_bits = head.u8();
  const std::uint64_t count = space.length(head), block = space.offset(head);
  if (count != grid.total || entry < o || page_bits > 31 || (is_filtered && entry < o + 5U))
    refuse("an index of chunks is impossible");
  require_room(space, count, entry);
  const std::uint64_t page = std::uint64_t{1} << page_bits, pages = count > page ? (count + page - 1) / page : 0;
  std::uint64_t at = block + 6 + o + (pages ? (pages + 7) / 8 + 4 : 0);
  for (std::uint64_t first = 0; first < count; first += pages ? page : count) {
    const std::uint64_t here = pages ? std::min(page, count - first) : count;
    ByteReader in = space.reader(at, here * entry);
    for (std::uint64_t i = 0; i < here; ++i) {
      Chunk chunk{grid.start_of(first + i), space.offset(in), raw_size, 0};
      if (is_filtered) {
        chunk.size = read_number(in, std::min(8U, entry - o - 4));
        chunk.skipped = in.u32();
      }
      chunks.push_back(std::move(chunk));
    }
    at += here * entry + 4;
  }
}

void read_tree_5(const Space& space, const Layout& layout, const Grid& grid, std::uint64_t raw_size,
                 std::vector<Chunk>& chunks) {
  const bool is_filtered = tree_type(space, layout.address) == 11;
  const std::size_t rank = grid.chunk.size();
  walk_tree(space, layout.address, is_filtered ? 11 : 10, [&](ByteReader record) {
    Chunk chunk{{}, space.offset(record), raw_size, 0};
    if (is_filtered) {
      if (record.remaining() < 4 + 8 * rank) refuse("a chunk's record is too short");
      chunk.size =
          read_number(record, static_cast<unsigned>(std::min<std::size_t>(8, record.remaining() - 4 - 8 * rank)));
      chunk.skipped = record.u32();
    }
    for (std::size_t i = 0; i < rank; ++i) {
      const auto start = checked_mul(record.u64(), grid.chunk[i]);
      if (!start) refuse("a chunk lies outside its dataset");
      chunk.start.push_back(*start);
    }
    chunks.push_back(std::move(chunk));
  });
}

std::vector<Chunk> find_chunks(const Space& space, const Layout& layout, const Grid& grid, std::uint64_t raw_size) {
  std::vector<Chunk> chunks;
  if (space.is_undefined(layout.address)) return chunks;
  const std::size_t rank = grid.chunk.size();
  switch (layout.index) {
    case 0:
      walk_old_tree(space, layout.address, 1, 8 + 8 * (rank + 1), [&](ByteReader key, std::uint64_t child) {
        Chunk chunk{{}, child, key.u32(), 0};
        chunk.skipped = key.u32();
        for (std::size_t i = 0; i < rank; ++i) chunk.start.push_back(key.u64());
        chunks.push_back(std::move(chunk));
      });
      break;
    case 1:
      chunks.push_back(
          {grid.start_of(0), layout.address, layout.single_size ? layout.single_size : raw_size, layout.single_mask});
      break;
    case 2:
      require_room(space, grid.total, std::max<std::uint64_t>(raw_size, 1));
      for (std::uint64_t i = 0; i < grid.total; ++i)
        chunks.push_back({grid.start_of(i), layout.address + i * raw_size, raw_size, 0});
      break;
    case 3:
      read_fixed_array(space, layout, grid, raw_size, chunks);
      break;
    default:
      read_tree_5(space, layout, grid, raw_size, chunks);
  }
  return chunks;
}

/// Copies what of a chunk lies inside the dataset, a run along the last axis at a time.
void place(const Chunk& chunk, const std::vector<std::byte>& data, const Grid& grid,
           const std::vector<std::int64_t>& dims, std::size_t width, std::vector<std::byte>& out) {
  const std::size_t rank = dims.size();
  std::vector<std::uint64_t> size(rank), position(rank, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto dim = static_cast<std::uint64_t>(dims[i]);
    if (chunk.start[i] >= dim || chunk.start[i] % grid.chunk[i]) refuse("a chunk lies outside its dataset");
    size[i] = std::min(grid.chunk[i], dim - chunk.start[i]);
  }
  for (;;) {
    std::uint64_t from = 0, to = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      from = from * grid.chunk[i] + position[i];
      to = to * static_cast<std::uint64_t>(dims[i]) + chunk.start[i] + position[i];
    }
    const std::uint64_t run = rank ? size[rank - 1] : 1;
    std::memcpy(out.data() + to * width, data.data() + from * width, static_cast<std::size_t>(run) * width);
    std::size_t axis = rank ? rank - 1 : 0;
    while (axis > 0 && ++position[axis - 1] == size[axis - 1]) position[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace

Bytes read_elements(const Space& space, const ObjectData& object, const Datatype& type,
                    const std::vector<std::int64_t>& dims) {
  const Layout& layout = *object.layout;
  const std::uint64_t size = stored_size(type, dims);
  if (size == 0) return {};
  if (layout.kind == Layout::Kind::compact) {
    if (layout.compact.size() < size) refuse("a dataset is cut off");
    return layout.compact.slice(0, static_cast<std::size_t>(size));
  }
  if (layout.kind == Layout::Kind::contiguous) {
    if (space.is_undefined(layout.address)) refuse("a dataset was never written");
    if (layout.size < size) refuse("a dataset is cut off");
    return space.slice(layout.address, size);
  }
  const Grid grid = grid_of(layout, dims);
  const auto raw_size = checked_mul(grid.chunk_elements, std::uint64_t{type.size});
  if (!raw_size) refuse("chunks are too large");
  const std::vector<Chunk> chunks = find_chunks(space, layout, grid, *raw_size);
  // No memory is taken for what is not there.
  if (chunks.size() != grid.total) refuse("a dataset lacks some of its chunks");
  std::uint64_t stored = 0;
  for (const Chunk& chunk : chunks) {
    if (chunk.size > space.size()) refuse("a chunk is larger than the file");
    stored += chunk.size;
  }
  if (stored > space.size()) refuse("chunks overlap");
  if (size / 1040 > stored + chunks.size()) refuse("a dataset claims to be larger than its data can make it");
  if (space.budget()) space.budget()->charge_memory(size);
  std::vector<std::byte> out(static_cast<std::size_t>(size));
  for (const Chunk& chunk : chunks) {
    const Bytes data = space.slice(chunk.address, chunk.size);
    space.count(chunk.size);
    place(chunk, unfiltered(data.span(), object.filters, chunk.skipped, *raw_size), grid, dims, type.size, out);
  }
  return Bytes::own(std::move(out));
}

}  // namespace ingot::formats::hdf5
