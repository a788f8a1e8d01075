// Unique: the elements, or the slices along an axis, that differ.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

// One size for all: every output but the inverse has one entry per distinct element or slice.
void infer_unique(InferContext& c) {
  const auto* axis = c.node().attributes.get<std::int64_t>("axis");
  const Shape* x = c.shape(0);
  Dim all;
  if (!axis) {
    if (x) all = product(*x);
    c.out_shape(0, {c.data_dim(0, 0)});
  } else if (x) {
    const auto i = static_cast<std::size_t>(c.axis(*axis, static_cast<std::int64_t>(x->size())));
    all = (*x)[i];
    Shape y = *x;
    y[i] = c.data_dim(0, 0);
    c.out_shape(0, std::move(y));
  }
  c.out_shape(1, {c.data_dim(0, 0)});
  c.out_shape(2, {all});
  c.out_shape(3, {c.data_dim(0, 0)});
}

/// -1, 0, 1: the order of two elements. NaN is equal to itself and comes last.
template <class T> int order(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    const int real = order(a.real(), b.real());
    return real ? real : order(a.imag(), b.imag());
  } else {
    if (a < b) return -1;
    if (b < a) return 1;
    if constexpr (std::is_floating_point_v<T>)
      if ((a != a) != (b != b)) return a != a ? 1 : -1;
    return 0;
  }
}

/// A number as an unsigned integer in the same order; NaN is one number and comes last, zeros are one.
template <class T> std::uint64_t key_of(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
    if (value != value) return std::numeric_limits<Bits>::max();
    const auto bits = std::bit_cast<Bits>(value + T{0});  // -0 becomes 0
    return bits & kSign ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | kSign);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

struct Keyed {
  std::uint64_t key;
  std::int64_t slice;
};

/// Sorts by keys, byte by byte; equal ones stay in their order. Bytes that all have in common cost nothing.
std::vector<Keyed> sorted_by_key(std::vector<Keyed> all) {
  constexpr std::size_t kBytes = 8, kValues = 256;
  std::array<std::array<std::size_t, kValues>, kBytes> counts{};
  for (const Keyed& k : all)
    for (std::size_t b = 0; b < kBytes; ++b) ++counts[b][k.key >> (8 * b) & 0xff];
  std::vector<Keyed> next(all.size());
  for (std::size_t b = 0; b < kBytes; ++b) {
    if (std::ranges::find(counts[b], all.size()) != counts[b].end()) continue;
    std::size_t before = 0;
    for (std::size_t& count : counts[b]) before += std::exchange(count, before);
    for (const Keyed& k : all) next[counts[b][k.key >> (8 * b) & 0xff]++] = k;
    all.swap(next);
  }
  return all;
}

/// What Unique finds: per distinct slice the first that looks so and their number, per slice its class.
struct Classes {
  std::vector<std::int64_t> first, count, of_slice;
};

/// From the slices in order, and whether one differs from that before it.
template <class Differs> Classes classes_of(const std::vector<std::int64_t>& by_order, bool sorted, Differs differs) {
  Classes classes;
  classes.of_slice.resize(by_order.size());
  for (std::size_t i = 0; i < by_order.size(); ++i) {
    if (i == 0 || differs(i)) {
      classes.first.push_back(by_order[i]);
      classes.count.push_back(0);
    }
    ++classes.count.back();
    classes.of_slice[static_cast<std::size_t>(by_order[i])] = static_cast<std::int64_t>(classes.first.size()) - 1;
  }
  if (sorted) return classes;
  // By first appearance instead.
  std::vector<std::size_t> rank(classes.first.size()), place(rank.size());
  std::iota(rank.begin(), rank.end(), std::size_t{0});
  std::ranges::sort(rank, {}, [&](std::size_t k) { return classes.first[k]; });
  Classes appeared;
  for (std::size_t k = 0; k < rank.size(); ++k) {
    place[rank[k]] = k;
    appeared.first.push_back(classes.first[rank[k]]);
    appeared.count.push_back(classes.count[rank[k]]);
  }
  for (const std::int64_t k : classes.of_slice)
    appeared.of_slice.push_back(static_cast<std::int64_t>(place[static_cast<std::size_t>(k)]));
  return appeared;
}

/// The classes of a list of numbers.
template <class T> Classes classes_of_list(std::span<const T> list, bool sorted) {
  std::vector<Keyed> keyed;
  keyed.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) keyed.push_back({key_of(list[i]), static_cast<std::int64_t>(i)});
  keyed = sorted_by_key(std::move(keyed));
  std::vector<std::int64_t> by_order;
  by_order.reserve(keyed.size());
  for (const Keyed& k : keyed) by_order.push_back(k.slice);
  return classes_of(by_order, sorted, [&](std::size_t i) { return keyed[i].key != keyed[i - 1].key; });
}

/// The classes of slices that a function compares.
template <class Compare> Classes classes_of_slices(std::int64_t slices, bool sorted, Compare compare) {
  std::vector<std::int64_t> by_order(static_cast<std::size_t>(slices));
  std::iota(by_order.begin(), by_order.end(), std::int64_t{0});
  std::ranges::stable_sort(by_order, [&](std::int64_t a, std::int64_t b) { return compare(a, b) < 0; });
  return classes_of(by_order, sorted, [&](std::size_t i) { return compare(by_order[i - 1], by_order[i]) != 0; });
}

void put_ints(KernelContext& c, std::size_t i, const std::vector<std::int64_t>& values) {
  if (!c.wants(i)) return;
  Array& y = c.make(i, DType::i64, {static_cast<std::int64_t>(values.size())});
  std::ranges::copy(values, y.mutable_data<std::int64_t>().begin());
}

void run_unique(KernelContext& c) {
  Array x = c.in(0);
  std::int64_t axis = 0;
  if (c.node.attributes.has("axis"))
    axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
  else
    x = x.reshaped({x.size()});
  const Blocks blocks = blocks_along(x.dims(), axis);
  const Array keys =
      x.dtype() == DType::string || is_complex(x.dtype()) ? x : converted(x, compute_dtype(x.dtype()), c.host());
  // Index lists and the work of sorting are paid for before they are made.
  const Array paid = scratch(c, DType::i64, {blocks.size});
  const Budget::MemoryGuard lists(c.host().budget(), 8 * paid.byte_size());
  const bool sorted = c.attr("sorted", std::int64_t{1}) != 0;
  Classes classes;
  using Ordered = JoinTypes<JoinTypes<ComputeNumbers, Complexes>, Types<bool, std::string>>;
  dispatch(keys.dtype(), Ordered{}, [&]<class T>() {
    const T* in = keys.data<T>().data();
    if constexpr (std::is_arithmetic_v<T>)
      if (keys.size() == blocks.size) {
        classes = classes_of_list<T>(keys.data<T>(), sorted);
        return;
      }
    WorkMeter meter(c.host().budget());
    classes = classes_of_slices(blocks.size, sorted, [&](std::int64_t a, std::int64_t b) {
      meter.did(1);
      for (std::int64_t block = 0; block < blocks.outer; ++block)
        for (std::int64_t i = 0; i < blocks.inner; ++i) {
          const std::int64_t base = block * blocks.size * blocks.inner + i;
          if (const int o = order(in[base + a * blocks.inner], in[base + b * blocks.inner])) return o;
        }
      return 0;
    });
  });
  put_ints(c, 1, classes.first);
  put_ints(c, 2, classes.of_slice);
  put_ints(c, 3, classes.count);
  if (!c.wants(0)) return;
  Dims dims = x.dims();
  dims[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(classes.first.size());
  Array& y = c.make(0, x.dtype(), std::move(dims));
  if (y.size() == 0) return;
  std::int64_t to = 0;
  for (std::int64_t block = 0; block < blocks.outer; ++block)
    for (const std::int64_t slice : classes.first) {
      copy_elements(x, (block * blocks.size + slice) * blocks.inner, y, to, blocks.inner);
      to += blocks.inner;
    }
}

/// Each of the elements, or of the slices, is the first of its kind.
Values gradient_unique(GradContext& c) {
  if (!c.dy()) return {};
  Value* first = c.ensure_output(1);
  const auto* axis = c.node.attributes.get<std::int64_t>("axis");
  return {c.back_to_picked(c.x(), c.dy(), [&](Value* positions) {
    if (!axis) positions = c.g.reshape(positions, {-1});
    return c.g.op("Gather", {positions, first}, {{"axis", axis ? *axis : 0}});
  })};
}

}  // namespace

constinit const OpDef defs::Unique = {
    .name = "Unique",
    .infer = infer_unique,
    .kernel = run_unique,
    .gradient = gradient_unique,
};

}  // namespace ingot::ops
