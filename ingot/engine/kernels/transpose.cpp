// Transposes of any element type by square tiles, so that neither side misses the cache.
#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/transpose_tiles.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/walk.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kTile = 16;
constexpr std::int64_t kStrip = 64;       // rows of the result that one piece of work writes
constexpr std::int64_t kGrain = 1 << 15;  // elements that one piece of work moves at least

/// y[i * row_step_out + j] = x[i + j * column_step].
template <class T>
void transpose_plane(const T* x, std::int64_t column_step, T* y, std::int64_t row_step_out, std::int64_t rows,
                     std::int64_t columns) {
  [[maybe_unused]] const auto by_words = [&]<class Word>(Word) {
    transpose_words(reinterpret_cast<const Word*>(x), column_step, reinterpret_cast<Word*>(y), row_step_out, rows,
                    columns);
  };
  if constexpr (sizeof(T) == 1) return by_words(std::uint8_t{});
  if constexpr (sizeof(T) == 2) return by_words(std::uint16_t{});
  if constexpr (sizeof(T) == 4) return by_words(std::uint32_t{});
  if constexpr (sizeof(T) == 8) return by_words(std::uint64_t{});
  for (std::int64_t i = 0; i < rows; i += kTile)
    for (std::int64_t j = 0; j < columns; j += kTile) {
      const std::int64_t row_end = std::min(rows, i + kTile), column_end = std::min(columns, j + kTile);
      for (std::int64_t r = i; r < row_end; ++r)
        for (std::int64_t k = j; k < column_end; ++k) y[r * row_step_out + k] = x[r + k * column_step];
    }
}

/// The elements of x in the order in which the walk meets them, by `move`.
template <class T> void move(const ops::Walk& walk, const T* x, T* y, const Budget& budget, ThreadPool& pool);

void rearrange(ops::KernelContext& c, const Dims& seen, const Dims& perm, Dims dims, ThreadPool& pool) {
  const Array& x = c.in(0);
  if (x.dtype() == DType::string) c.fail("the input is not of the type that was inferred");
  const Dims dense = ops::strides_of(seen);
  ops::Walk walk{{}, {{}}};
  for (const std::int64_t axis : perm) {
    walk.dims.push_back(seen[static_cast<std::size_t>(axis)]);
    walk.strides[0].push_back(dense[static_cast<std::size_t>(axis)]);
  }
  Array y = make_raw(c, 0, x.dtype(), dims.empty() ? walk.dims : std::move(dims));
  if (y.size() == 0) return;
  ops::join_axes(walk);
  ops::dispatch_cell(x.dtype(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, std::string>)
      move(walk, ops::cells<T>(x), ops::cells<T>(y), c.host().budget(), pool);
  });
}

class Transpose final : public PreparedNode {
 public:
  explicit Transpose(Dims perm) : perm_(std::move(perm)) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (static_cast<std::size_t>(x.rank()) != perm_.size()) c.fail("perm does not have one entry per dimension");
    rearrange(c, x.dims(), perm_, {}, pool);
  }

 private:
  Dims perm_;
};

template <class T> void move(const ops::Walk& walk, const T* x, T* y, const Budget& budget, ThreadPool& pool) {
  const Dims &dims = walk.dims, &strides = walk.strides[0];
  const Dims out = ops::strides_of(dims);
  const std::size_t last = dims.size() - 1;
  // The axis whose neighbours are neighbours in the input: its tiles are read row by row, written column by column.
  std::size_t near = last;
  for (std::size_t i = 0; i <= last; ++i)
    if (strides[i] == 1) near = i;
  std::int64_t planes = 1;
  for (std::size_t i = 0; i < last; ++i)
    if (i != near) planes *= dims[i];
  const std::int64_t rows = near == last ? 1 : dims[near], strips = (rows + kStrip - 1) / kStrip;
  const std::int64_t size = dims[last] * std::min(rows, kStrip);
  pool.parallel_for(planes * strips, std::max<std::int64_t>(1, kGrain / size),
                    [&](std::int64_t begin, std::int64_t end) {
                      budget.poll();
                      for (std::int64_t piece = begin; piece < end; ++piece) {
                        std::int64_t rest = piece / strips, from = 0, to = 0;
                        for (std::size_t i = last; i-- > 0;) {
                          if (i == near) continue;
                          const std::int64_t index = rest % dims[i];
                          rest /= dims[i];
                          from += index * strides[i];
                          to += index * out[i];
                        }
                        const std::int64_t row = piece % strips * kStrip;
                        if (near != last)
                          transpose_plane(x + from + row, strides[last], y + to + row * out[near], out[near],
                                          std::min(kStrip, rows - row), dims[last]);
                        else if (strides[last] == 1)
                          std::copy_n(x + from, dims[last], y + to);
                        else
                          for (std::int64_t k = 0; k < dims[last]; ++k) y[to + k] = x[from + k * strides[last]];
                      }
                    });
}

/// DepthToSpace, or SpaceToDepth, of images whose sizes fit.
class Rearranged final : public PreparedNode {
 public:
  Rearranged(std::int64_t size, bool is_to_space, bool has_depth_last)
      : size_(size), is_to_space_(is_to_space), has_depth_last_(has_depth_last) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Dims& x = c.in(0).dims();
    const std::int64_t b = size_;
    if (x.size() != 4 || (is_to_space_ ? x[1] % (b * b) != 0 : x[2] % b != 0 || x[3] % b != 0))
      return ops::find(c.node)->kernel(c);
    if (!is_to_space_)
      return rearrange(c, {x[0], x[1], x[2] / b, b, x[3] / b, b}, {0, 3, 5, 1, 2, 4},
                       {x[0], x[1] * b * b, x[2] / b, x[3] / b}, pool);
    const std::int64_t depth = x[1] / (b * b);
    const Dims dims = {x[0], depth, x[2] * b, x[3] * b};
    if (has_depth_last_) return rearrange(c, {x[0], b, b, depth, x[2], x[3]}, {0, 3, 4, 1, 5, 2}, dims, pool);
    rearrange(c, {x[0], depth, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3}, dims, pool);
  }

 private:
  std::int64_t size_;
  bool is_to_space_, has_depth_last_;
};

std::unique_ptr<PreparedNode> prepare_rearranged(PrepareContext& c, bool is_to_space) {
  constexpr std::int64_t kMost = 1 << 12;
  const std::int64_t size = c.node.attributes.int_or("blocksize", 0);
  const std::string mode = c.node.attributes.string_or("mode", "DCR");
  if (c.elem(0) == DType::undefined || c.elem(0) == DType::string)
    return c.refuse("the elements are not known to be of one size");
  if (size < 1 || size > kMost || (mode != "DCR" && mode != "CRD")) return c.refuse("the blocks are of no usual kind");
  return std::make_unique<Rearranged>(size, is_to_space, mode == "DCR");
}

}  // namespace

std::unique_ptr<PreparedNode> prepare_depth_to_space(PrepareContext& c) { return prepare_rearranged(c, true); }
std::unique_ptr<PreparedNode> prepare_space_to_depth(PrepareContext& c) { return prepare_rearranged(c, false); }

std::unique_ptr<PreparedNode> prepare_transpose(PrepareContext& c) {
  if (c.elem(0) == DType::undefined || c.elem(0) == DType::string)
    return c.refuse("the elements are not known to be of one size");
  Dims perm = c.node.attributes.ints_or("perm", {});
  if (perm.empty()) {
    if (!c.shape(0)) return c.refuse("the rank is not known");
    for (std::size_t axis = c.shape(0)->size(); axis-- > 0;) perm.push_back(static_cast<std::int64_t>(axis));
  }
  std::vector<bool> seen(perm.size(), false);
  for (std::int64_t& axis : perm) {
    if (axis < 0) axis += static_cast<std::int64_t>(perm.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(perm.size()) || seen[static_cast<std::size_t>(axis)])
      return c.refuse("perm is not a permutation");
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return std::make_unique<Transpose>(std::move(perm));
}

}  // namespace ingot::engine
