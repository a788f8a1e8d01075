// Numbers added at places of a list: what the gradients of operators that pick elements end with.
#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/catalog.h"

namespace ingot::engine {
namespace {

class AddAt final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool&) const override {
    const Array &data = c.in(0), &at = c.in(1), &more = c.in(2);
    if (data.dtype() != DType::f32 || more.dtype() != DType::f32 || at.dtype() != DType::i64 || data.rank() != 1 ||
        at.dims() != more.dims() || at.rank() != 1)
      return ops::find(c.node)->kernel(c);
    const std::int64_t size = data.size();
    const auto places = at.data<std::int64_t>();
    const auto numbers = more.data<float>();
    Array y = make_raw(c, 0, DType::f32, data.dims());
    const auto sums = y.mutable_data<float>();
    std::ranges::copy(data.data<float>(), sums.begin());
    constexpr std::size_t kAtOnce = 1 << 20;
    for (std::size_t begin = 0; begin < places.size(); begin += kAtOnce) {
      c.host().budget().poll();
      for (std::size_t i = begin; i < std::min(begin + kAtOnce, places.size()); ++i) {
        const std::int64_t place = places[i] < 0 ? places[i] + size : places[i];
        if (place < 0 || place >= size)
          c.fail("index " + std::to_string(places[i]) + " is out of range for " + std::to_string(size) + " elements");
        sums[static_cast<std::size_t>(place)] += numbers[i];
      }
    }
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_add_at(PrepareContext& c) {
  if (c.elem(0) != DType::f32) return c.refuse("the input is not float");
  if (c.node.attributes.string_or("reduction", "none") != "add") return c.refuse("nothing is added");
  const Shape* shape = c.shape(0);
  if (!shape || shape->size() != 1) return c.refuse("the input is not a list");
  return std::make_unique<AddAt>();
}

}  // namespace ingot::engine
