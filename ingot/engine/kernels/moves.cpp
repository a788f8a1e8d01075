// Slice, Expand, Tile and Split: elements moved by rows into memory that is not cleared before.
#include "ingot/ops/tensor/moves.h"

#include <algorithm>

#include "ingot/engine/kernels/broadcast_rows.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::engine {
namespace {

using Read = ops::Move (*)(ops::KernelContext&);

void move_rows(const Array& x, const ops::Walk& walk, std::int64_t offset, Array& y, ThreadPool& pool,
               const Budget& budget) {
  ops::dispatch_cell(x.dtype(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, std::string>) {
      const T* in = ops::cells<T>(x) + offset;
      T* out = ops::cells<T>(y);
      const std::int64_t step = walk.strides[0].back();
      share_rows(walk, pool, budget, [&](const std::int64_t* at, std::int64_t first, std::int64_t n) {
        const T* from = in + at[0];
        if (step == 1)
          std::copy_n(from, n, out + first);
        else if (step == 0)
          std::fill_n(out + first, n, *from);
        else
          for (std::int64_t i = 0; i < n; ++i) out[first + i] = from[i * step];
      });
    }
  });
}

class Moved final : public PreparedNode {
 public:
  explicit Moved(Read read) : read_(read) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() == DType::string) c.fail("the input is not of the type that was inferred");
    const ops::Move move = read_(c);
    if (move.dims == x.dims() && x.size() > 0 && is_whole(move)) return c.set(0, x);
    Array y = make_raw(c, 0, x.dtype(), move.dims);
    if (y.size() > 0) move_rows(x, move.walk, move.offset, y, pool, c.host().budget());
  }

 private:
  /// The input as it is.
  static bool is_whole(const ops::Move& move) {
    return move.offset == 0 && move.walk.dims.size() == 1 && (move.walk.strides[0][0] == 1 || move.walk.dims[0] == 1);
  }

  Read read_;
};

class Split final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() == DType::string) c.fail("the input is not of the type that was inferred");
    const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
    const auto at = static_cast<std::size_t>(axis);
    if (c.output_count() == 0) return;
    const ops::Blocks all = ops::blocks_along(x.dims(), axis);
    std::int64_t first = 0;
    const std::vector<std::int64_t> sizes = ops::read_split(c, x.dims()[at]);
    for (std::size_t i = 0; i < sizes.size(); first += sizes[i++]) {
      if (!c.wants(i)) continue;
      Dims dims = x.dims();
      dims[at] = sizes[i];
      Array y = make_raw(c, i, x.dtype(), std::move(dims));
      ops::Walk walk{{all.outer, sizes[i] * all.inner}, {{all.size * all.inner, 1}}};
      if (y.size() > 0) move_rows(x, walk, first * all.inner, y, pool, c.host().budget());
    }
  }
};

bool has_plain_elements(const PrepareContext& c) { return c.elem(0) != DType::undefined && c.elem(0) != DType::string; }

}  // namespace

std::unique_ptr<PreparedNode> prepare_move(PrepareContext& c) {
  if (!has_plain_elements(c)) return c.refuse("the elements are not known to be of one size");
  return std::make_unique<Moved>(c.node.op == "Slice"    ? ops::read_slice
                                 : c.node.op == "Expand" ? ops::read_expand
                                                         : ops::read_tile);
}

std::unique_ptr<PreparedNode> prepare_split(PrepareContext& c) {
  if (!has_plain_elements(c)) return c.refuse("the elements are not known to be of one size");
  return std::make_unique<Split>();
}

}  // namespace ingot::engine
