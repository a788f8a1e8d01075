// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear between floats and integers, a vector at a time.
#include <algorithm>
#include <cmath>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/integer_gemm.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/ops/catalog.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kGrain = 1 << 14;

/// Of 8 or 16 bits.
bool is_narrow(DType type) {
  return type == DType::i8 || type == DType::u8 || type == DType::i16 || type == DType::u16;
}

/// Of these, too, where the zero point is 0: others are not exact in float.
bool is_readable(DType type) { return is_narrow(type) || type == DType::i32; }

void run_reference(ops::KernelContext& c) { ops::find(c.node)->kernel(c); }

/// Scales and zero points, one for all or one per element of an axis, and the rows that have them in common.
struct Scales {
  std::vector<float> scales, zeros;
  std::int64_t inner = 0;              // elements behind the axis
  std::int64_t length = 0;             // of a row
  bool are_in_rows = false;            // each element of a row has its own
  std::int64_t block = 0;              // neighbours along the axis that share theirs; 0: there are no blocks
  std::int64_t blocks = 0, along = 0;  // then: of the axis, and its size

  /// False for what only the reference kernel does.
  bool read(ops::KernelContext& c, const Dims& x) {
    const Array& scale = c.in(1);
    if (scale.dtype() != DType::f32 || scale.size() == 0) return false;
    scales.assign(scale.data<float>().begin(), scale.data<float>().end());
    zeros.assign(scales.size(), 0);
    if (c.has(2)) {
      if (!is_readable(c.in(2).dtype()) || c.in(2).dims() != scale.dims()) return false;
      const std::vector<std::int64_t> ints = c.in(2).to_ints();
      const auto is_zero = [](std::int64_t v) { return v == 0; };
      if (c.in(2).dtype() == DType::i32 && !std::ranges::all_of(ints, is_zero)) return false;
      zeros.assign(ints.begin(), ints.end());
    }
    if (const std::int64_t size = c.attr("block_size", std::int64_t{0})) return read_blocks(c, x, size);
    if (scales.size() == 1 && scale.rank() <= 1) {
      inner = length = tensor_size(x);
      return true;
    }
    if (scale.rank() != 1 || x.empty()) return false;
    const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{1}), std::ssize(x));
    if (x[static_cast<std::size_t>(axis)] != scale.size()) return false;
    inner = 1;
    for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < x.size(); ++i) inner *= x[i];
    are_in_rows = inner == 1;
    length = are_in_rows ? scale.size() : inner;
    return true;
  }

  bool read_blocks(ops::KernelContext& c, const Dims& x, std::int64_t size) {
    const Dims& dims = c.in(1).dims();
    if (size < 1 || x.empty() || dims.size() != x.size()) return false;
    const auto axis = static_cast<std::size_t>(c.axis(c.attr("axis", std::int64_t{1}), std::ssize(x)));
    inner = 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (dims[i] != (i == axis ? (x[i] + size - 1) / size : x[i])) return false;
      if (i > axis) inner *= x[i];
    }
    block = size;
    blocks = dims[axis];
    along = x[axis];
    return true;
  }

  /// The same for blocks.
  template <class F> void each_block(std::int64_t size, ThreadPool& pool, const Budget& budget, F f) const {
    const std::int64_t row = inner == 1 ? along : inner;
    pool.parallel_for(size / row, std::max<std::int64_t>(1, kGrain / row), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t i = begin; i < end; ++i) {
        if (inner > 1) {
          const std::int64_t at = (i / along * blocks + i % along / block) * inner;
          f(i * inner, inner, scales.data() + at, zeros.data() + at, 1);
          continue;
        }
        for (std::int64_t k = 0; k < blocks; ++k)
          f(i * along + k * block, std::min(block, along - k * block), scales.data() + i * blocks + k,
            zeros.data() + i * blocks + k, 0);
      }
    });
  }

  /// Calls f(first, n, scales, zeros, step) for pieces of all elements.
  template <class F> void each(std::int64_t size, ThreadPool& pool, const Budget& budget, F f) const {
    if (size == 0) return;
    if (block > 0) return each_block(size, pool, budget, f);
    if (scales.size() == 1) {
      pool.parallel_for(size, kGrain, [&](std::int64_t begin, std::int64_t end) {
        budget.poll();
        f(begin, end - begin, scales.data(), zeros.data(), 0);
      });
      return;
    }
    const std::int64_t rows = size / length, count = std::ssize(scales);
    pool.parallel_for(rows, std::max<std::int64_t>(1, kGrain / length), [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t at = are_in_rows ? 0 : row % count;
        f(row * length, length, scales.data() + at, zeros.data() + at, are_in_rows ? 1 : 0);
      }
    });
  }
};

class Quantize final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    Scales scales;
    const DType type = c.has(2) ? c.in(2).dtype() : DType::u8;
    if (x.dtype() != DType::f32 || !is_narrow(type) || !scales.read(c, x.dims())) return run_reference(c);
    Array y = make_raw(c, 0, type, x.dims());
    const float* from = x.data<float>().data();
    const std::int64_t width = bits_of(type) / 8;
    scales.each(x.size(), pool, c.host().budget(),
                [&](std::int64_t first, std::int64_t n, const float* s, const float* zeros, std::int64_t step) {
                  quantize(from + first, n, s, zeros, step, type, y.bytes() + first * width);
                });
  }
};

class Dequantize final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    Scales scales;
    if (!is_readable(x.dtype()) || !scales.read(c, x.dims())) return run_reference(c);
    Array y = make_raw(c, 0, DType::f32, x.dims());
    float* to = y.mutable_data<float>().data();
    const std::int64_t width = bits_of(x.dtype()) / 8;
    scales.each(x.size(), pool, c.host().budget(),
                [&](std::int64_t first, std::int64_t n, const float* s, const float* zeros, std::int64_t step) {
                  dequantize(x.bytes() + first * width, x.dtype(), n, s, zeros, step, to + first);
                });
  }
};

class DynamicQuantize final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const Array& x = c.in(0);
    if (x.dtype() != DType::f32) return run_reference(c);
    const float* from = x.data<float>().data();
    float low = 0, high = 0;
    if (!find_range(from, x.size(), low, high)) return run_reference(c);
    const float scale = (high - low) / 255;
    if (scale == 0 || !std::isfinite(scale)) return run_reference(c);
    const float zero = std::nearbyint(std::clamp(0 - low / scale, 0.0f, 255.0f));
    Array y = make_raw(c, 0, DType::u8, x.dims());
    const Budget& budget = c.host().budget();
    pool.parallel_for(x.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      quantize(from + begin, end - begin, &scale, &zero, 0, DType::u8, y.bytes() + begin);
    });
    c.set(1, Array::scalar(scale));
    c.set(2, Array::scalar(static_cast<std::uint8_t>(zero)));
  }
};

/// What the formulas of newer versions add, and this kernel does not know.
bool is_plain(const Node& node) {
  return node.attributes.int_or("precision", 0) == 0 && node.attributes.int_or("output_dtype", 0) == 0;
}

}  // namespace

std::unique_ptr<PreparedNode> prepare_quantize(PrepareContext& c) {
  if (c.elem(0) != DType::f32 || c.elem(1) != DType::f32 || (c.has(2) && !is_narrow(c.elem(2))))
    return c.refuse("it is not from floats to 8-bit or 16-bit integers");
  if (!is_plain(c.node)) return c.refuse("it states a type");
  return std::make_unique<Quantize>();
}

std::unique_ptr<PreparedNode> prepare_dequantize(PrepareContext& c) {
  if (!is_readable(c.elem(0)) || c.elem(1) != DType::f32)
    return c.refuse("it is not from integers of 8, 16 or 32 bits to floats");
  if (!is_plain(c.node)) return c.refuse("it states a type");
  return std::make_unique<Dequantize>();
}

std::unique_ptr<PreparedNode> prepare_dynamic_quantize(PrepareContext& c) {
  if (c.elem(0) != DType::f32) return c.refuse("the input is not known to be of type float");
  return std::make_unique<DynamicQuantize>();
}

}  // namespace ingot::engine
