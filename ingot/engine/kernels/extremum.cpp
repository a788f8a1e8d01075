// Reductions of numbers of several types over any axes, and the places of the largest and least.
#include <algorithm>
#include <array>
#include <cmath>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/fold_loops.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/vector_math.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/reduction/fold.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kStrip = 256;      // columns at once
constexpr std::int64_t kPiece = 1 << 15;  // elements of one piece of work

/// Axes of a walk and how to go through them.
struct Axes {
  Dims dims, in, out;

  std::int64_t count() const {
    std::int64_t n = 1;
    for (const std::int64_t d : dims) n *= d;
    return n;
  }
  /// Where the index-th place is in the input, and in the output.
  std::pair<std::int64_t, std::int64_t> at(std::int64_t index) const {
    std::int64_t from = 0, to = 0;
    for (std::size_t i = dims.size(); i-- > 0; index /= dims[i]) {
      from += index % dims[i] * in[i];
      to += index % dims[i] * out[i];
    }
    return {from, to};
  }
};

/// A reduction as rows (the last axis goes away) or as columns (it stays).
struct FoldPlan {
  Axes kept, folded;  // but for the last axis
  std::int64_t last = 1;
  bool is_row = false;

  /// One row after the other makes one result after the other.
  bool is_rows_alone() const {
    return is_row && folded.dims.empty() && kept.dims.size() == 1 && kept.in[0] == last && kept.out[0] == 1;
  }

  explicit FoldPlan(const ops::Walk& walk) {
    const std::size_t rank = walk.dims.size();
    last = walk.dims.back();
    is_row = walk.strides[1].back() == 0;
    for (std::size_t i = 0; i + 1 < rank; ++i) {
      Axes& axes = walk.strides[1][i] == 0 ? folded : kept;
      axes.dims.push_back(walk.dims[i]);
      axes.in.push_back(walk.strides[0][i]);
      axes.out.push_back(walk.strides[1][i]);
    }
  }
};

/// Calls part(first element, where to, from column, columns) for what makes one result, or a strip of them.
template <class F> void share_results(const FoldPlan& plan, ThreadPool& pool, const Budget& budget, F part) {
  const std::int64_t strips = plan.is_row ? 1 : (plan.last + kStrip - 1) / kStrip;
  const std::int64_t wide = plan.is_row ? plan.last : std::min(plan.last, kStrip);
  pool.parallel_for(plan.kept.count() * strips, std::max<std::int64_t>(1, kPiece / (wide * plan.folded.count())),
                    [&](std::int64_t begin, std::int64_t end) {
                      budget.poll();
                      for (std::int64_t i = begin; i < end; ++i) {
                        const auto [from, to] = plan.kept.at(i / strips);
                        const std::int64_t first = i % strips * kStrip;
                        if (plan.is_row)
                          part(from, to, plan.last);
                        else
                          part(from + first, to + first, std::min(kStrip, plan.last - first));
                      }
                    });
}

class Folded final : public PreparedNode {
 public:
  Folded(std::string_view op, DType type, Fold fold)
      : op_(op), type_(type), loops_(fold_loops(fold, type)), merge_(fold_loops(merging(fold), loops_.in)) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != type_) c.fail("the input is not of the type that was inferred");
    if (x.size() == 0) return ops::find(c.node)->kernel(c);
    const ops::Reduction r = ops::reduction_of(c);
    const FoldPlan plan(r.walk);
    const bool is_direct = loops_.in == type_;
    Array y = make_raw(c, 0, type_, r.dims);
    const std::int64_t wide = bits_of(type_) / 8;
    const auto finish_at = [&](const std::byte* results, std::int64_t to, std::int64_t n) {
      finish(results, n, r.count, y.bytes() + to * wide);
    };
    if (plan.is_row && plan.kept.count() == 1 && plan.folded.count() == 1) {
      alignas(16) std::byte result[16];
      fold_long_row(c, pool, result);
      return finish_at(result, 0, 1);
    }
    if (plan.is_rows_alone()) {
      const std::int64_t rows = plan.kept.count();
      return pool.parallel_for(rows, std::clamp<std::int64_t>(kPiece / plan.last, 1, kStrip),
                               [&](std::int64_t begin, std::int64_t end) {
                                 c.host().budget().poll();
                                 alignas(64) std::byte strip[8 * kStrip];
                                 std::byte* results = is_direct && is_plain() ? y.bytes() + begin * wide : strip;
                                 loops_.rows(x.bytes() + begin * plan.last * wide, end - begin, plan.last, results);
                                 if (results == strip) finish_at(strip, begin, end - begin);
                               });
    }
    share_results(plan, pool, c.host().budget(), [&](std::int64_t from, std::int64_t to, std::int64_t n) {
      alignas(64) std::byte strip[8 * kStrip];
      // Results that need nothing more are folded where they go to.
      std::byte* results = is_direct && is_plain() ? y.bytes() + to * wide : strip;
      const std::int64_t count = plan.is_row ? 1 : n;
      loops_.start(results, count);
      for (std::int64_t k = 0; k < plan.folded.count(); ++k) {
        const std::byte* in = x.bytes() + (from + plan.folded.at(k).first) * wide;
        (plan.is_row ? loops_.row : loops_.columns)(in, n, results);
      }
      if (results == strip) finish_at(strip, to, count);
    });
  }

 private:
  static Fold merging(Fold fold) { return fold == Fold::magnitudes || fold == Fold::squares ? Fold::sum : fold; }
  bool is_plain() const { return op_ != "ReduceMean" && op_ != "ReduceL2" && op_ != "ReduceLogSum"; }

  /// All elements make one result: those of parts are folded again.
  void fold_long_row(ops::KernelContext& c, ThreadPool& pool, std::byte* result) const {
    const Array& x = c.in(0);
    constexpr std::int64_t kPart = 1 << 16;
    const std::int64_t parts = (x.size() + kPart - 1) / kPart, wide = bits_of(type_) / 8;
    const auto result_wide = static_cast<std::size_t>(bits_of(loops_.in) / 8);
    std::vector<std::byte> of_parts(static_cast<std::size_t>(parts) * result_wide);
    const Budget& budget = c.host().budget();
    pool.parallel_for(x.size(), kPart, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      std::byte* part = of_parts.data() + static_cast<std::size_t>(begin / kPart) * result_wide;
      loops_.start(part, 1);
      loops_.row(x.bytes() + begin * wide, end - begin, part);
    });
    loops_.start(result, 1);
    for (std::int64_t i = 0; i < parts; ++i)
      merge_.columns(of_parts.data() + static_cast<std::size_t>(i) * result_wide, 1, result);
  }

  /// n results out of what was folded.
  void finish(const std::byte* folded, std::int64_t n, std::int64_t count, std::byte* out) const {
    dispatch(type_, ops::ComputeNumbers{}, [&]<class T>() {
      T* to = reinterpret_cast<T*>(out);
      if (loops_.in == type_)
        finish_as<T>(reinterpret_cast<const T*>(folded), n, count, to);
      else
        finish_as<T>(reinterpret_cast<const double*>(folded), n, count, to);
    });
  }

  template <class T, class R> void finish_as(const R* folded, std::int64_t n, std::int64_t count, T* to) const {
    for (std::int64_t i = 0; i < n; ++i) {
      const R value = folded[i];
      if constexpr (std::is_integral_v<R>) {
        const auto number = static_cast<double>(value);
        if (op_ == "ReduceMean")
          to[i] = std::in_range<R>(count) ? static_cast<T>(value / static_cast<R>(count)) : T{0};
        else
          to[i] = op_ == "ReduceL2"       ? saturate_cast<T>(std::sqrt(number))
                  : op_ == "ReduceLogSum" ? saturate_cast<T>(std::log(number))
                                          : static_cast<T>(value);
      } else {
        to[i] = static_cast<T>(op_ == "ReduceMean"     ? value / static_cast<R>(count)
                               : op_ == "ReduceL2"     ? std::sqrt(value)
                               : op_ == "ReduceLogSum" ? std::log(value)
                                                       : value);
      }
    }
  }

  std::string_view op_;  // of a table
  DType type_;
  FoldLoops loops_, merge_;
};

/// log(sum(exp(x))), shifted by the largest number, so that no exponent overflows.
class LogSumExp final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32 || x.size() == 0) return ops::find(c.node)->kernel(c);
    const ops::Reduction r = ops::reduction_of(c);
    const FoldPlan plan(r.walk);
    const FoldLoops most = fold_loops(Fold::maximum, DType::f32);
    Array y = make_raw(c, 0, DType::f32, r.dims);
    const float* in = x.data<float>().data();
    float* out = y.mutable_data<float>().data();
    share_results(plan, pool, c.host().budget(), [&](std::int64_t from, std::int64_t to, std::int64_t n) {
      std::array<float, kStrip> shift;
      std::array<double, kStrip> sum{};
      const std::int64_t count = plan.is_row ? 1 : n, folds = plan.folded.count();
      most.start(shift.data(), count);
      for (std::int64_t k = 0; k < folds; ++k)
        (plan.is_row ? most.row : most.columns)(in + from + plan.folded.at(k).first, n, shift.data());
      for (std::int64_t k = 0; k < folds; ++k)
        add(in + from + plan.folded.at(k).first, n, plan.is_row, shift.data(), sum.data());
      for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        out[to + i] = std::isinf(shift[at]) ? shift[at] : static_cast<float>(shift[at] + std::log(sum[at]));
      }
    });
  }

 private:
  /// Adds exp(x - shift) of n neighbours to one sum, or to one each.
  static void add(const float* x, std::int64_t n, bool is_row, const float* shift, double* sum) {
    std::array<float, kStrip> tile;
    const FoldLoops adds = fold_loops(Fold::sum, DType::f32);
    for (std::int64_t first = 0; first < n; first += kStrip) {
      const std::int64_t some = std::min(kStrip, n - first);
      apply(Binary::subtract, x + first, 1, shift, is_row ? 0 : 1, tile.data(), some);
      apply(Unary::exp, tile.data(), tile.data(), some);
      (is_row ? adds.row : adds.columns)(tile.data(), some, sum);
    }
  }
};

/// The place of the first or last of equal ones.
class Place final : public PreparedNode {
 public:
  Place(DType type, bool is_max, bool takes_last)
      : type_(type), loops_(place_loops(is_max, type)), takes_last_(takes_last) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != type_ || x.size() == 0 || x.rank() == 0) return ops::find(c.node)->kernel(c);
    const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
    const ops::Blocks b = ops::blocks_along(x.dims(), axis);
    if (b.size > std::numeric_limits<std::int32_t>::max()) return ops::find(c.node)->kernel(c);
    Dims dims = x.dims();
    if (c.attr("keepdims", std::int64_t{1}) != 0)
      dims[static_cast<std::size_t>(axis)] = 1;
    else
      dims.erase(dims.begin() + axis);
    Array y = make_raw(c, 0, DType::i64, dims);
    std::int64_t* out = y.mutable_data<std::int64_t>().data();
    constexpr std::int64_t kWide = PlaceLoops::kWide;
    const std::int64_t strips = (b.inner + kWide - 1) / kWide, bytes = bits_of(type_) / 8;
    const Budget& budget = c.host().budget();
    pool.parallel_for(b.outer * strips, std::max<std::int64_t>(1, kPiece / (b.size * std::min(kWide, b.inner))),
                      [&](std::int64_t begin, std::int64_t end) {
                        budget.poll();
                        for (std::int64_t i = begin; i < end; ++i) {
                          const std::int64_t outer = i / strips, first = i % strips * kWide;
                          const std::byte* from = x.bytes() + (outer * b.size * b.inner + first) * bytes;
                          if (b.inner == 1)
                            out[i] = loops_.row(from, b.size, takes_last_);
                          else
                            loops_.columns(from, b.size, b.inner, std::min(kWide, b.inner - first), takes_last_,
                                           out + outer * b.inner + first);
                        }
                      });
  }

 private:
  DType type_;
  PlaceLoops loops_;
  bool takes_last_;
};

struct Reduction {
  std::string_view op;
  Fold fold;
};
constexpr Reduction kReductions[] = {
    {"ReduceL1", Fold::magnitudes}, {"ReduceL2", Fold::squares}, {"ReduceLogSum", Fold::sum},
    {"ReduceMax", Fold::maximum},   {"ReduceMean", Fold::sum},   {"ReduceMin", Fold::minimum},
    {"ReduceProd", Fold::product},  {"ReduceSum", Fold::sum},    {"ReduceSumSquare", Fold::squares},
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_fold(PrepareContext& c) {
  if (c.node.op == "ReduceLogSumExp") {
    if (c.elem(0) != DType::f32) return c.refuse("the input is not float");
    return std::make_unique<LogSumExp>();
  }
  for (const Reduction& row : kReductions)
    if (row.op == c.node.op && fold_loops(row.fold, c.elem(0)))
      return std::make_unique<Folded>(row.op, c.elem(0), row.fold);
  return c.refuse("there is no loop for this type");
}

std::unique_ptr<PreparedNode> prepare_place(PrepareContext& c) {
  const bool is_max = c.node.op == "ArgMax";
  if (!place_loops(is_max, c.elem(0)).row) return c.refuse("there is no loop for this type");
  return std::make_unique<Place>(c.elem(0), is_max, c.node.attributes.int_or("select_last_index", 0) != 0);
}

}  // namespace ingot::engine
