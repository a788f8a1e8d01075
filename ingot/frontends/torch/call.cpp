// What translators ask of a call's arguments.
#include "ingot/frontends/torch/call.h"

#include <fmt/format.h>

#include <numeric>

#include "ingot/formats/torch/scalar_type.h"
#include "ingot/frontends/values.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::torch {

void refuse(std::string why) { throw Error(Code::unsupported_setting, std::move(why)); }

std::int64_t normal_axis(std::int64_t axis, std::int64_t rank) {
  const std::int64_t range = std::max<std::int64_t>(rank, 1);
  if (axis < -range || axis >= range)
    throw Error(Code::axis_out_of_range, fmt::format("axis {} lies outside of {} axes", axis, rank));
  return axis < 0 ? axis + range : axis;
}

bool is_single(const Call& c) { return c.is_tensor(0) && rank_of(c.tensor(0)) == 0; }

Item on_single(const Call& c, Item (*translate)(const Call&), std::initializer_list<std::size_t> which) {
  GraphBuilder& g = c.g();
  Call wide = c;
  for (const std::size_t i : which)
    if (c.is_tensor(i) && rank_of(c.tensor(i)) == 0) wide.args[i] = Item(g.reshape(c.tensor(i), {1}));
  const auto narrow = [&](const Item& item) {
    const TensorRef* tensor = item.get<TensorRef>();
    return tensor ? Item(g.reshape(c.t.read(*tensor), {})) : item;
  };
  const Item made = translate(wide);
  const Tuple* tuple = made.get<Tuple>();
  if (!tuple) return narrow(made);
  std::vector<Item> parts;
  for (const Item& part : *tuple->items) parts.push_back(narrow(part));
  return Item::tuple(std::move(parts), tuple->type);
}

const Item& Call::arg(std::size_t i) const {
  static const Item kNone;
  return i < args.size() ? args[i] : kNone;
}

Value* Call::tensor(std::size_t i) const {
  const Item& item = arg(i);
  if (const TensorRef* ref = item.get<TensorRef>()) return t.read(*ref);
  if (item.is_number()) return t.value_of(item);
  refuse(fmt::format("argument {} is a {}, not a tensor", i, kind_text(item)));
}

Values Call::tensors(std::size_t i) const {
  const Item& item = arg(i);
  const std::vector<Item>* items = nullptr;
  if (const ListRef* list = item.get<ListRef>()) {
    if ((*list)->rolled) refuse("a list of unknown length is used other than by cat and stack");
    items = &(*list)->items;
  }
  if (const Tuple* tuple = item.get<Tuple>()) items = tuple->items.get();
  if (!items) refuse(fmt::format("argument {} is a {}, not a list of tensors", i, kind_text(item)));
  Values made;
  for (const Item& part : *items) {
    if (const TensorRef* ref = part.get<TensorRef>())
      made.push_back(t.read(*ref));
    else if (part.is_number())
      made.push_back(t.value_of(part));
    else if (part.is_none())
      made.push_back(nullptr);
    else
      refuse(fmt::format("argument {} holds a {}, not a tensor", i, kind_text(part)));
  }
  return made;
}

Value* Call::real_tensor(std::size_t i) const {
  Value* x = tensor(i);
  if (is_float(x->type.elem) || x->type.elem == DType::undefined) return x;
  return g().cast(x, DType::f32);
}

Values Call::promoted(std::initializer_list<std::size_t> which) const {
  const DType common = result_type(*this, which);
  Values made;
  for (const std::size_t i : which) {
    const Item& item = arg(i);
    if (item.is_number() && !item.is<Scalar>()) {
      const bool is_real = item.is<double>();
      const double number = is_real                   ? *item.get<double>()
                            : item.is<std::int64_t>() ? static_cast<double>(*item.get<std::int64_t>())
                                                      : static_cast<double>(*item.get<bool>());
      if (common == DType::i64 && item.is<std::int64_t>())
        made.push_back(g().index(*item.get<std::int64_t>()));
      else
        made.push_back(g().scalar(number, common));
      continue;
    }
    Value* x = tensor(i);
    made.push_back(x->type.elem == DType::undefined ? x : g().cast(x, common));
  }
  return made;
}

std::optional<std::int64_t> Call::known_integer(std::size_t i) const {
  const Item& item = arg(i);
  if (const auto* v = item.get<std::int64_t>()) return *v;
  if (const auto* v = item.get<bool>()) return *v;
  if (const TensorRef* ref = item.get<TensorRef>())
    if (const auto known = ingot::known_ints(t.read(*ref)); known && known->size() == 1) return known->front();
  return std::nullopt;
}

std::int64_t Call::integer(std::size_t i) const {
  if (const auto known = known_integer(i)) return *known;
  if (const auto* v = arg(i).get<double>(); v && *v == static_cast<double>(static_cast<std::int64_t>(*v)))
    return static_cast<std::int64_t>(*v);
  refuse(fmt::format("argument {} must be a known integer, and is a {}", i, kind_text(arg(i))));
}

double Call::real(std::size_t i) const {
  const Item& item = arg(i);
  if (const auto* v = item.get<double>()) return *v;
  if (const auto known = known_integer(i)) return static_cast<double>(*known);
  if (const TensorRef* ref = item.get<TensorRef>())
    if (const Tensor* constant = ops::constant_of(t.read(*ref)); constant && constant->size() == 1)
      return constant->to_doubles().front();
  refuse(fmt::format("argument {} must be a known number, and is a {}", i, kind_text(item)));
}

bool Call::flag(std::size_t i) const {
  if (!has(i)) return false;
  return integer(i) != 0;
}

std::string Call::text(std::size_t i) const {
  if (const auto* v = arg(i).get<std::string>()) return *v;
  refuse(fmt::format("argument {} must be a text", i));
}

Ints Call::ints(std::size_t i) const {
  const std::vector<Item>* parts = parts_of(arg(i));
  if (!parts) return {integer(i)};
  Ints made;
  for (const Item& part : *parts) made.push_back(Call{t, row, {part}}.integer(0));
  return made;
}

Ints Call::ints(std::size_t i, std::size_t count) const {
  Ints made = ints(i);
  if (made.size() == 1) made.resize(count, made[0]);
  if (made.size() != count) refuse(fmt::format("argument {} has {} numbers instead of {}", i, made.size(), count));
  return made;
}

std::vector<double> Call::reals(std::size_t i) const {
  const std::vector<Item>* parts = parts_of(arg(i));
  if (!parts) return {real(i)};
  std::vector<double> made;
  for (const Item& part : *parts) made.push_back(Call{t, row, {part}}.real(0));
  return made;
}

Value* Call::index(std::size_t i) const {
  const Item& item = arg(i);
  if (const TensorRef* ref = item.get<TensorRef>()) return g().reshape(as_int64(g(), t.read(*ref)), {});
  return as_int64(g(), t.value_of(item));
}

Value* Call::index_vector(std::size_t i) const {
  const std::vector<Item>* parts = parts_of(arg(i));
  if (!parts) return g().reshape(index(i), {1});
  bool are_known = true;
  Ints known;
  for (const Item& part : *parts) {
    const auto* v = part.get<std::int64_t>();
    are_known &= v != nullptr;
    if (v) known.push_back(*v);
  }
  if (are_known) return g().ints(known);
  Values each;
  for (const Item& part : *parts) each.push_back(g().reshape(Call{t, row, {part}}.index(0), {1}));
  return g().concat(each, 0);
}

DType Call::dtype(std::size_t i, DType otherwise) const {
  if (!has(i)) return otherwise;
  const DType dtype = formats::torch::dtype_of_number(integer(i));
  if (dtype == DType::undefined) refuse(fmt::format("there is no element type {}", integer(i)));
  return dtype;
}

std::int64_t Call::rank(Value* x) const {
  if (const auto known = rank_of(x)) return *known;
  throw Error(Code::shape_needed, "the rank of a tensor must be known here")
      .hint("--input-shape tells the shapes of inputs: TorchScript files do not");
}

std::int64_t Call::axis(std::size_t i, Value* x) const {
  const std::int64_t axis = integer(i);
  if (axis >= 0 && !rank_of(x)) return axis;
  return normal_axis(axis, rank(x));
}

Value* Call::axis_value(std::size_t i, Value* x) const { return known_integer(i) ? g().index(axis(i, x)) : index(i); }

Ints Call::axes(std::size_t i, Value* x) const {
  Ints made = has(i) ? ints(i) : Ints{};
  if (made.empty()) {
    made.resize(static_cast<std::size_t>(rank(x)));
    std::iota(made.begin(), made.end(), 0);
  }
  for (std::int64_t& a : made) a = normal_axis(a, rank(x));
  return made;
}

void Call::expect_rank(Value* x, std::size_t rank, std::int64_t channels) const {
  if (rank_of(x)) return;
  Shape shape(rank);
  if (channels >= 0 && rank > 1) shape[1] = channels;
  t.demand_shape(x, shape);
}

}  // namespace ingot::frontends::torch
