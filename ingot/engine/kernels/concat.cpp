// Arrays one after the other along an axis, copied into memory that is not cleared before.
#include <algorithm>
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 17;  // bytes of one piece of work

class Concat final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& first = c.in(0);
    const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), first.rank());
    const auto at = static_cast<std::size_t>(axis);
    if (first.dtype() == DType::string) c.fail("the inputs are not of the types that were inferred");
    Dims dims = first.dims();
    for (std::size_t i = 1; i < c.input_count(); ++i) {
      const Array& other = c.in(i);
      Dims expected = dims;
      if (static_cast<std::size_t>(other.rank()) == dims.size()) expected[at] = other.dims()[at];
      if (other.dtype() != first.dtype() || other.dims() != expected)
        c.fail("input " + std::to_string(i) + " does not fit the first one");
      dims[at] += other.dims()[at];
    }
    Array y = make_raw(c, 0, first.dtype(), dims);
    if (y.size() == 0) return;
    const auto width = static_cast<std::int64_t>(y.byte_size()) / y.size();
    const ops::Blocks whole = ops::blocks_along(dims, axis);
    const std::int64_t row = whole.size * whole.inner * width;  // bytes
    const Budget& budget = c.host().budget();
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < c.input_count(); ++i) {
      const Array& part = c.in(i);
      const std::int64_t bytes = part.dims()[at] * whole.inner * width;
      const std::byte* from = part.bytes();
      std::byte* to = y.bytes() + offset;
      offset += bytes;
      if (bytes == 0) continue;
      // Long rows are cut, short ones put together.
      const std::int64_t cuts = (bytes + kGrain - 1) / kGrain;
      const std::int64_t grain = std::max<std::int64_t>(1, kGrain / bytes);
      pool.parallel_for(whole.outer * cuts, grain, [&](std::int64_t begin, std::int64_t end) {
        budget.poll();
        for (std::int64_t k = begin; k < end; ++k) {
          const std::int64_t block = k / cuts, start = k % cuts * kGrain;
          std::memcpy(to + block * row + start, from + block * bytes + start,
                      static_cast<std::size_t>(std::min(kGrain, bytes - start)));
        }
      });
    }
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_concat(PrepareContext& c) {
  for (std::size_t i = 0; i < c.node.input_count(); ++i)
    if (c.elem(i) == DType::undefined || c.elem(i) == DType::string)
      return c.refuse("the elements are not known to be of one size");
  return std::make_unique<Concat>();
}

}  // namespace ingot::engine
