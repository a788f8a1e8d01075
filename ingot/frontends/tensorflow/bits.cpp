// Bits: other readings of the same ones, counts of them, and counts of comparisons.
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

DType unsigned_of(const TfNode& n, unsigned bits) {
  switch (bits) {
    case 8:
      return DType::u8;
    case 16:
      return DType::u16;
    case 32:
      return DType::u32;
    case 64:
      return DType::u64;
    default:
      n.unsupported("elements of " + std::to_string(bits) + " bits");
  }
}

/// The same bits as another type. Whole numbers of up to 32 bits go through wider ones, which every opset knows; the
/// rest needs BitCast of opset 26.
Value* read_as(GraphBuilder& g, Value* x, DType to) {
  const DType from = x->type.elem;
  if (from == to) return x;
  if (!is_integer(from) || !is_integer(to) || bits_of(to) > 32) return g.op("BitCast", {x}, {{"to", to}});
  const std::int64_t all = std::int64_t{1} << bits_of(to);
  Value* wide = g.cast(x, DType::i64);
  if (!is_signed_integer(to)) return g.cast(g.op("Mod", {wide, g.index(all)}), to);
  Value* is_high = g.op("GreaterOrEqual", {wide, g.index(all / 2)});
  return g.cast(g.where(is_high, g.sub(wide, g.index(all)), wide), to);
}

Value* shifts(GraphBuilder& g, std::size_t count, unsigned step, DType t) {
  std::vector<std::int64_t> by(count);
  for (std::size_t i = 0; i < count; ++i) by[i] = static_cast<std::int64_t>(i * step);
  return g.cast(g.ints(by), t);
}

}  // namespace

Values bitcast(const TfNode& n, GraphBuilder& g) {
  const DType from = n.elem(0), to = n.dtype("type", from);
  if (from == to) return {n.input(0)};
  const unsigned old_bits = bits_of(from), new_bits = bits_of(to);
  if (old_bits == new_bits) return {read_as(g, n.input(0), to)};
  const DType source = unsigned_of(n, old_bits), target = unsigned_of(n, new_bits);
  Value* x = read_as(g, n.input(0), source);
  if (old_bits > new_bits) {
    // Parts along a new last axis, the lowest first.
    Value* by = shifts(g, old_bits / new_bits, new_bits, source);
    Value* moved = g.op("BitShift", {g.unsqueeze(x, {-1}), by}, {{"direction", "RIGHT"}});
    Value* mask = g.constant(Tensor::of<std::uint64_t>({}, {(std::uint64_t{1} << new_bits) - 1}));
    Value* parts = g.cast(g.op("BitwiseAnd", {moved, g.cast(mask, source)}), target);
    return {read_as(g, parts, to)};
  }
  // The parts along the last axis overlap nowhere: their sum is the whole.
  const DType wide = new_bits < 32 ? DType::u32 : target;
  Value* by = shifts(g, new_bits / old_bits, old_bits, wide);
  Value* moved = g.op("BitShift", {g.cast(x, wide), by}, {{"direction", "LEFT"}});
  return {read_as(g, g.cast(g.reduce_sum(moved, {-1}, false), target), to)};
}

Values population_count(const TfNode& n, GraphBuilder& g) {
  const unsigned bits = bits_of(n.elem(0));
  Value* x = read_as(g, n.input(0), unsigned_of(n, bits));
  Value* by = shifts(g, bits, 1, x->type.elem);
  Value* moved = g.op("BitShift", {g.unsqueeze(x, {-1}), by}, {{"direction", "RIGHT"}});
  Value* ones = g.cast(g.op("BitwiseAnd", {moved, g.scalar(1, x->type.elem)}), DType::i32);
  return {g.cast(g.reduce_sum(ones, {-1}, false), DType::u8)};
}

Values compare_and_bitpack(const TfNode& n, GraphBuilder& g) {
  // Eight neighbours make a byte, the first its highest bit.
  // Truth values are packed as they are: TensorFlow's kernel for them does not look at the limit.
  Value* x = n.input(0);
  Value* is_set = n.elem(0) == DType::boolean ? x : g.op("Greater", {x, n.input(1)});
  Value* bits = g.cast(is_set, DType::i32);
  Value* rows = g.op("Slice", {g.shape(x), g.ints({0}), g.ints({-1})});
  Value* grouped = g.op("Reshape", {bits, g.concat({rows, g.ints({-1, 8})}, 0)});
  Value* weights = g.constant(Tensor::of<std::int32_t>({8}, {128, 64, 32, 16, 8, 4, 2, 1}));
  return {g.cast(g.reduce_sum(g.mul(grouped, weights), {-1}, false), DType::u8)};
}

Values bucketize(const TfNode& n, GraphBuilder& g) {
  const std::vector<double> limits = n.reals("boundaries");
  if (limits.empty()) return {g.cast(filled_like(g, n.input(0), 0), DType::i32)};
  Value* edges = g.constant(Tensor::of<double>({static_cast<std::int64_t>(limits.size())}, limits));
  Value* x = g.unsqueeze(g.cast(n.input(0), DType::f64), {-1});
  Value* is_past = g.cast(g.op("GreaterOrEqual", {x, edges}), DType::i32);
  return {g.reduce_sum(is_past, {-1}, false)};
}

namespace {

/// How many elements of each sorted row are below each of the row's values.
Values below(const TfNode& n, GraphBuilder& g, bool or_equal) {
  Value* row = g.unsqueeze(n.input(0), {1});
  Value* value = g.unsqueeze(n.input(1), {2});
  Value* is_below = or_equal ? g.op("LessOrEqual", {row, value}) : g.op("Less", {row, value});
  Value* count = g.reduce_sum(g.cast(is_below, DType::i64), {2}, false);
  return {g.cast(count, n.dtype("out_type", DType::i32))};
}

}  // namespace

Values lower_bound(const TfNode& n, GraphBuilder& g) { return below(n, g, false); }
Values upper_bound(const TfNode& n, GraphBuilder& g) { return below(n, g, true); }

Values unravel_index(const TfNode& n, GraphBuilder& g) {
  Value* dims = as_int64_vector(g, n.input(1));
  Value* strides = g.op("CumProd", {dims, g.index(0)}, {{"exclusive", 1}, {"reverse", 1}});
  Value* at = as_int64_vector(g, n.input(0));
  Value* row = g.unsqueeze(at, {0});
  Value* whole = g.div(row, g.unsqueeze(strides, {1}));
  Value* places = g.op("Mod", {whole, g.unsqueeze(dims, {1})});
  if (n.rank(0) == 0) places = g.squeeze(places, {1});
  return {g.cast(places, n.elem(0))};
}

}  // namespace ingot::frontends::tensorflow
