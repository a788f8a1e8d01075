// Is a sparse tensor's index structure sound? Densifying it needs no bounds checks after this.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/check.h"

namespace ingot::formats::tflite {
namespace {

template <class... Args> [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(Code::bad_tensor, "its sparsity: " + fmt::format(format, std::forward<Args>(args)...));
}

/// Are these the numbers begin .. begin + size - 1 in any order?
bool is_permutation(std::span<const std::int32_t> values, std::size_t begin) {
  std::vector<bool> seen(values.size());
  for (const std::int32_t value : values) {
    const std::int64_t place = std::int64_t{value} - static_cast<std::int64_t>(begin);
    if (place < 0 || static_cast<std::size_t>(place) >= seen.size() || seen[static_cast<std::size_t>(place)])
      return false;
    seen[static_cast<std::size_t>(place)] = true;
  }
  return true;
}

/// How far each level's indices run: blocks of a dimension first, then within the block.
std::vector<std::int64_t> level_sizes(const Tensor& tensor) {
  const Sparsity& s = *tensor.sparsity;
  const std::size_t rank = tensor.shape.size();
  std::vector<std::int64_t> sizes(tensor.shape);
  for (std::size_t block = 0; block < s.block_map.size(); ++block) {
    const std::int32_t dimension = s.block_map[block];
    if (dimension < 0 || static_cast<std::size_t>(dimension) >= rank) refuse("block dimension {} is none", dimension);
    const auto level = std::ranges::find(s.traversal_order, static_cast<std::int32_t>(rank + block));
    const std::int64_t size = s.dim_metadata[static_cast<std::size_t>(level - s.traversal_order.begin())].dense_size;
    std::int64_t& whole = sizes[static_cast<std::size_t>(dimension)];
    if (size <= 0 || whole % size != 0) refuse("blocks of {} do not divide a dimension of {}", size, whole);
    whole /= size;
    sizes.push_back(size);
  }
  std::vector<std::int64_t> in_order;
  for (const std::int32_t dimension : s.traversal_order) in_order.push_back(sizes[static_cast<std::size_t>(dimension)]);
  return in_order;
}

/// Returns the number of positions on this level.
std::uint64_t check_compressed(const DimensionMetadata& level, std::uint64_t parents, std::int64_t size) {
  const std::vector<std::int32_t>& segments = level.array_segments.values;
  const std::vector<std::int32_t>& indices = level.array_indices.values;
  if (segments.empty() || segments.size() - 1 != parents)
    refuse("{} segments for {} positions", segments.size(), parents);
  if (segments.front() != 0 || !std::ranges::is_sorted(segments) ||
      static_cast<std::size_t>(segments.back()) != indices.size())
    refuse("segments do not cover the {} indices", indices.size());
  for (const std::int32_t index : indices)
    if (index < 0 || index >= size) refuse("index {} in a dimension of {}", index, size);
  return indices.size();
}

}  // namespace

void check_sparsity(const Tensor& tensor, std::uint64_t data_size) {
  const Sparsity& s = *tensor.sparsity;
  const std::size_t rank = tensor.shape.size();
  const std::size_t levels = rank + s.block_map.size();
  if (s.traversal_order.size() != levels || s.dim_metadata.size() != levels)
    refuse("{} levels in order and {} described; it needs {}", s.traversal_order.size(), s.dim_metadata.size(), levels);
  const std::span<const std::int32_t> order(s.traversal_order);
  if (!is_permutation(order.first(rank), 0) || !is_permutation(order.subspan(rank), rank))
    refuse("its traversal order is no permutation of the dimensions");

  const std::vector<std::int64_t> sizes = level_sizes(tensor);
  std::uint64_t positions = 1;
  for (std::size_t i = 0; i < levels; ++i) {
    const DimensionMetadata& level = s.dim_metadata[i];
    if (level.format == DimensionType::SPARSE_CSR) {
      positions = check_compressed(level, positions, sizes[i]);
    } else if (level.format == DimensionType::DENSE) {
      if (level.dense_size != sizes[i]) refuse("a dense level of {} for a dimension of {}", level.dense_size, sizes[i]);
      const std::optional<std::uint64_t> product = checked_mul(positions, static_cast<std::uint64_t>(level.dense_size));
      if (!product) refuse("too many positions");
      positions = *product;
    } else {
      refuse("a level of unknown format {}", static_cast<int>(level.format));
    }
  }
  const std::optional<std::uint64_t> bits = checked_mul<std::uint64_t>(positions, *element_bits(tensor.type));
  if (!bits || *bits / 8 + (*bits % 8 != 0) != data_size) refuse("{} values do not fit {} bytes", positions, data_size);
}

}  // namespace ingot::formats::tflite
