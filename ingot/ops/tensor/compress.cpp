// Compress, NonZero, Unique: what is left is decided by the data.
#include <algorithm>
#include <functional>
#include <numeric>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/tensor/negative_axes.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

constexpr Step kCompressSteps[] = {{.since = 11, .down = down_to_axis_from_front}};

void infer_compress(InferContext& c) {
  if (const auto rank = c.rank(1); rank && *rank != 1) c.fail("the condition is not a list");
  const auto* axis = c.node().attributes.get<std::int64_t>("axis");
  Dim count = c.data_dim(0, 0);
  if (const auto condition = c.const_ints(1))
    count = static_cast<std::int64_t>(std::ranges::count_if(*condition, [](std::int64_t b) { return b != 0; }));
  if (!axis && !c.node().attributes.has("axis")) return c.out_shape(0, {count});
  const Shape* x = c.shape(0);
  if (!x || !axis) return;
  Shape y = *x;
  y[static_cast<std::size_t>(c.axis(*axis, static_cast<std::int64_t>(y.size())))] = count;
  c.out_shape(0, std::move(y));
}

void infer_non_zero(InferContext& c) {
  const auto rank = c.rank(0);
  // Of a scalar there is no agreed answer: no row, or one.
  c.out_shape(0, {rank && *rank > 0 ? Dim(*rank) : Dim(), c.data_dim(0, 1)});
}

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

Values gradient_compress(GradContext& c) {
  return {c.back_to_picked(c.x(), c.dy(), [&](Value* places) {
    return c.g.op("Compress", {places, c.x(1)}, c.same_attrs({"axis"}));
  })};
}

Values decompose_compress(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  if (c.rank(1) != 1 || c.elem(0) == DType::undefined) return {};
  const bool has_axis = c.node.attributes.has("axis");
  Value* x = has_axis ? c.in(0) : g.reshape(c.in(0), {-1});
  Value* kept = g.squeeze(g.op("NonZero", {c.in(1)}), {0});
  return {g.op("Gather", {x, kept}, {{"axis", has_axis ? c.attr("axis", std::int64_t{0}) : 0}})};
}

void run_compress(KernelContext& c) {
  const Array& condition = c.in(1);
  if (condition.rank() != 1) c.fail("the condition is not a list");
  Array x = c.in(0);
  std::int64_t axis = 0;
  if (c.node.attributes.has("axis"))
    axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
  else
    x = x.reshaped({x.size()});
  const Blocks from = blocks_along(x.dims(), axis);
  std::vector<std::int64_t> kept;
  const auto keeps = condition.data<bool>();
  for (std::size_t i = 0; i < keeps.size(); ++i)
    if (keeps[i]) kept.push_back(index_within(c, static_cast<std::int64_t>(i), from.size));
  Dims dims = x.dims();
  dims[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(kept.size());
  Array& y = c.make(0, x.dtype(), std::move(dims));
  if (y.size() == 0) return;
  WorkMeter meter(c.host().budget());
  std::int64_t to = 0;
  for (std::int64_t block = 0; block < from.outer; ++block)
    for (const std::int64_t row : kept) {
      copy_elements(x, (block * from.size + row) * from.inner, y, to, from.inner);
      to += from.inner;
      meter.did(from.inner);
    }
}

/// Whether each element differs from 0; a string, whether it is not empty.
Array truths(KernelContext& c, const Array& x) {
  if (x.dtype() != DType::string && !is_complex(x.dtype())) return converted(x, DType::boolean, c.host());
  Array y = scratch(c, DType::boolean, x.dims());
  dispatch(x.dtype(), JoinTypes<Complexes, Types<std::string>>{}, [&]<class T>() {
    std::ranges::transform(x.data<T>(), y.mutable_data<bool>().begin(), [](const T& v) { return v != T{}; });
  });
  return y;
}

// Of a scalar there are no coordinates: 0 rows.
void run_non_zero(KernelContext& c) {
  const Array& x = c.in(0);
  const Array truth = truths(c, x);
  const auto count = std::ranges::count(truth.data<bool>(), true);
  Array& y = c.make(0, DType::i64, {x.rank(), count});
  if (y.size() == 0) return;
  std::int64_t* out = y.mutable_data<std::int64_t>().data();
  const Dims dense = strides_of(x.dims());
  for (std::size_t axis = 0; axis < dense.size(); ++axis) {
    c.host().budget().poll();
    for (std::int64_t i = 0; i < x.size(); ++i)
      if (truth.data<bool>()[static_cast<std::size_t>(i)]) *out++ = i / dense[axis] % x.dims()[axis];
  }
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

/// What Unique finds: per distinct slice the first that looks so and their number, per slice its class.
struct Classes {
  std::vector<std::int64_t> first, count, of_slice;
};

Classes classes_of(std::int64_t slices, bool sorted, const std::function<int(std::int64_t, std::int64_t)>& compare) {
  std::vector<std::int64_t> by_order(static_cast<std::size_t>(slices));
  std::iota(by_order.begin(), by_order.end(), std::int64_t{0});
  std::ranges::stable_sort(by_order, [&](std::int64_t a, std::int64_t b) { return compare(a, b) < 0; });
  Classes classes;
  classes.of_slice.resize(by_order.size());
  for (std::size_t i = 0; i < by_order.size(); ++i) {
    if (i == 0 || compare(by_order[i - 1], by_order[i]) != 0) {
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
  const Budget::MemoryGuard lists(c.host().budget(), 4 * paid.byte_size());
  Classes classes;
  using Ordered = JoinTypes<JoinTypes<ComputeNumbers, Complexes>, Types<bool, std::string>>;
  dispatch(keys.dtype(), Ordered{}, [&]<class T>() {
    const T* in = keys.data<T>().data();
    WorkMeter meter(c.host().budget());
    classes = classes_of(blocks.size, c.attr("sorted", std::int64_t{1}) != 0, [&](std::int64_t a, std::int64_t b) {
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

constinit const OpDef defs::Compress = {
    .name = "Compress",
    .infer = infer_compress,
    .steps = kCompressSteps,
    .decompose = decompose_compress,
    .kernel = run_compress,
    .gradient = gradient_compress,
};
constinit const OpDef defs::NonZero = {
    .name = "NonZero",
    .infer = infer_non_zero,
    .kernel = run_non_zero,
};
constinit const OpDef defs::Unique = {
    .name = "Unique",
    .infer = infer_unique,
    .kernel = run_unique,
    .gradient = gradient_unique,
};

}  // namespace ingot::ops
