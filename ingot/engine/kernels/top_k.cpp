// The k largest or least numbers along an axis.
#include <algorithm>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/top_loops.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::engine {
namespace {

class TopK final : public PreparedNode {
 public:
  explicit TopK(DType type) : type_(type) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != type_) c.fail("the input is not of the type that was inferred");
    if (c.in(1).size() != 1) c.fail("k is not one number");
    const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{-1}), x.rank());
    const std::int64_t k = c.in(1).to_ints().front();
    Dims dims = x.dims();
    std::int64_t& size = dims[static_cast<std::size_t>(axis)];
    const bool is_dense = axis + 1 == x.rank();
    if (k < 0 || k > size || size > (is_dense ? kLongest : kLongestColumn)) return ops::find(c.node)->kernel(c);
    size = k;
    Array values = make_raw(c, 0, type_, dims), places = make_raw(c, 1, DType::i64, dims);
    if (values.size() == 0) return;
    const ops::Blocks b = ops::blocks_along(x.dims(), axis);
    const TopLanes lanes{.x = x.bytes(),
                         .size = b.size,
                         .inner = b.inner,
                         .k = k,
                         .is_largest = c.attr("largest", std::int64_t{1}) != 0,
                         .best = values.bytes(),
                         .places = places.mutable_data<std::int64_t>().data()};
    constexpr std::int64_t kGrain = 1 << 14;
    const std::int64_t wide = std::min(TopLanes::kWide, b.inner);
    const TopLoop loop = top_loop(type_);
    const Budget& budget = c.host().budget();
    pool.parallel_for(b.outer * lanes.strips(), std::max<std::int64_t>(1, kGrain / (b.size * wide)),
                      [&](std::int64_t begin, std::int64_t end) {
                        budget.poll();
                        loop(lanes, begin, end);
                      });
  }

 private:
  static constexpr std::int64_t kLongest = std::numeric_limits<std::uint32_t>::max(), kLongestColumn = 1 << 20;

  DType type_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_top_k(PrepareContext& c) {
  if (!top_loop(c.elem(0))) return c.refuse("numbers of this type are not looked through");
  return std::make_unique<TopK>(c.elem(0));
}

}  // namespace ingot::engine
