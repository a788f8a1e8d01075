// ScatterElements and ScatterND: a copy in which elements or slices are replaced, or met by others, in their order.
#include <algorithm>
#include <cstring>
#include <functional>

#include "ingot/engine/kernels/broadcast_rows.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/places.h"

namespace ingot::engine {
namespace {

using Numbers = Types<float, double, std::int32_t, std::int64_t>;

/// Integers wrap around.
template <class T, class Op> T wrapped(T x, T y) {
  using Wide = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>;
  using W = typename Wide::type;
  return static_cast<T>(Op()(static_cast<W>(x), static_cast<W>(y)));
}

/// Calls f(meet) with what an update does to the element that it meets: NaN, of either side, is the greatest and the
/// least of all.
template <class T, class F> void with_reduction(std::string_view reduction, F f) {
  if (reduction == "add") return f([](T x, T update) { return wrapped<T, std::plus<>>(x, update); });
  if (reduction == "mul") return f([](T x, T update) { return wrapped<T, std::multiplies<>>(x, update); });
  const auto is_odd = [](T x, T update) { return x != x || update != update; };
  if (reduction == "max")
    return f([=](T x, T update) {
      if (is_odd(x, update)) [[unlikely]]
        return x != x ? x : update;
      return x > update ? x : update;
    });
  f([=](T x, T update) {
    if (is_odd(x, update)) [[unlikely]]
      return x != x ? x : update;
    return x < update ? x : update;
  });
}

class Scatter final : public PreparedNode {
 public:
  Scatter(bool is_nd, DType type, std::string reduction)
      : is_nd_(is_nd), type_(type), reduction_(std::move(reduction)) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &x = c.in(0), &updates = c.in(2);
    if (x.dtype() != type_) c.fail("the input is not of the type that was inferred");
    if (updates.dtype() != type_) c.fail("data and updates differ in element type");
    if (x.size() == 0) return ops::find(c.node)->kernel(c);
    if (reduction_ == "none")
      return ops::dispatch_cell(type_, [&]<class T>() {
        if constexpr (!std::is_same_v<T, std::string>)
          scatter<T>(c, pool, [](const T&, const T& update) { return update; });
      });
    dispatch(type_, Numbers{},
             [&]<class T>() { with_reduction<T>(reduction_, [&](auto meet) { scatter<T>(c, pool, meet); }); });
  }

 private:
  template <class T, class Meet> void scatter(ops::KernelContext& c, ThreadPool& pool, Meet meet) const {
    if (is_nd_)
      slices<T>(c, pool, meet);
    else
      elements<T>(c, pool, meet);
  }

  static Array copied(ops::KernelContext& c, ThreadPool& pool) {
    const Array& x = c.in(0);
    Array y = make_raw(c, 0, x.dtype(), x.dims());
    const Budget& budget = c.host().budget();
    constexpr std::int64_t kBytes = 1 << 18;
    pool.parallel_for(static_cast<std::int64_t>(x.byte_size()), kBytes, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      std::memcpy(y.bytes() + begin, x.bytes() + begin, static_cast<std::size_t>(end - begin));
    });
    return y;
  }

  template <class T, class Meet> static void slices(ops::KernelContext& c, ThreadPool& pool, Meet meet) {
    const ops::Slices slices = ops::slices_of_tuples(c, c.in(0), c.in(1), 0);
    if (c.in(2).dims() != slices.dims) c.fail("the updates do not have the shape that data and indices ask for");
    Array y = copied(c, pool);
    T* out = ops::cells<T>(y);
    const T* next = ops::cells<T>(c.in(2));
    ops::WorkMeter meter(c.host().budget());
    for (const std::int64_t place : slices.places.data<std::int64_t>()) {
      T* to = out + place;
      for (std::int64_t i = 0; i < slices.size; ++i) to[i] = meet(to[i], next[i]);
      next += slices.size;
      meter.did(slices.size);
    }
  }

  template <class T, class Meet> static void elements(ops::KernelContext& c, ThreadPool& pool, Meet meet) {
    const Array &x = c.in(0), &indices = c.in(1);
    if (c.in(2).dims() != indices.dims()) c.fail("indices and updates differ in shape");
    const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
    ops::check_indices(c, x.dims(), indices.dims(), axis);
    Array y = copied(c, pool);
    if (indices.size() == 0) return;
    if (indices.dtype() == DType::i64)
      elements_at<T, std::int64_t>(c, pool, axis, y, meet);
    else
      elements_at<T, std::int32_t>(c, pool, axis, y, meet);
  }

  template <class T, class Index, class Meet>
  static void elements_at(ops::KernelContext& c, ThreadPool& pool, std::int64_t axis, Array& y, Meet meet) {
    const Array& indices = c.in(1);
    const auto along = static_cast<std::size_t>(axis);
    ops::Walk walk{indices.dims(), {ops::strides_of(y.dims())}};
    const std::int64_t stride = walk.strides[0][along], size = y.dims()[along];
    walk.strides[0][along] = 0;
    const std::int64_t step = walk.strides[0].back();
    const Index* index = indices.data<Index>().data();
    const T* next = ops::cells<T>(c.in(2));
    T* out = ops::cells<T>(y);
    const auto write = [&](const std::int64_t* at, std::int64_t first, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t place = index[first + i];
        place += place < 0 ? size : 0;
        if (static_cast<std::uint64_t>(place) >= static_cast<std::uint64_t>(size))
          ops::index_within(c, index[first + i], size);
        T& element = out[at[0] + i * step + place * stride];
        element = meet(element, next[first + i]);
      }
    };
    // Of whole rows each is written by itself; else updates of several pieces may meet.
    constexpr std::int64_t kWholeRow = 1 << 15;
    if (axis + 1 == indices.rank() && walk.dims.back() <= kWholeRow)
      return share_rows(walk, pool, c.host().budget(), write);
    std::int64_t first = 0;
    ops::for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
      write(at, first, n);
      first += n;
    });
  }

  bool is_nd_;
  DType type_;
  std::string reduction_;
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_scatter(PrepareContext& c) {
  const std::string reduction = c.node.attributes.string_or("reduction", "none");
  if (c.elem(0) == DType::undefined || c.elem(0) == DType::string)
    return c.refuse("the elements are not known to be of one size");
  if (reduction != "none" && !TypeSet(Numbers{}).has(c.elem(0)))
    return c.refuse("numbers of this type are not reduced here");
  if (c.elem(1) != DType::i64 && c.elem(1) != DType::i32) return c.refuse("the type of the indices is not known");
  return std::make_unique<Scatter>(c.node.op == "ScatterND", c.elem(0), reduction);
}

}  // namespace ingot::engine
