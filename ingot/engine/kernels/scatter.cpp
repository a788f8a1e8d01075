// Numbers added at places of a list: what the gradients of operators that pick elements end with.
#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/domain.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/catalog.h"

namespace ingot::engine {
namespace {

class AddAt final : public PreparedNode {
 public:
  explicit AddAt(bool begins_at_zero) : begins_at_zero_(begins_at_zero) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    if (begins_at_zero_) return add_to_zeros(c, pool);
    const Array &data = c.in(0), &at = c.in(1), &more = c.in(2);
    if (data.dtype() != DType::f32 || more.dtype() != DType::f32 || at.dtype() != DType::i64 || data.rank() != 1 ||
        at.dims() != more.dims() || at.rank() != 1)
      return ops::find(c.node)->kernel(c);
    Array y = make_raw(c, 0, DType::f32, data.dims());
    std::ranges::copy(data.data<float>(), y.mutable_data<float>().begin());
    add(c, at, more, y);
  }

 private:
  /// Of a list whose length comes in instead of it.
  static void add_to_zeros(ops::KernelContext& c, ThreadPool& pool) {
    const Array &length = c.in(0), &at = c.in(1), &more = c.in(2);
    if (length.size() != 1 || at.dtype() != DType::i64 || more.dtype() != DType::f32 || at.size() != more.size())
      c.fail("the inputs are not of the types that were inferred");
    Array y = make_raw(c, 0, DType::f32, {length.data<std::int64_t>()[0]});
    float* sums = y.mutable_data<float>().data();
    constexpr std::int64_t kGrain = 1 << 16;
    pool.parallel_for(y.size(), kGrain,
                      [&](std::int64_t begin, std::int64_t end) { std::fill(sums + begin, sums + end, 0.0f); });
    add(c, at, more, y);
  }

  static void add(ops::KernelContext& c, const Array& at, const Array& more, Array& y) {
    const std::int64_t size = y.size();
    const auto places = at.data<std::int64_t>();
    const auto numbers = more.data<float>();
    const auto sums = y.mutable_data<float>();
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

  bool begins_at_zero_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_add_at(PrepareContext& c) {
  if (c.node.domain == kEngineDomain) return std::make_unique<AddAt>(true);
  if (c.elem(0) != DType::f32) return c.refuse("the input is not float");
  if (c.node.attributes.string_or("reduction", "none") != "add") return c.refuse("nothing is added");
  const Shape* shape = c.shape(0);
  if (!shape || shape->size() != 1) return c.refuse("the input is not a list");
  return std::make_unique<AddAt>(false);
}

}  // namespace ingot::engine
