// GatherElements and GatherND: elements, or slices, that are picked by indices.
#include <cstring>

#include "ingot/engine/kernels/broadcast_rows.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/places.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 15;  // elements of one piece of work

class GatherElements final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array &x = c.in(0), &indices = c.in(1);
    if (x.dtype() == DType::string) c.fail("the input is not of the type that was inferred");
    const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
    ops::check_indices(c, x.dims(), indices.dims(), axis);
    Array y = make_raw(c, 0, x.dtype(), indices.dims());
    if (y.size() == 0) return;
    if (indices.dtype() == DType::i64)
      pick<std::int64_t>(c, pool, axis, y);
    else
      pick<std::int32_t>(c, pool, axis, y);
  }

 private:
  template <class Index> static void pick(ops::KernelContext& c, ThreadPool& pool, std::int64_t axis, Array& y) {
    const Array &x = c.in(0), &indices = c.in(1);
    const auto along = static_cast<std::size_t>(axis);
    ops::Walk walk{indices.dims(), {ops::strides_of(x.dims())}};
    const std::int64_t stride = walk.strides[0][along], size = x.dims()[along];
    walk.strides[0][along] = 0;
    const std::int64_t step = walk.strides[0].back();
    const Index* index = indices.data<Index>().data();
    ops::dispatch_cell(x.dtype(), [&]<class T>() {
      if constexpr (!std::is_same_v<T, std::string>) {
        const T* in = ops::cells<T>(x);
        T* out = ops::cells<T>(y);
        share_rows(walk, pool, c.host().budget(), [&](const std::int64_t* at, std::int64_t first, std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i) {
            std::int64_t place = index[first + i];
            place += place < 0 ? size : 0;
            if (static_cast<std::uint64_t>(place) >= static_cast<std::uint64_t>(size))
              ops::index_within(c, index[first + i], size);
            out[first + i] = in[at[0] + i * step + place * stride];
          }
        });
      }
    });
  }
};

class GatherND final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() == DType::string) c.fail("the input is not of the type that was inferred");
    const ops::Slices slices = ops::slices_of_tuples(c, x, c.in(1), c.attr("batch_dims", std::int64_t{0}));
    Array y = make_raw(c, 0, x.dtype(), slices.dims);
    if (y.size() == 0) return;
    const std::int64_t* places = slices.places.data<std::int64_t>().data();
    const std::int64_t count = slices.places.size(), size = slices.size;
    const Budget& budget = c.host().budget();
    ops::dispatch_cell(x.dtype(), [&]<class T>() {
      if constexpr (!std::is_same_v<T, std::string>) {
        const T* in = ops::cells<T>(x);
        T* out = ops::cells<T>(y);
        pool.parallel_for(count, std::max<std::int64_t>(1, kGrain / size), [&](std::int64_t begin, std::int64_t end) {
          budget.poll();
          if (size == 1)
            for (std::int64_t i = begin; i < end; ++i) out[i] = in[places[i]];
          else
            for (std::int64_t i = begin; i < end; ++i) std::copy_n(in + places[i], size, out + i * size);
        });
      }
    });
  }
};

bool has_plain_elements(const PrepareContext& c) { return c.elem(0) != DType::undefined && c.elem(0) != DType::string; }

}  // namespace

std::unique_ptr<PreparedNode> prepare_gather_elements(PrepareContext& c) {
  if (!has_plain_elements(c)) return c.refuse("the elements are not known to be of one size");
  if (c.elem(1) != DType::i64 && c.elem(1) != DType::i32) return c.refuse("the type of the indices is not known");
  return std::make_unique<GatherElements>();
}

std::unique_ptr<PreparedNode> prepare_gather_nd(PrepareContext& c) {
  if (!has_plain_elements(c)) return c.refuse("the elements are not known to be of one size");
  return std::make_unique<GatherND>();
}

}  // namespace ingot::engine
