// Products of integers in float: as many at a time as a float's 24 bits hold exactly.
#include <algorithm>
#include <numeric>

#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kExact = (std::int64_t{1} << 24) / (255 * 255);  // products of 8 bits in one exact sum

bool is_scalar(const Value* v) {
  return v->type.shape && (v->type.shape->empty() || (v->type.shape->size() == 1 && same((*v->type.shape)[0], 1)));
}

/// The numbers without their zero point, as floats. `axis`: along which zero points differ, if they do.
Value* centred(Rewriting& r, std::size_t i, std::size_t zero, std::int64_t axis) {
  GraphBuilder& g = r.g;
  Value* x = g.cast(r.in(i), DType::f32);
  Value* z = r.in(zero);
  if (!z) return x;
  z = g.cast(z, DType::f32);
  if (is_scalar(z)) return g.sub(x, g.reshape(z, {}));
  if (!z->type.shape || z->type.shape->size() != 1) return nullptr;
  Ints dims(r.rank(i), 1);
  dims[static_cast<std::size_t>(axis)] = -1;
  return g.sub(x, g.reshape(z, dims));
}

Value* part(GraphBuilder& g, Value* x, std::int64_t axis, std::int64_t from, std::int64_t to) {
  Value *begin = g.ints({from}), *end = g.ints({to}), *along = g.ints({axis});
  return g.op("Slice", {x, begin, end, along});
}

/// The sum over an axis whose size only a run knows: filled up with zeros to a number of blocks, each an exact sum.
Value* product_in_blocks(GraphBuilder& g, Value* a, Value* b) {
  const auto a_rank = std::ssize(*a->type.shape), b_rank = std::ssize(*b->type.shape);
  Value *a_sizes = g.shape(a), *b_sizes = g.shape(b), *block = g.ints({kExact});
  Value* inner = part(g, a_sizes, 0, a_rank - 1, a_rank);
  Value* count = g.div(g.add(inner, static_cast<double>(kExact - 1)), block);
  Value* missing = g.sub(g.mul(count, block), inner);
  const auto zeros = [&](std::int64_t n) { return g.ints(Ints(static_cast<std::size_t>(n), 0)); };
  a = g.op("Pad", {a, g.concat({zeros(2 * a_rank - 1), missing}, 0)});
  b = g.op("Pad", {b, g.concat({zeros(2 * b_rank - 2), missing, zeros(1)}, 0)});
  a = g.op("Reshape", {a, g.concat({part(g, a_sizes, 0, 0, a_rank - 1), count, block}, 0)});
  Values dims{count, block, part(g, b_sizes, 0, b_rank - 1, b_rank)};
  if (b_rank > 2) dims.insert(dims.begin(), part(g, b_sizes, 0, 0, b_rank - 2));
  b = g.op("Reshape", {b, g.concat(dims, 0)});
  Ints perm(static_cast<std::size_t>(a_rank) + 1);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 2], perm[perm.size() - 3]);
  return g.reduce_sum(g.cast(g.op("MatMul", {g.transpose(a, perm), b}), DType::i32), {-3}, false);
}

}  // namespace

Values rewrite_matmul_integer(Rewriting& r) {
  if (r.rank(0) < 2 || r.rank(1) < 2) return {};
  Dim inner = r.in(0)->type.shape->back();
  if (!inner.is_known()) inner = r.in(1)->type.shape->end()[-2];
  const auto a_rank = static_cast<std::int64_t>(r.rank(0)), b_rank = static_cast<std::int64_t>(r.rank(1));
  Value* a = centred(r, 0, 2, a_rank - 2);
  Value* b = centred(r, 1, 3, b_rank - 1);
  if (!a || !b) return {};
  GraphBuilder& g = r.g;
  if (!inner.is_known()) return {product_in_blocks(g, a, b)};
  Value* total = nullptr;
  for (std::int64_t from = 0; from < inner.value(); from += kExact) {
    const std::int64_t to = std::min(from + kExact, inner.value());
    const bool is_whole = inner.value() <= kExact;
    Value* left = is_whole ? a : part(g, a, a_rank - 1, from, to);
    Value* right = is_whole ? b : part(g, b, b_rank - 2, from, to);
    Value* sum = g.cast(g.op("MatMul", {left, right}), DType::i32);
    total = total ? g.add(total, sum) : sum;
  }
  return total ? Values{total} : Values{};
}

Values rewrite_conv_integer(Rewriting& r) {
  const auto w = r.dims(1);
  if (r.rank(0) < 3 || !w) return {};
  std::int64_t window = 1;
  for (std::size_t i = 2; i < w->size(); ++i) window *= (*w)[i];
  const std::int64_t channels = (*w)[1], group = r.attr("group", 1);
  if (window > kExact || (group != 1 && window * channels > kExact)) return {};
  if (r.in(3) && !is_scalar(r.in(3)) && (r.rank(3) != 1)) return {};
  // Padding counts as the zero point, which is 0 once it is taken away.
  Value* x = centred(r, 0, 2, 1);
  Value* weights = centred(r, 1, 3, 0);
  if (!x || !weights) return {};
  GraphBuilder& g = r.g;
  Attrs attrs{{"group", group}};
  for (const char* name : {"strides", "dilations", "pads", "kernel_shape"})
    if (const auto* list = r.node.attributes.get<Ints>(name)) attrs.emplace_back(name, *list);
  const std::string auto_pad = r.node.attributes.string_or("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET") attrs.emplace_back("auto_pad", auto_pad);
  const std::int64_t at_once = group != 1 ? channels : std::max<std::int64_t>(1, kExact / window);
  Value* total = nullptr;
  for (std::int64_t from = 0; from < channels; from += at_once) {
    const std::int64_t to = std::min(from + at_once, channels);
    Value* some = at_once >= channels ? x : part(g, x, 1, from, to);
    Value* by = at_once >= channels ? weights : part(g, weights, 1, from, to);
    Value* sum = g.cast(g.op("Conv", {some, by}, attrs), DType::i32);
    total = total ? g.add(total, sum) : sum;
  }
  return total ? Values{total} : Values{};
}

}  // namespace ingot::passes::legalize
