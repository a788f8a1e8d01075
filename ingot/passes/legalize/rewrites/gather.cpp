// Picking and moving elements where there are more axes than a target takes.
#include <algorithm>
#include <limits>

#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"
#include "ingot/passes/legalize/rewrites.h"
#include "ingot/passes/legalize/target.h"

namespace ingot::passes::legalize {
namespace {

using Ints = std::vector<std::int64_t>;

std::int64_t count_of(const Ints& dims, std::size_t from = 0, std::size_t to = std::string::npos) {
  std::int64_t count = 1;
  for (std::size_t i = from; i < std::min(to, dims.size()); ++i) count *= dims[i];
  return count;
}

/// Indices as int64, none below zero; `sizes`: of the axes they go along, one or one per column.
Value* wrapped(GraphBuilder& g, Value* indices, const Ints& sizes) {
  Value* given = g.cast(indices, DType::i64);
  Value* size = sizes.size() == 1 ? g.index(sizes[0]) : g.ints(sizes);
  Value* is_negative = g.op("Less", {given, g.index(0)});
  Value* from_end = g.add(given, size);
  return g.where(is_negative, from_end, given);
}

}  // namespace

Values rewrite_gather(Rewriting& r) {
  const auto dims = r.out_dims();
  if (!dims || !r.rank() || r.rank(1) < 2) return {};
  Value* flat = r.g.reshape(r.in(1), {-1});
  Value* picked = r.g.op("Gather", {r.in(0), flat}, {{"axis", r.axis(0, r.rank())}});
  return {r.g.reshape(picked, *dims)};
}

/// By the number of each element among all.
Values rewrite_gather_elements(Rewriting& r) {
  const auto dims = r.dims(), places = r.dims(1);
  if (!dims || !places || dims->empty()) return {};
  const auto axis = static_cast<std::size_t>(r.axis(0, dims->size()));
  const std::int64_t count = count_of(*places);
  Ints offsets(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, stride = 1;
    for (std::size_t k = dims->size(); k-- > 0;) {
      if (k != axis) offsets[static_cast<std::size_t>(i)] += rest % (*places)[k] * stride;
      rest /= (*places)[k];
      stride *= (*dims)[k];
    }
  }
  GraphBuilder& g = r.g;
  Value* flat = g.reshape(r.in(1), {-1});
  Value* index = wrapped(g, flat, {(*dims)[axis]});
  Value* along = g.mul(index, static_cast<double>(count_of(*dims, axis + 1)));
  Value* place = g.add(along, g.ints(offsets));
  Value* row = g.reshape(r.in(0), {-1});
  return {g.reshape(g.op("Gather", {row, place}, {{"axis", 0}}), *places)};
}

/// Index tuples as numbers of rows.
Values rewrite_gather_nd(Rewriting& r) {
  const auto dims = r.dims(), out = r.out_dims();
  const auto batch = static_cast<std::size_t>(r.attr("batch_dims", 0));
  if (!dims || !out || r.rank(1) < 1 || r.rank(1) <= batch) return {};
  const Shape& tuples = *r.in(1)->type.shape;
  if (!tuples.back().is_known()) return {};
  const auto depth = static_cast<std::size_t>(tuples.back().value());
  if (depth == 0 || batch + depth > dims->size()) return {};
  GraphBuilder& g = r.g;
  Ints sizes(dims->begin() + static_cast<std::ptrdiff_t>(batch),
             dims->begin() + static_cast<std::ptrdiff_t>(batch + depth));
  Ints strides(depth, 1);
  for (std::size_t k = depth - 1; k-- > 0;) strides[k] = strides[k + 1] * sizes[k + 1];
  Value* index = wrapped(g, g.reshape(r.in(1), {-1, static_cast<std::int64_t>(depth)}), sizes);
  Value* place = g.reduce_sum(g.mul(index, g.ints(strides)), {1}, false);
  if (batch) {
    const std::int64_t batches = count_of(*dims, 0, batch), rows = count_of(sizes);
    Ints first(static_cast<std::size_t>(batches));
    for (std::int64_t i = 0; i < batches; ++i) first[static_cast<std::size_t>(i)] = i * rows;
    Value* starts = g.constant(Tensor::of<std::int64_t>({batches, 1}, first));
    place = g.reshape(g.add(g.reshape(place, {batches, -1}), starts), {-1});
  }
  Ints rows{count_of(*dims, 0, batch + depth)};
  rows.insert(rows.end(), dims->begin() + static_cast<std::ptrdiff_t>(batch + depth), dims->end());
  Value* picked = g.op("Gather", {g.reshape(r.in(0), rows), place}, {{"axis", 0}});
  return {g.reshape(picked, *out)};
}

/// Axes that stay side by side are one, those of size 1 none.
Values rewrite_transpose(Rewriting& r) {
  const auto dims = r.dims(), out = r.out_dims();
  const Ints perm = perm_of(r.node);
  if (!dims || !out || perm.size() != dims->size()) return {};
  std::vector<Ints> groups;  // of source axes, in the order of the result
  for (const std::int64_t axis : perm) {
    if ((*dims)[static_cast<std::size_t>(axis)] == 1) continue;
    std::int64_t before = axis - 1;  // the nearest one that counts
    while (before >= 0 && (*dims)[static_cast<std::size_t>(before)] == 1) --before;
    if (!groups.empty() && groups.back().back() == before)
      groups.back().push_back(axis);
    else
      groups.push_back({axis});
  }
  if (groups.size() >= dims->size()) return {};
  std::vector<std::size_t> order(groups.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return groups[i][0]; });
  Ints merged, turned(groups.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    std::int64_t size = 1;
    for (const std::int64_t axis : groups[order[k]]) size *= (*dims)[static_cast<std::size_t>(axis)];
    merged.push_back(size);
    turned[order[k]] = static_cast<std::int64_t>(k);
  }
  Value* x = r.g.reshape(r.in(), merged);
  if (groups.size() > 1) x = r.g.transpose(x, turned);
  return {r.g.reshape(x, *out)};
}

Values slice_within(Rewriting& r, std::size_t most_axes) {
  const auto dims = r.dims(), out = r.out_dims();
  const Tensor *starts = ops::constant_of(r.in(1)), *ends = ops::constant_of(r.in(2));
  const Tensor* axes = r.in(3) ? ops::constant_of(r.in(3)) : nullptr;
  const Tensor* steps = r.in(4) ? ops::constant_of(r.in(4)) : nullptr;
  if (!dims || !out || dims->size() <= most_axes || !starts || !ends || (r.in(3) && !axes) || (r.in(4) && !steps))
    return {};
  const std::size_t rank = dims->size();
  std::vector<std::ptrdiff_t> cut(rank, -1);  // which entry of the lists an axis has
  for (std::int64_t k = 0; k < starts->size(); ++k) {
    const std::int64_t axis = axes ? axes->to_ints()[static_cast<std::size_t>(k)] : k;
    cut[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis)] = k;
  }
  Ints merged, from, to, along, by;
  bool was_whole = false;
  for (std::size_t i = 0; i < rank; ++i) {
    if (cut[i] < 0) {
      was_whole ? merged.back() *= (*dims)[i] : (merged.push_back((*dims)[i]), 0);
      was_whole = true;
      continue;
    }
    was_whole = false;
    merged.push_back((*dims)[i]);
    const auto k = static_cast<std::size_t>(cut[i]);
    from.push_back(starts->to_ints()[k]);
    to.push_back(ends->to_ints()[k]);
    along.push_back(static_cast<std::int64_t>(merged.size()) - 1);
    by.push_back(steps ? steps->to_ints()[k] : 1);
  }
  if (merged.size() > most_axes) return {};
  GraphBuilder& g = r.g;
  Value* x = g.reshape(r.in(), merged);
  Value *first = g.ints(from), *last = g.ints(to), *axis = g.ints(along), *step = g.ints(by);
  return {g.reshape(g.op("Slice", {x, first, last, axis, step}), *out)};
}

Values rewrite_slice(Rewriting& r) { return slice_within(r, r.target.most_dimensions); }

}  // namespace ingot::passes::legalize
