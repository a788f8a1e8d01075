// Slices of an array, or of a constant table, such as an embedding, which is read where the file holds it.
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 16;  // bytes of one piece of work

class Gather final : public PreparedNode {
 public:
  explicit Gather(Tensor table) : table_(std::move(table)) {}

  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Dims& whole = table_ ? table_.dims() : c.in(0).dims();
    const DType type = table_ ? table_.dtype() : c.in(0).dtype();
    if (type == DType::string) c.fail("the input is not of the type that was inferred");
    const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), std::ssize(whole));
    const ops::Blocks from = ops::blocks_along(whole, axis);
    const Array& indices = c.in(1);
    Dims dims(whole.begin(), whole.begin() + axis);
    dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
    dims.insert(dims.end(), whole.begin() + axis + 1, whole.end());
    Array y = make_raw(c, 0, type, std::move(dims));
    std::vector<std::int64_t> picked = indices.to_ints();
    for (std::int64_t& index : picked) index = ops::index_within(c, index, from.size);
    if (y.size() == 0) return;
    const auto slice = from.inner * static_cast<std::int64_t>(y.byte_size()) / y.size();
    const std::byte* source = table_ ? table_.bytes().data() : c.in(0).bytes();
    std::byte* out = y.bytes();
    const std::int64_t count = std::ssize(picked);
    const Budget& budget = c.host().budget();
    pool.parallel_for(from.outer * count, std::max<std::int64_t>(1, kGrain / slice),
                      [&](std::int64_t begin, std::int64_t end) {
                        budget.poll();
                        for (std::int64_t i = begin; i < end; ++i) {
                          const std::int64_t at = i / count * from.size + picked[static_cast<std::size_t>(i % count)];
                          std::memcpy(out + i * slice, source + at * slice, static_cast<std::size_t>(slice));
                        }
                      });
  }

  bool reads(std::size_t i) const override { return i != 0 || !table_; }

 private:
  Tensor table_;  // or nothing: the table comes in
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_gather(PrepareContext& c) {
  Tensor table = c.weights(0);
  if (!table && (c.elem(0) == DType::undefined || c.elem(0) == DType::string))
    return c.refuse("the elements are not known to be of one size");
  // In memory these have another form than in a file.
  if (table && (table.dtype() == DType::string || table.dtype() == DType::boolean || is_sub_byte(table.dtype())))
    return c.refuse("the elements are not whole numbers of bytes");
  return std::make_unique<Gather>(std::move(table));
}

}  // namespace ingot::engine
