// Tensors put together from others, and facts about tensors that code asks for.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

Value* with_rank(const Call& c, Value* x, std::int64_t rank) {
  GraphBuilder& g = c.g();
  const std::int64_t own = c.rank(x);
  if (own >= rank) return x;
  // A vector becomes a row; of three axes it is the middle one.
  if (rank == 3) return own == 2 ? g.unsqueeze(x, {2}) : own == 1 ? g.unsqueeze(x, {0, 2}) : g.reshape(x, {1, 1, 1});
  return rank == 2 && own == 1 ? g.unsqueeze(x, {0}) : g.reshape(x, Ints(static_cast<std::size_t>(rank), 1));
}

Item at_least(const Call& c, std::int64_t rank) {
  if (c.is_tensor(0)) return with_rank(c, c.tensor(0), rank);
  std::vector<Item> made;
  for (Value* x : c.tensors(0)) made.emplace_back(with_rank(c, x, rank));
  return Item::list(std::move(made));
}

Item cosine_window(const Call& c, double a, double b, double d) {
  const std::int64_t n = c.integer(0), m = !c.has(1) || c.flag(1) ? n : n - 1;
  if (n < 0 || n > 100'000'000) refuse("a window of no length");
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i) {
    const double turn =
        2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(std::max<std::int64_t>(m, 1));
    values.push_back(static_cast<float>(n == 1 ? 1 : a - b * std::cos(turn) + d * std::cos(2 * turn)));
  }
  return c.g().constant(Tensor::of<float>({n}, values));
}

Item triangle_indices(const Call& c, bool is_upper) {
  const std::int64_t rows = c.integer(0), columns = c.integer(1), offset = c.integer(2);
  if (rows < 0 || columns < 0 || rows * columns > 100'000'000) refuse("indices of too large a triangle");
  Ints all, second;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      if (is_upper ? j - i >= offset : j - i <= offset) {
        all.push_back(i);
        second.push_back(j);
      }
  const auto count = static_cast<std::int64_t>(all.size());
  all.insert(all.end(), second.begin(), second.end());
  return c.g().cast(c.g().constant(Tensor::of<std::int64_t>({2, count}, all)), c.dtype(3, DType::i64));
}

}  // namespace

Item atleast_1d(const Call& c) { return at_least(c, 1); }
Item atleast_2d(const Call& c) { return at_least(c, 2); }
Item atleast_3d(const Call& c) { return at_least(c, 3); }
Item dstack(const Call& c) { return c.t.call("cat", {at_least(c, 3), 2}); }
Item column_stack(const Call& c) {
  std::vector<Item> columns;
  for (Value* x : c.tensors(0)) columns.emplace_back(c.rank(x) <= 1 ? c.g().reshape(x, {-1, 1}) : x);
  return c.t.call("cat", {Item::list(std::move(columns)), 1});
}
Item block_diag(const Call& c) {
  GraphBuilder& g = c.g();
  Value* made = nullptr;
  for (Value* x : c.tensors(0)) {
    x = with_rank(c, x, 2);
    if (!made) {
      made = x;
      continue;
    }
    // Each block is padded to the right of and below the others.
    Value* own = g.shape(x);
    Value* others = g.shape(made);
    made = g.concat(
        {g.op("Pad", {made, g.concat({g.ints({0, 0, 0}), g.op("Slice", {own, g.ints({1}), g.ints({2})})}, 0)}),
         g.op("Pad",
              {x, g.concat({g.ints({0}), g.op("Slice", {others, g.ints({1}), g.ints({2})}), g.ints({0, 0})}, 0)})},
        0);
  }
  return made ? Item(made) : Item(Unknown{});
}
Item cartesian_prod(const Call& c) {
  const Item grids = c.t.call("meshgrid", {c.arg(0), "ij"});
  const ListRef* list = grids.get<ListRef>();
  if (!list) return grids;
  if ((*list)->items.size() == 1) return (*list)->items[0];
  std::vector<Item> columns;
  for (const Item& grid : (*list)->items) columns.push_back(c.t.call("reshape", {grid, Item::integers({-1})}));
  return c.t.call("stack", {Item::list(std::move(columns)), 1});
}
Item hsplit(const Call& c) { return c.t.call("tensor_split", {c.arg(0), c.arg(1), c.rank(c.tensor(0)) == 1 ? 0 : 1}); }
Item vsplit(const Call& c) { return c.t.call("tensor_split", {c.arg(0), c.arg(1), 0}); }
Item dsplit(const Call& c) { return c.t.call("tensor_split", {c.arg(0), c.arg(1), 2}); }
Item diagflat(const Call& c) {
  return c.t.call("diag_embed", {c.t.call("reshape", {c.arg(0), Item::integers({-1})}), c.arg(1)});
}
Item pad_sequence(const Call& c) {
  GraphBuilder& g = c.g();
  Values rows = c.tensors(0);
  Value* most = nullptr;
  for (Value* x : rows) {
    Value* size = size_of(g, x, 0);
    most = most ? g.op("Max", {most, size}) : size;
  }
  std::vector<Item> padded;
  for (Value* x : rows) {
    const auto rank = static_cast<std::size_t>(c.rank(x));
    Value* missing = g.reshape(g.sub(most, size_of(g, x, 0)), {1});
    Value* pads = g.concat({g.ints(Ints(rank, 0)), missing, g.ints(Ints(rank - 1, 0))}, 0);
    padded.emplace_back(g.op("Pad", {x, pads, g.scalar(c.real(2), x->type.elem)}));
  }
  return c.t.call("stack", {Item::list(std::move(padded)), c.flag(1) ? 0 : 1});
}
Item blackman_window(const Call& c) { return cosine_window(c, 0.42, 0.5, 0.08); }
Item bartlett_window(const Call& c) {
  const std::int64_t n = c.integer(0), m = std::max<std::int64_t>((!c.has(1) || c.flag(1) ? n : n - 1), 1);
  if (n < 0 || n > 100'000'000) refuse("a window of no length");
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i)
    values.push_back(
        static_cast<float>(n == 1 ? 1 : 1 - std::fabs(2.0 * static_cast<double>(i) / static_cast<double>(m) - 1)));
  return c.g().constant(Tensor::of<float>({n}, values));
}
Item tril_indices(const Call& c) { return triangle_indices(c, false); }
Item triu_indices(const Call& c) { return triangle_indices(c, true); }
Item vander(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const auto size = dim_of(x, -1);
  if (!c.has(1) && !size) refuse("powers up to a size that is not known");
  const std::int64_t count = c.has(1) ? c.integer(1) : *size;
  if (count < 0 || count > 1'000'000) refuse("too many powers");
  Ints powers;
  for (std::int64_t i = 0; i < count; ++i) powers.push_back(c.flag(2) ? i : count - 1 - i);
  return g.op("Pow", {g.unsqueeze(x, {-1}), g.cast(g.ints(powers), x->type.elem)});
}
Item shape_as_tensor(const Call& c) { return c.g().shape(c.tensor(0)); }
Item always_true(const Call&) { return true; }
Item always_false(const Call&) { return false; }
Item is_nonzero(const Call& c) { return c.t.number_of(c.g().cast(c.g().reshape(c.tensor(0), {}), DType::boolean)); }
Item is_same_size(const Call& c) {
  return c.t.call("eq", {c.t.call("size", {c.arg(0)}), c.t.call("size", {c.arg(1)})});
}
Item is_signed(const Call& c) {
  const DType elem = c.tensor(0)->type.elem;
  return is_float(elem) || is_signed_integer(elem);
}
Item isreal(const Call& c) {
  return c.g().op("Expand", {c.g().constant(Tensor::scalar(true)), c.g().shape(c.tensor(0))});
}
Item empty_strided(const Call& c) { return c.t.call("zeros", {c.arg(0), c.arg(2)}); }
Item put(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* made = g.op("ScatterElements",
                     {g.reshape(x, {-1}), g.reshape(as_int64(g, c.tensor(1)), {-1}),
                      g.reshape(g.cast(c.tensor(2), x->type.elem), {-1})},
                     {{"reduction", c.flag(3) ? "add" : "none"}});
  return g.op("Reshape", {made, g.shape(x)});
}
/// Writes through a view, as if it had been made in place.
Item diagonal_scatter(const Call& c) {
  const Item whole = c.t.call("clone", {c.arg(0)});
  const Item part = c.t.call("diagonal", {whole, c.arg(2), c.arg(3), c.arg(4)});
  (void)c.t.call("copy_", {part, c.arg(1)});
  return whole;
}
Item as_strided_scatter(const Call& c) {
  const Item whole = c.t.call("clone", {c.arg(0)});
  const Item part = c.t.call("as_strided", {whole, c.arg(2), c.arg(3), c.arg(4)});
  (void)c.t.call("copy_", {part, c.arg(1)});
  return whole;
}
Item fill_diagonal(const Call& c) {
  if (c.flag(2)) refuse("a diagonal that goes round");
  const Item whole = c.t.call("clone", {c.arg(0)});
  (void)c.t.call("fill_", {c.t.call("diagonal", {whole}), c.arg(1)});
  return whole;
}

}  // namespace ingot::frontends::torch
