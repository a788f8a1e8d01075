// Complex tensors as pairs of reals.
#include "ingot/frontends/torch/complex.h"

#include <algorithm>
#include <numbers>

#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

/// What an operator that only moves elements says about axes, by its arguments' places; -1: nothing.
struct Moves {
  std::string_view name;
  int axes = -1;  // a number, or a list of them
  int other_axis = -1;
  int sizes = -1;              // a list with a size for each axis: the pairs' own follows
  std::int64_t pair_size = 2;  // in that list
  bool appends_axis = false;   // a permutation names the last axis too
  bool makes_axis = false;     // the axis is counted in the result
  bool is_list = false;        // the first argument is a list of tensors
};
constexpr Moves kMoves[] = {
    {.name = "_reshape_alias", .sizes = 1},
    {.name = "_unsafe_view", .sizes = 1},
    {.name = "alias"},
    {.name = "broadcast_to", .sizes = 1},
    {.name = "cat", .axes = 1, .is_list = true},
    {.name = "chunk", .axes = 2},
    {.name = "clone"},
    {.name = "contiguous"},
    {.name = "cpu"},
    {.name = "detach"},
    {.name = "expand", .sizes = 1},
    {.name = "flatten", .axes = 1, .other_axis = 2},
    {.name = "flip", .axes = 1},
    {.name = "index_select", .axes = 1},
    {.name = "lift_fresh"},
    {.name = "movedim", .axes = 1, .other_axis = 2},
    {.name = "narrow", .axes = 1},
    {.name = "permute", .axes = 1, .appends_axis = true},
    {.name = "repeat", .sizes = 1, .pair_size = 1},
    {.name = "reshape", .sizes = 1},
    {.name = "roll", .axes = 2},
    {.name = "select", .axes = 1},
    {.name = "slice", .axes = 1},
    {.name = "split", .axes = 2},
    {.name = "split_with_sizes", .axes = 2},
    {.name = "squeeze", .axes = 1},
    {.name = "stack", .axes = 1, .makes_axis = true, .is_list = true},
    {.name = "transpose", .axes = 1, .other_axis = 2},
    {.name = "unbind", .axes = 1},
    {.name = "unsqueeze", .axes = 1, .makes_axis = true},
    {.name = "view", .sizes = 1},
};

Item counted_from_front(const Call& c, const Item& axes, std::int64_t rank) {
  const Ints all = Call{c.t, c.row, {axes}}.ints(0);
  Ints made;
  for (const std::int64_t a : all) made.push_back(normal_axis(a, rank));
  return axes.is<ListRef>() ? Item::integers(made) : Item(made.at(0));
}

Value* length(GraphBuilder& g, Value* pairs) { return g.op("ReduceL2", {pairs, g.ints({-1})}, {{"keepdims", 0}}); }

Value* conjugate(GraphBuilder& g, Value* pairs) {
  return joined_parts(g, real_part(g, pairs), g.neg(imaginary_part(g, pairs)));
}

/// A product by any bilinear function of reals.
template <class Product> Value* product(GraphBuilder& g, Value* a, Value* b, Product&& of) {
  Value *ar = real_part(g, a), *ai = imaginary_part(g, a), *br = real_part(g, b), *bi = imaginary_part(g, b);
  return joined_parts(g, g.sub(of(ar, br), of(ai, bi)), g.add(of(ar, bi), of(ai, br)));
}

Value* elementwise_product(GraphBuilder& g, Value* a, Value* b) {
  return product(g, a, b, [&](Value* x, Value* y) { return g.mul(x, y); });
}

Value* reciprocal(GraphBuilder& g, Value* pairs) {
  Value* square = g.op("ReduceSumSquare", {pairs, g.ints({-1})}, {{"keepdims", 1}});
  return g.div(conjugate(g, pairs), square);
}

/// exp(a + bi) = exp(a) (cos b + i sin b)
Value* power_of_e(GraphBuilder& g, Value* pairs) {
  Value* size = g.op("Exp", {real_part(g, pairs)});
  Value* turn = imaginary_part(g, pairs);
  return joined_parts(g, g.mul(size, g.op("Cos", {turn})), g.mul(size, g.op("Sin", {turn})));
}

Item reduced(const Call& c) {
  Value* pairs = pairs_of(c, 0);
  const std::int64_t rank = c.rank(pairs) - 1;
  Ints axes = c.has(1) ? c.ints(1) : Ints{};
  if (axes.empty())
    for (std::int64_t i = 0; i < rank; ++i) axes.push_back(i);
  for (std::int64_t& a : axes) a = normal_axis(a, rank);
  GraphBuilder& g = c.g();
  Value* at = g.ints(axes);
  const Attrs attrs{{"keepdims", c.flag(2)}};
  return complex_item(c.row.name == "sum" ? g.op("ReduceSum", {pairs, at}, attrs)
                                          : g.op("ReduceMean", {pairs, at}, attrs));
}

Item of_real_size(const Call& c) {
  // The shape is that of either part.
  Call part = c;
  part.args[0] = Item(real_part(c.g(), pairs_of(c, 0)));
  return c.row.translate(part);
}

Item summed(const Call& c) {
  if (c.has(2) && c.real(2) != 1) refuse("a multiple of a complex tensor is added");
  Value *a = pairs_of(c, 0), *b = pairs_of(c, 1);
  if (c.row.name == "rsub") std::swap(a, b);
  return complex_item(c.row.name == "add" ? c.g().add(a, b) : c.g().sub(a, b));
}

Item multiplied(const Call& c) {
  GraphBuilder& g = c.g();
  if (!is_complex_item(c.arg(1)) && !c.arg(1).is<std::complex<double>>()) {
    Value* factor = g.unsqueeze(g.cast(c.tensor(1), pairs_of(c, 0)->type.elem), {-1});
    return complex_item(c.row.name == "div" ? g.div(pairs_of(c, 0), factor) : g.mul(pairs_of(c, 0), factor));
  }
  Value* b = pairs_of(c, 1);
  return complex_item(elementwise_product(g, pairs_of(c, 0), c.row.name == "div" ? reciprocal(g, b) : b));
}

Item einsum_of_two(const Call& c) {
  GraphBuilder& g = c.g();
  const ListRef* list = c.arg(1).get<ListRef>();
  if (!list || (*list)->items.size() != 2) refuse("a sum over products of more than two complex tensors");
  std::string equation = c.text(0);
  std::erase(equation, ' ');
  const Call operands{c.t, c.row, (*list)->items};
  return complex_item(product(g, pairs_of(operands, 0), pairs_of(operands, 1), [&](Value* x, Value* y) {
    return g.op("Einsum", {x, y}, {{"equation", equation}});
  }));
}

Item known_power(const Call& c) {
  GraphBuilder& g = c.g();
  if (c.row.name != "square" && c.real(1) != 2) refuse("a power of complex numbers other than 2");
  return complex_item(elementwise_product(g, pairs_of(c, 0), pairs_of(c, 0)));
}

}  // namespace

Item complex_item(Value* pairs) {
  Item item(pairs);
  (*item.get<TensorRef>())->is_complex = true;
  return item;
}

bool is_complex_item(const Item& item) {
  const TensorRef* tensor = item.get<TensorRef>();
  return tensor && (*tensor)->is_complex;
}

bool has_complex(const std::vector<Item>& args) {
  for (const Item& item : args) {
    if (is_complex_item(item) || item.is<std::complex<double>>()) return true;
    if (const ListRef* list = item.get<ListRef>(); list && has_complex((*list)->items)) return true;
  }
  return false;
}

Value* pairs_of(const Call& c, std::size_t i) {
  GraphBuilder& g = c.g();
  if (const auto* known = c.arg(i).get<std::complex<double>>())
    return g.constant(Tensor::of<float>(
        {2}, std::vector<float>{static_cast<float>(known->real()), static_cast<float>(known->imag())}));
  Value* x = c.tensor(i);
  if (is_complex_item(c.arg(i))) return x;
  if (!is_float(x->type.elem)) x = g.cast(x, DType::f32);
  return joined_parts(g, x, filled_like(g, x, 0));
}

Value* real_part(GraphBuilder& g, Value* pairs) { return g.op("Gather", {pairs, g.index(0)}, {{"axis", -1}}); }
Value* imaginary_part(GraphBuilder& g, Value* pairs) { return g.op("Gather", {pairs, g.index(1)}, {{"axis", -1}}); }
Value* joined_parts(GraphBuilder& g, Value* real, Value* imaginary) {
  return g.concat({g.unsqueeze(real, {-1}), g.unsqueeze(imaginary, {-1})}, -1);
}

std::optional<Call> call_of_pairs(const Call& c) {
  const auto moves = std::ranges::find(kMoves, c.row.name, &Moves::name);
  if (moves == std::end(kMoves)) return std::nullopt;
  Call made = c;
  const ListRef* list = c.arg(0).get<ListRef>();
  if (moves->is_list) {
    if (!list || (*list)->items.empty()) return std::nullopt;
    std::vector<Item> parts;
    for (std::size_t i = 0; i < (*list)->items.size(); ++i)
      parts.emplace_back(pairs_of(Call{c.t, c.row, (*list)->items}, i));
    made.args[0] = Item::list(std::move(parts));
  } else if (!is_complex_item(c.arg(0))) {
    return std::nullopt;
  }
  Value* first = moves->is_list ? Call{c.t, c.row, {made.args[0]}}.tensors(0)[0] : c.tensor(0);
  const std::int64_t rank = c.rank(first) - 1 + (moves->makes_axis ? 1 : 0);
  for (const int at : {moves->axes, moves->other_axis}) {
    if (at < 0) continue;
    const auto place = static_cast<std::size_t>(at);
    if (!c.has(place)) {
      if (moves->name != "squeeze") return std::nullopt;
      continue;
    }
    made.args[place] = counted_from_front(c, c.arg(place), rank);
    if (moves->appends_axis) {
      std::vector<Item> all = (*made.args[place].get<ListRef>())->items;
      all.emplace_back(rank);
      made.args[place] = Item::list(std::move(all));
    }
  }
  if (moves->sizes >= 0) {
    const ListRef* sizes = c.arg(static_cast<std::size_t>(moves->sizes)).get<ListRef>();
    if (!sizes) return std::nullopt;
    std::vector<Item> all = (*sizes)->items;
    all.emplace_back(moves->pair_size);
    made.args[static_cast<std::size_t>(moves->sizes)] = Item::list(std::move(all));
  }
  return made;
}

void mark_complex(const Item& result) {
  if (const TensorRef* tensor = result.get<TensorRef>()) (*tensor)->is_complex = true;
  if (const ListRef* list = result.get<ListRef>())
    for (const Item& item : (*list)->items) mark_complex(item);
}

Item translate_complex(const Call& c) {
  GraphBuilder& g = c.g();
  const std::string_view name = c.row.name;
  if (name.starts_with("fft_") || name.starts_with("_fft_") || name == "istft") return c.row.translate(c);
  if (name == "einsum") return einsum_of_two(c);
  if (name == "add" || name == "sub" || name == "rsub") return summed(c);
  if (name == "mul" || name == "div" || name == "true_divide") return multiplied(c);
  if (name == "matmul" || name == "mm" || name == "bmm")
    return complex_item(product(g, pairs_of(c, 0), pairs_of(c, 1), [&](Value* x, Value* y) {
      return g.op("MatMul", {x, y});
    }));
  if (name == "copy") {
    Value* to = pairs_of(c, 0);
    return complex_item(g.op("Expand", {pairs_of(c, 1), g.shape(to)}));
  }
  if (!is_complex_item(c.arg(0))) refuse("the operator is not translated for complex numbers");
  Value* x = c.tensor(0);
  if (name == "view_as_real" || name == "view_as_real_copy") return x;
  if (name == "real") return real_part(g, x);
  if (name == "imag") return imaginary_part(g, x);
  if (name == "abs") return length(g, x);
  if (name == "angle") return c.t.call("atan2", {Item(imaginary_part(g, x)), Item(real_part(g, x))});
  if (name == "conj" || name == "_conj" || name == "conj_physical") return complex_item(conjugate(g, x));
  if (name == "resolve_conj" || name == "resolve_neg" || name == "to" || name == "positive") return complex_item(x);
  if (name == "neg") return complex_item(g.neg(x));
  if (name == "reciprocal") return complex_item(reciprocal(g, x));
  if (name == "exp") return complex_item(power_of_e(g, x));
  if (name == "sum" || name == "mean") return reduced(c);
  if (name == "pow" || name == "square") return known_power(c);
  if (name == "is_complex") return true;
  if (name == "is_floating_point") return false;
  if (name == "size" || name == "dim" || name == "numel" || name == "len" || name == "sym_size") return of_real_size(c);
  if (name == "zeros_like" || name == "zero") return complex_item(filled_like(g, x, 0));
  refuse("the operator is not translated for complex numbers");
}

// Complex numbers of reals.
Item complex(const Call& c) { return complex_item(joined_parts(c.g(), c.real_tensor(0), c.real_tensor(1))); }
Item polar(const Call& c) {
  GraphBuilder& g = c.g();
  Value *size = c.real_tensor(0), *turn = c.real_tensor(1);
  return complex_item(joined_parts(g, g.mul(size, g.op("Cos", {turn})), g.mul(size, g.op("Sin", {turn}))));
}
Item view_as_complex(const Call& c) { return complex_item(c.tensor(0)); }
Item view_as_real(const Call&) { refuse("a real tensor is taken apart as a complex one"); }
Item imag(const Call&) { refuse("a real tensor has no imaginary part"); }
Item angle(const Call& c) {
  Value* x = c.real_tensor(0);
  GraphBuilder& g = c.g();
  Value* zero = g.scalar(0, x->type.elem);
  return g.where(g.op("Less", {x, zero}), g.scalar(std::numbers::pi, x->type.elem), zero);
}

}  // namespace ingot::frontends::torch
