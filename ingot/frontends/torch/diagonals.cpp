// Diagonals, triangles, and elements that change places between channels and positions.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {

Item diagonal(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  const std::int64_t rank = c.rank(x), offset = c.integer(1), a = c.axis(2, x), b = c.axis(3, x);
  Ints perm{a, b};
  for (std::int64_t i = 0; i < rank; ++i)
    if (i != a && i != b) perm.push_back(i);
  Value* first = g.transpose(x, perm);
  Value* rows = g.sub(size_of(g, first, 0), g.index(std::max<std::int64_t>(-offset, 0)));
  Value* columns = g.sub(size_of(g, first, 1), g.index(std::max<std::int64_t>(offset, 0)));
  Value* at = counted(g, g.op("Max", {g.op("Min", {rows, columns}), g.index(0)}));
  Value* row = g.add(at, g.index(std::max<std::int64_t>(-offset, 0)));
  Value* column = g.add(at, g.index(std::max<std::int64_t>(offset, 0)));
  Value* picked = g.op("GatherND", {first, g.concat({g.unsqueeze(row, {1}), g.unsqueeze(column, {1})}, 1)});
  Ints back;
  for (std::int64_t i = 1; i < rank - 1; ++i) back.push_back(i);
  back.push_back(0);
  return g.transpose(picked, back);
}
Item diag_embed(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  const std::int64_t offset = c.integer(1), rank = c.rank(x) + 1;
  Value* size = g.add(size_of(g, x, rank - 2), g.index(std::abs(offset)));
  Value* wide = g.unsqueeze(x, {offset < 0 ? rank - 1 : rank - 2});
  // Rows or columns of zeros before the diagonal, then the elements where row and column agree.
  if (offset != 0) {
    Ints pads(static_cast<std::size_t>(2 * rank), 0);
    pads[static_cast<std::size_t>(offset > 0 ? rank - 1 : rank - 2)] = std::abs(offset);
    wide = g.op("Pad", {wide, g.ints(pads)});
  }
  Value* row = g.unsqueeze(counted(g, size), {1});
  Value* column = g.unsqueeze(counted(g, size), {0});
  Value* is_on = g.op("Equal", {g.add(row, g.index(offset)), column});
  Value* made = g.where(is_on, wide, g.scalar(0, x->type.elem));
  const std::int64_t a = normal_axis(c.integer(2), rank), b = normal_axis(c.integer(3), rank);
  if (a == rank - 2 && b == rank - 1) return made;
  return c.t.call("movedim", {Item(made), Item::integers({rank - 2, rank - 1}), Item::integers({a, b})});
}
Item diag(const Call& c) {
  if (c.rank(c.tensor(0)) == 1) return c.t.call("diag_embed", {c.arg(0), c.arg(1)});
  return c.t.call("diagonal", {c.arg(0), c.arg(1)});
}
Item tril(const Call& c) { return c.g().op("Trilu", {c.tensor(0), c.index(1)}, {{"upper", 0}}); }
Item triu(const Call& c) { return c.g().op("Trilu", {c.tensor(0), c.index(1)}, {{"upper", 1}}); }
/// The sizes before the last three axes: channels, height and width of images.
Value* lead_of(const Call& c, Value* x) {
  return c.g().op("Slice", {c.g().shape(x), c.g().ints({0}), c.g().ints({c.rank(x) - 3})});
}
Item pixel_shuffle(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  const Attrs attrs{{"blocksize", c.integer(1)}, {"mode", "CRD"}};
  c.expect_rank(x, 4);
  if (rank_of(x) == 4) return g.op("DepthToSpace", {x}, attrs);
  if (c.rank(x) < 3) refuse("an image has three axes at least");
  const auto images = [&](Value* v, Value* lead, std::int64_t rank) {
    Value* sizes = g.op("Slice", {g.shape(v), g.ints({rank - 3}), g.ints({INT64_MAX})});
    return g.op("Reshape", {v, g.concat({lead, sizes}, 0)});
  };
  return images(g.op("DepthToSpace", {images(x, g.ints({-1}), c.rank(x))}, attrs), lead_of(c, x), 4);
}
Item pixel_unshuffle(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  const std::int64_t r = c.integer(1);
  c.expect_rank(x, 4);
  const std::int64_t first = c.rank(x) - 3;
  if (first < 0 || r <= 0) refuse("an image has three axes at least");
  const auto part = [&](std::int64_t axis, std::int64_t shares) {
    Value* size = g.op("Slice", {g.shape(x), g.ints({first + axis}), g.ints({first + axis + 1})});
    return shares == 1 ? size : g.div(size, g.ints({shares}));
  };
  Value* lead = lead_of(c, x);
  Value* split = g.concat({lead, part(0, 1), part(1, r), g.ints({r}), part(2, r), g.ints({r})}, 0);
  Ints perm(static_cast<std::size_t>(first));
  std::iota(perm.begin(), perm.end(), 0);
  for (const std::int64_t axis : {0, 2, 4, 1, 3}) perm.push_back(first + axis);
  Value* moved = g.transpose(g.op("Reshape", {x, split}), perm);
  return g.op("Reshape", {moved, g.concat({lead, g.mul(part(0, 1), g.ints({r * r})), part(1, r), part(2, r)}, 0)});
}
Item channel_shuffle(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  const std::int64_t groups = c.integer(1);
  Value* shape = g.shape(x);
  Value* split = g.concat({g.op("Slice", {shape, g.ints({0}), g.ints({1})}), g.ints({groups, -1}),
                           g.op("Slice", {shape, g.ints({2}), g.ints({INT64_MAX})})},
                          0);
  Ints perm(static_cast<std::size_t>(c.rank(x)) + 1);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[1], perm[2]);
  return g.op("Reshape", {g.transpose(g.op("Reshape", {x, split}), perm), shape});
}

}  // namespace ingot::frontends::torch
