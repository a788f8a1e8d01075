// The largest or least elements along neighbouring axes, or their places.
#include <algorithm>
#include <array>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/vector_math.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kWide = 256;       // columns of a strip
constexpr std::int64_t kGrain = 1 << 15;  // elements of one piece of work

/// Calls row(outer) where nothing follows the axis, else strip(outer, first column, columns).
template <class Row, class Strip>
void share(const ops::Blocks& b, ThreadPool& pool, const Budget& budget, Row row, Strip strip) {
  const std::int64_t strips = (b.inner + kWide - 1) / kWide, wide = std::min(kWide, b.inner);
  pool.parallel_for(b.outer * strips, std::max<std::int64_t>(1, kGrain / (b.size * wide)),
                    [&](std::int64_t begin, std::int64_t end) {
                      budget.poll();
                      for (std::int64_t i = begin; i < end; ++i)
                        if (b.inner == 1)
                          row(i);
                        else
                          strip(i / strips, i % strips * kWide, std::min(kWide, b.inner - i % strips * kWide));
                    });
}

class Extremum final : public PreparedNode {
 public:
  explicit Extremum(bool is_max) : is_max_(is_max) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    std::vector<bool> is_reduced(x.dims().size(), !c.has(1) || c.in(1).size() == 0);
    if (x.dtype() != DType::f32 || x.size() == 0 ||
        (c.attr("noop_with_empty_axes", std::int64_t{0}) != 0 && (!c.has(1) || c.in(1).size() == 0)))
      return ops::find(c.node)->kernel(c);
    if (c.has(1))
      for (const std::int64_t axis : c.in(1).data<std::int64_t>())
        is_reduced[static_cast<std::size_t>(c.axis(axis, x.rank()))] = true;
    const bool keeps = c.attr("keepdims", std::int64_t{1}) != 0;
    ops::Blocks b{1, 1, 1};
    Dims dims;
    bool was_reduced = false, is_behind = false;
    for (std::size_t i = 0; i < is_reduced.size(); ++i) {
      const std::int64_t d = x.dims()[i];
      if (!is_reduced[i] || keeps) dims.push_back(is_reduced[i] ? 1 : d);
      if (is_reduced[i] && is_behind && d != 1) return ops::find(c.node)->kernel(c);
      (is_reduced[i] ? b.size : was_reduced ? b.inner : b.outer) *= d;
      was_reduced |= is_reduced[i] && d != 1;
      is_behind |= was_reduced && !is_reduced[i] && d != 1;
    }
    Array y = make_raw(c, 0, DType::f32, dims);
    const float* in = x.data<float>().data();
    float* out = y.mutable_data<float>().data();
    const Binary better = is_max_ ? Binary::maximum : Binary::minimum;
    share(
        b, pool, c.host().budget(), [&](std::int64_t i) { out[i] = best(in + i * b.size, b.size, better); },
        [&](std::int64_t outer, std::int64_t first, std::int64_t n) {
          const float* from = in + outer * b.size * b.inner + first;
          float* to = out + outer * b.inner + first;
          std::copy_n(from, n, to);
          for (std::int64_t k = 1; k < b.size; ++k) apply(better, to, 1, from + k * b.inner, 1, to, n);
        });
  }

 private:
  /// Of a row: vectors of it become one, whose elements are then compared.
  static float best(const float* x, std::int64_t n, Binary better) {
    constexpr std::int64_t kLanes = 64;
    std::array<float, kLanes> lanes;
    const std::int64_t wide = std::min(kLanes, n);
    std::copy_n(x, wide, lanes.data());
    std::int64_t i = wide;
    for (; i + kLanes <= n; i += kLanes) apply(better, lanes.data(), 1, x + i, 1, lanes.data(), kLanes);
    if (i < n) apply(better, lanes.data(), 1, x + i, 1, lanes.data(), n - i);
    float result = lanes[0];
    for (std::int64_t k = 1; k < wide; ++k)
      apply(better, &result, 1, &lanes[static_cast<std::size_t>(k)], 1, &result, 1);
    return result;
  }

  bool is_max_;
};

/// The place of the first or last of equal ones.
class Place final : public PreparedNode {
 public:
  Place(bool is_max, bool takes_last) : is_max_(is_max), takes_last_(takes_last) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.size() == 0 || x.rank() == 0) return ops::find(c.node)->kernel(c);
    const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
    const ops::Blocks b = ops::blocks_along(x.dims(), axis);
    Dims dims = x.dims();
    if (c.attr("keepdims", std::int64_t{1}) != 0)
      dims[static_cast<std::size_t>(axis)] = 1;
    else
      dims.erase(dims.begin() + axis);
    Array y = make_raw(c, 0, DType::i64, dims);
    const float* in = x.data<float>().data();
    std::int64_t* out = y.mutable_data<std::int64_t>().data();
    share(
        b, pool, c.host().budget(),
        [&](std::int64_t i) {
          const float* from = in + i * b.size;
          std::int64_t at = 0;
          for (std::int64_t k = 1; k < b.size; ++k) at = beats(from[k], from[at]) ? k : at;
          out[i] = at;
        },
        [&](std::int64_t outer, std::int64_t first, std::int64_t n) {
          const float* from = in + outer * b.size * b.inner + first;
          std::int64_t* to = out + outer * b.inner + first;
          std::array<float, kWide> best;
          std::copy_n(from, n, best.data());
          std::fill_n(to, n, 0);
          for (std::int64_t k = 1; k < b.size; ++k)
            for (std::int64_t i = 0; i < n; ++i) {
              float& held = best[static_cast<std::size_t>(i)];
              const bool wins = beats(from[k * b.inner + i], held);
              held = wins ? from[k * b.inner + i] : held;
              to[i] = wins ? k : to[i];
            }
        });
  }

 private:
  /// Not a number is better than every number.
  bool is_better(float a, float b) const { return a != a ? b == b : is_max_ ? a > b : a < b; }
  bool beats(float value, float held) const { return takes_last_ ? !is_better(held, value) : is_better(value, held); }

  bool is_max_, takes_last_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_extremum(PrepareContext& c) {
  if (c.elem(0) != DType::f32) return c.refuse("the input is not float");
  return std::make_unique<Extremum>(c.node.op == "ReduceMax");
}

std::unique_ptr<PreparedNode> prepare_place(PrepareContext& c) {
  if (c.elem(0) != DType::f32) return c.refuse("the input is not float");
  return std::make_unique<Place>(c.node.op == "ArgMax", c.node.attributes.int_or("select_last_index", 0) != 0);
}

}  // namespace ingot::engine
