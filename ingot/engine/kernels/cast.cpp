// Numbers of one type as those of another, in one pass and on several threads.
#include <algorithm>
#include <array>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/cast_loops.h"
#include "ingot/engine/kernels/half.h"
#include "ingot/engine/kernels/kernels.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 16;  // elements of one piece of work
constexpr std::int64_t kTile = 1 << 10;   // floats between a half type and another

class Cast final : public PreparedNode {
 public:
  Cast(DType from, DType to)
      : from_(from), to_(to), loop_(cast_loop(is_half(from) ? DType::f32 : from, is_half(to) ? DType::f32 : to)) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != from_) c.fail("the input is not of the type that was inferred");
    if (from_ == to_) return c.set(0, x);
    Array y = make_raw(c, 0, to_, x.dims());
    const Budget& budget = c.host().budget();
    const std::int64_t wide = bits_of(from_) / 8, out_wide = bits_of(to_) / 8;
    pool.parallel_for(x.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      convert(x.bytes() + begin * wide, y.bytes() + begin * out_wide, end - begin);
    });
  }

 private:
  void convert(const std::byte* from, std::byte* to, std::int64_t n) const {
    if (is_half(from_) && to_ == DType::f32) return widen(from_, from, reinterpret_cast<float*>(to), n);
    if (is_half(to_) && from_ == DType::f32) return narrow(to_, reinterpret_cast<const float*>(from), to, n);
    if (!is_half(from_) && !is_half(to_)) return loop_(from, to, n);
    const std::int64_t wide = bits_of(from_) / 8, out_wide = bits_of(to_) / 8;
    std::array<float, kTile> floats;
    for (std::int64_t i = 0; i < n; i += kTile) {
      const std::int64_t some = std::min(kTile, n - i);
      // Whole numbers that a half type holds, and those near its end, are exact as floats.
      if (is_half(from_))
        widen(from_, from + i * wide, floats.data(), some);
      else if (from_ == DType::f64)
        narrow_to_odd(reinterpret_cast<const double*>(from) + i, floats.data(), some);
      else
        loop_(from + i * wide, floats.data(), some);
      if (is_half(to_))
        narrow(to_, floats.data(), to + i * out_wide, some);
      else
        loop_(floats.data(), to + i * out_wide, some);
    }
  }

  DType from_, to_;
  CastLoop loop_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_cast(PrepareContext& c) {
  const bool is_like = c.node.op == "CastLike";
  const DType from = c.elem(0);
  const std::int64_t attribute = is_like ? static_cast<std::int64_t>(c.elem(1)) : c.node.attributes.int_or("to", 0);
  if (!is_valid_dtype(attribute)) return c.refuse("the type is not known");
  const auto to = static_cast<DType>(attribute);
  const auto is_plain = [](DType type) { return is_half(type) || cast_loop(type, type); };
  if (!is_plain(from) || !is_plain(to)) return c.refuse("the types are not known, or not those of most models");
  // Floats do not hold all of these, bfloat16 goes as far as they do: numbers would be rounded twice.
  if (to == DType::bf16 && is_integer(from) && bits_of(from) > 16) return c.refuse("large integers become bfloat16");
  return std::make_unique<Cast>(from, to);
}

}  // namespace ingot::engine
