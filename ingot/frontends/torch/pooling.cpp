// Pooling: windows given by sizes, or by the size of the result.
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

constexpr std::int64_t kMostBins = 4096;  // that are computed one by one

std::size_t spatial_axes(const Call& c) {
  for (const char digit : c.row.name)
    if (digit >= '1' && digit <= '3') return static_cast<std::size_t>(digit - '0');
  return 2;
}

/// Runs `pool` on a batch; a tensor without one gets it for that time.
template <class Pool> Values batched(const Call& c, std::size_t spatial, Pool&& pool) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  c.expect_rank(x, spatial + 2);
  if (c.rank(x) != static_cast<std::int64_t>(spatial) + 1) return pool(x);
  Values made = pool(g.unsqueeze(x, {0}));
  for (Value*& v : made) v = g.squeeze(v, {0});
  return made;
}

Ints twice(Ints list) {
  const Ints once = list;
  list.insert(list.end(), once.begin(), once.end());
  return list;
}

Values max_pooled(const Call& c, std::size_t outputs) {
  const std::size_t n = spatial_axes(c);
  const Ints kernel = c.ints(1, n);
  const bool has_stride = c.has(2) && !c.ints(2).empty();
  const Attrs attrs{{"kernel_shape", kernel},
                    {"strides", has_stride ? c.ints(2, n) : kernel},
                    {"pads", twice(c.ints(3, n))},
                    {"dilations", c.ints(4, n)},
                    {"ceil_mode", c.flag(5)}};
  return batched(c, n, [&](Value* x) {
    Values made = c.g().op("MaxPool", {x}, attrs, outputs);
    if (outputs < 2) return made;
    // PyTorch's places count within a channel, ONNX's through the whole tensor.
    GraphBuilder& g = c.g();
    Ints spatial;
    for (std::size_t i = 0; i < n; ++i) spatial.push_back(static_cast<std::int64_t>(i) + 2);
    Value* size = g.op("ReduceProd", {g.op("Gather", {g.shape(x), g.ints(spatial)})}, {{"keepdims", 0}});
    made[1] = g.op("Mod", {made[1], size});
    return made;
  });
}

/// Where bin `i` of `count` over `size` elements begins and ends.
std::pair<std::int64_t, std::int64_t> bin(std::int64_t i, std::int64_t count, std::int64_t size) {
  return {i * size / count, ((i + 1) * size + count - 1) / count};
}

/// The same where only the run knows the size: which elements [count, size] belong to which bin.
Value* open_bins_along(const Call& c, Value* x, std::int64_t axis, std::int64_t count, bool is_max) {
  GraphBuilder& g = c.g();
  Value* size = size_of(g, x, axis);
  Ints numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  Value* number = g.unsqueeze(g.ints(numbers), {1});
  Value* begin = g.div(g.mul(number, size), g.index(count));
  Value* end = g.div(g.add(g.mul(g.add(number, g.index(1)), size), g.index(count - 1)), g.index(count));
  Value* at = g.unsqueeze(counted(g, size), {0});
  Value* is_in = g.op("And", {g.op("GreaterOrEqual", {at, begin}), g.op("Less", {at, end})});
  const std::int64_t last = c.rank(x) - 1;
  Ints perm(static_cast<std::size_t>(last + 1));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<std::size_t>(axis)], perm[static_cast<std::size_t>(last)]);
  Value* turned = axis == last ? x : g.transpose(x, perm);
  Value* made = nullptr;
  if (is_max) {
    Value* low = g.scalar(-std::numeric_limits<double>::infinity(), x->type.elem);
    made = g.op("ReduceMax", {g.where(is_in, g.unsqueeze(turned, {-2}), low), g.ints({-1})}, {{"keepdims", 0}});
  } else {
    Value* share = g.div(g.cast(is_in, x->type.elem), g.cast(g.sub(end, begin), x->type.elem));
    made = g.op("MatMul", {turned, g.transpose(share, {1, 0})});
  }
  return axis == last ? made : g.transpose(made, perm);
}

Value* bins_along(const Call& c, Value* x, std::int64_t axis, std::int64_t count, bool is_max) {
  GraphBuilder& g = c.g();
  const auto size = dim_of(x, axis);
  if (count < 0 || count > 1'000'000) refuse("adaptive pooling to so many bins");
  if (!size || count > kMostBins) return open_bins_along(c, x, axis, count, is_max);
  Values bins;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [begin, end] = bin(i, count, *size);
    Value* part = g.op("Slice", {x, g.ints({begin}), g.ints({end}), g.ints({axis})});
    bins.push_back(is_max ? g.op("ReduceMax", {part, g.ints({axis})}) : g.op("ReduceMean", {part, g.ints({axis})}));
  }
  return bins.size() == 1 ? bins[0] : g.concat(bins, axis);
}

Ints wanted_sizes(const Call& c, Value* x, std::size_t n) {
  const auto* sizes = c.arg(1).get<ListRef>();
  Ints wanted;
  for (std::size_t i = 0; i < n; ++i) {
    const Item& item = sizes ? (*sizes)->items.at((*sizes)->items.size() == 1 ? 0 : i) : c.arg(1);
    const auto own = dim_of(x, static_cast<std::int64_t>(i) + 2);
    if (item.is_none() && !own) refuse("adaptive pooling keeps a size that is not known");
    wanted.push_back(item.is_none() ? *own : Call{c.t, c.row, {item}}.integer(0));
  }
  return wanted;
}

/// Where in a channel the largest value of each bin stands; null where the sizes are not known, or bins too many.
Value* adapted_places(const Call& c, Value* x, std::size_t n) {
  GraphBuilder& g = c.g();
  const Ints wanted = wanted_sizes(c, x, n);
  Ints sizes, axes, shape{0, 0};
  std::int64_t bins = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const auto size = dim_of(x, static_cast<std::int64_t>(i) + 2);
    bins = std::clamp<std::int64_t>(wanted[i], 0, kMostBins + 1) * bins;
    if (!size || bins > kMostBins || bins == 0 || *size == 0) return nullptr;
    sizes.push_back(*size);
    axes.push_back(static_cast<std::int64_t>(i) + 2);
    shape.push_back(wanted[i]);
  }
  Values all;
  for (std::int64_t number = 0; number < bins; ++number) {
    Ints begin(n), end(n);
    std::int64_t rest = number;
    for (std::size_t i = n; i-- > 0; rest /= wanted[i])
      std::tie(begin[i], end[i]) = bin(rest % wanted[i], wanted[i], sizes[i]);
    Value* part = g.op("Slice", {x, g.ints(begin), g.ints(end), g.ints(axes)});
    Value* at = g.op("ArgMax", {g.op("Reshape", {part, g.ints({0, 0, -1})})}, {{"axis", 2}, {"keepdims", 1}});
    // The place in the bin, axis by axis, as a place in the channel.
    Value* place = nullptr;
    std::int64_t step = 1;
    for (std::size_t i = n; i-- > 0; step *= sizes[i]) {
      const std::int64_t width = end[i] - begin[i];
      Value* along = g.mul(g.add(i == 0 ? at : g.op("Mod", {at, g.index(width)}), g.index(begin[i])), g.index(step));
      place = place ? g.add(place, along) : along;
      at = g.div(at, g.index(width));
    }
    all.push_back(place);
  }
  return g.op("Reshape", {all.size() == 1 ? all[0] : g.concat(all, 2), g.ints(shape)});
}

Value* adapted(const Call& c, Value* x, std::size_t n, bool is_max) {
  GraphBuilder& g = c.g();
  const Ints wanted = wanted_sizes(c, x, n);
  if (std::ranges::all_of(wanted, [](std::int64_t w) { return w == 1; }))
    return is_max ? g.op("GlobalMaxPool", {x}) : g.op("GlobalAveragePool", {x});
  Ints kernel;
  bool is_even = true;
  for (std::size_t i = 0; i < n; ++i) {
    const auto size = dim_of(x, static_cast<std::int64_t>(i) + 2);
    is_even &= size && wanted[i] > 0 && *size % wanted[i] == 0;
    if (is_even) kernel.push_back(*size / wanted[i]);
  }
  if (is_even) {
    const Attrs attrs{{"kernel_shape", kernel}, {"strides", kernel}};
    return is_max ? g.op("MaxPool", {x}, attrs, 1)[0] : g.op("AveragePool", {x}, attrs);
  }
  for (std::size_t i = 0; i < n; ++i) x = bins_along(c, x, static_cast<std::int64_t>(i) + 2, wanted[i], is_max);
  return x;
}

}  // namespace

Item max_pool(const Call& c) { return max_pooled(c, 1)[0]; }
Item max_pool_with_indices(const Call& c) { return Item::tensors(max_pooled(c, 2)); }
Item avg_pool(const Call& c) {
  const std::size_t n = spatial_axes(c);
  GraphBuilder& g = c.g();
  const Ints kernel = c.ints(1, n);
  const bool has_stride = c.has(2) && !c.ints(2).empty();
  const Attrs attrs{{"kernel_shape", kernel},
                    {"strides", has_stride ? c.ints(2, n) : kernel},
                    {"pads", twice(c.ints(3, n))},
                    {"ceil_mode", c.flag(4)},
                    {"count_include_pad", c.flag(5) || c.has(6)}};
  return batched(c, n, [&](Value* x) {
    Value* y = g.op("AveragePool", {x}, attrs);
    if (!c.has(6)) return Values{y};
    if (c.flag(4)) refuse("divisor_override together with ceil_mode");
    double area = 1;
    for (const std::int64_t k : kernel) area *= static_cast<double>(k);
    return Values{g.mul(y, area / c.real(6))};
  })[0];
}
Item adaptive_avg_pool(const Call& c) {
  const std::size_t n = spatial_axes(c);
  return batched(c, n, [&](Value* x) { return Values{adapted(c, x, n, false)}; })[0];
}
Item adaptive_max_pool(const Call& c) {
  const std::size_t n = spatial_axes(c);
  const Values made = batched(c, n, [&](Value* x) {
    Values both{adapted(c, x, n, true)};
    if (Value* places = adapted_places(c, x, n)) both.push_back(places);
    return both;
  });
  return Item::tuple({Item(made[0]), made.size() > 1 ? Item(made[1]) : Item(Unknown{})});
}
Item max_unpool(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const std::int64_t axes = c.rank(x) - static_cast<std::int64_t>(spatial_axes(c));
  Value* lead = g.op("Slice", {g.shape(x), g.ints({0}), g.ints({axes})});
  Value* shape = g.concat({lead, c.index_vector(2)}, 0);
  Value* flat_shape = g.concat({lead, g.ints({-1})}, 0);
  Value* zeros = g.op("Expand", {g.scalar(0, x->type.elem), shape});
  Value* made = g.op("ScatterElements",
                     {g.op("Reshape", {zeros, flat_shape}), g.op("Reshape", {c.tensor(1), flat_shape}),
                      g.op("Reshape", {x, flat_shape})},
                     {{"axis", axes}});
  return g.op("Reshape", {made, shape});
}

}  // namespace ingot::frontends::torch
