// Sums, means and sums of squares over some axes: of rows, of columns, or of all but the channels.
#include <algorithm>
#include <array>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/channel_math.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/vector_math.h"
#include "ingot/ops/catalog.h"

namespace ingot::engine {
namespace {

/// Neighbouring axes that are all summed over, or all kept, taken together.
struct Groups {
  std::vector<std::int64_t> sizes;
  bool begins_summed = false;  // they alternate
};

Groups groups_of(const Dims& dims, const std::vector<bool>& is_summed) {
  Groups groups;
  bool last = false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (groups.sizes.empty()) groups.begins_summed = is_summed[i];
    if (groups.sizes.empty() || is_summed[i] != last)
      groups.sizes.push_back(dims[i]);
    else
      groups.sizes.back() *= dims[i];
    last = is_summed[i];
  }
  return groups;
}

template <bool kSquares> double row_sum(const float* x, std::int64_t count) {
  return kSquares ? squares_about(x, count, 0) : sum_of(x, count);
}

class Sum final : public PreparedNode {
 public:
  Sum(bool is_mean, bool squares, bool is_root) : is_mean_(is_mean), squares_(squares), is_root_(is_root) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    std::vector<bool> is_summed(x.dims().size(), !c.has(1) || c.in(1).size() == 0);
    if (x.dtype() != DType::f32 || x.size() == 0 ||
        (c.attr("noop_with_empty_axes", std::int64_t{0}) != 0 && (!c.has(1) || c.in(1).size() == 0)))
      return ops::find(c.node)->kernel(c);
    if (c.has(1))
      for (const std::int64_t axis : c.in(1).data<std::int64_t>())
        is_summed[static_cast<std::size_t>(c.axis(axis, x.rank()))] = true;
    const Groups groups = groups_of(x.dims(), is_summed);
    const std::size_t count = groups.sizes.size();
    if (count > 3) return ops::find(c.node)->kernel(c);
    Dims dims;
    const bool keeps = c.attr("keepdims", std::int64_t{1}) != 0;
    for (std::size_t i = 0; i < is_summed.size(); ++i)
      if (!is_summed[i] || keeps) dims.push_back(is_summed[i] ? 1 : x.dims()[i]);
    Array y = make_raw(c, 0, DType::f32, dims);
    // As kept, summed, kept, or as summed, kept, summed.
    const auto size = [&](std::size_t i) { return i < count ? groups.sizes[i] : 1; };
    const std::size_t first = groups.begins_summed ? 0 : 1;
    if (groups.begins_summed && count == 3)
      sum<true>(c, pool, x, y, {size(0), size(1), size(2)});
    else
      sum<false>(c, pool, x, y, {first ? size(0) : 1, size(first), size(first + 1)});
    float* out = y.mutable_data<float>().data();
    if (is_root_) apply(Unary::sqrt, out, out, y.size());
  }

 private:
  using Sizes = std::array<std::int64_t, 3>;

  template <bool kAround>
  void sum(ops::KernelContext& c, ThreadPool& pool, const Array& x, Array& y, const Sizes& sizes) const {
    const float* in = x.data<float>().data();
    float* out = y.mutable_data<float>().data();
    const double scale = is_mean_ ? static_cast<double>(y.size()) / static_cast<double>(x.size()) : 1;
    const Budget& budget = c.host().budget();
    const auto go = [&]<bool kSquares>() {
      if constexpr (kAround)
        around<kSquares>(pool, budget, in, out, sizes, scale);
      else if (sizes[2] == 1)
        rows<kSquares>(pool, budget, in, out, sizes, scale);
      else
        columns<kSquares>(pool, budget, in, out, sizes, scale);
    };
    if (squares_)
      go.template operator()<true>();
    else
      go.template operator()<false>();
  }

  static std::int64_t grain(std::int64_t work) { return std::max<std::int64_t>(1, (1 << 15) / (work + 1)); }

  template <bool kSquares>
  static void rows(ThreadPool& pool, const Budget& budget, const float* in, float* out, const Sizes& s, double scale) {
    constexpr std::int64_t kPart = 1 << 16;
    if (s[0] == 1 && s[1] > kPart) {
      // One long row: sums of its parts, then their sum.
      std::vector<double> sums(static_cast<std::size_t>((s[1] + kPart - 1) / kPart));
      pool.parallel_for(s[1], kPart, [&](std::int64_t begin, std::int64_t end) {
        budget.poll();
        sums[static_cast<std::size_t>(begin / kPart)] = row_sum<kSquares>(in + begin, end - begin);
      });
      double sum = 0;
      for (const double part : sums) sum += part;
      out[0] = static_cast<float>(sum * scale);
      return;
    }
    pool.parallel_for(s[0], grain(s[1]), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      constexpr std::int64_t kAtOnce = 64;
      std::array<double, kAtOnce> sums;
      for (std::int64_t i = begin; i < end; i += kAtOnce) {
        const std::int64_t some = std::min(kAtOnce, end - i);
        sum_each_row(in + i * s[1], some, s[1], kSquares, sums.data());
        for (std::int64_t k = 0; k < some; ++k)
          out[i + k] = static_cast<float>(sums[static_cast<std::size_t>(k)] * scale);
      }
    });
  }

  template <bool kSquares>
  static void columns(ThreadPool& pool, const Budget& budget, const float* in, float* out, const Sizes& s,
                      double scale) {
    constexpr std::int64_t kWide = 128;  // columns at once
    const std::int64_t strips = (s[2] + kWide - 1) / kWide;
    pool.parallel_for(s[0] * strips, grain(s[1] * kWide), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t outer = i / strips, first = i % strips * kWide, wide = std::min(kWide, s[2] - first);
        std::array<double, kWide> sums{};
        add_rows(in + outer * s[1] * s[2] + first, s[1], s[2], wide, kSquares, sums.data());
        for (std::int64_t k = 0; k < wide; ++k)
          out[outer * s[2] + first + k] = static_cast<float>(sums[static_cast<std::size_t>(k)] * scale);
      }
    });
  }

  template <bool kSquares>
  static void around(ThreadPool& pool, const Budget& budget, const float* in, float* out, const Sizes& s,
                     double scale) {
    pool.parallel_for(s[1], grain(s[0] * s[2]), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t k = begin; k < end; ++k) {
        double sum = 0;
        for (std::int64_t n = 0; n < s[0]; ++n) sum += row_sum<kSquares>(in + (n * s[1] + k) * s[2], s[2]);
        out[k] = static_cast<float>(sum * scale);
      }
    });
  }

  bool is_mean_, squares_, is_root_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_sum(PrepareContext& c) {
  if (c.elem(0) != DType::f32) return c.refuse("the input is not float");
  const bool is_norm = c.node.op == "ReduceL2";
  return std::make_unique<Sum>(c.node.op == "ReduceMean", is_norm || c.node.op == "ReduceSumSquare", is_norm);
}

}  // namespace ingot::engine
