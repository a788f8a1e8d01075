// Numbers of one type as those of another, in one pass and on several threads.
#include <concepts>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/half.h"
#include "ingot/engine/kernels/kernels.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 16;  // elements of one piece of work

using Plain = JoinTypes<JoinTypes<Integers, Types<float, double>>, Types<bool>>;

constexpr TypeSet kPlain = Plain{};

template <class To, class From> To as(From value) {
  if constexpr (std::same_as<To, bool>)
    return value != 0;
  else if constexpr (std::floating_point<From> && std::integral<To>)
    return saturate_cast<To>(value);
  else
    return static_cast<To>(value);
}

class Cast final : public PreparedNode {
 public:
  Cast(DType from, DType to) : from_(from), to_(to) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != from_) c.fail("the input is not of the type that was inferred");
    if (from_ == to_) return c.set(0, x);
    Array y = make_raw(c, 0, to_, x.dims());
    const Budget& budget = c.host().budget();
    const auto share = [&](auto part) {
      pool.parallel_for(x.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
        budget.poll();
        part(begin, end - begin);
      });
    };
    if (is_half(from_))
      return share([&](std::int64_t at, std::int64_t n) {
        widen(from_, x.bytes() + 2 * at, y.mutable_data<float>().data() + at, n);
      });
    if (is_half(to_))
      return share(
          [&](std::int64_t at, std::int64_t n) { narrow(to_, x.data<float>().data() + at, y.bytes() + 2 * at, n); });
    dispatch(from_, Plain{}, [&]<class From>() {
      dispatch(to_, Plain{}, [&]<class To>() {
        const From* in = x.data<From>().data();
        To* out = y.mutable_data<To>().data();
        share([&](std::int64_t at, std::int64_t n) {
          for (std::int64_t i = at; i < at + n; ++i) out[i] = as<To>(in[i]);
        });
      });
    });
  }

 private:
  DType from_, to_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_cast(PrepareContext& c) {
  const DType from = c.elem(0);
  const std::int64_t attribute = c.node.attributes.int_or("to", 0);
  if (!is_valid_dtype(attribute)) return c.refuse("the type is not known");
  const auto to = static_cast<DType>(attribute);
  const bool is_known = (kPlain.has(from) && kPlain.has(to)) || (is_half(from) && to == DType::f32) ||
                        (from == DType::f32 && is_half(to));
  if (!is_known) return c.refuse("the types are not known, or not those of most models");
  return std::make_unique<Cast>(from, to);
}

}  // namespace ingot::engine
