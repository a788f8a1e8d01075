// Python's numbers: what the code computes beside its tensors.
#include "ingot/frontends/torch/python_numbers.h"

#include <cmath>

#include "ingot/base/checked.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

using Made = std::optional<Item>;

std::int64_t floor_divided(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

template <class T> std::int64_t checked(std::optional<T> value) {
  if (!value) throw Error(Code::overflow, "an integer of the code does not fit 64 bits");
  return *value;
}

[[noreturn]] void divide_by_zero() { throw Error(Code::bad_source_graph, "the code divides by zero"); }

Made of_integers(std::string_view name, std::int64_t a, std::int64_t b) {
  if (name == "add") return checked(checked_add(a, b));
  if (name == "sub") return checked(checked_sub(a, b));
  if (name == "mul") return checked(checked_mul(a, b));
  if (name == "floordiv" || name == "floor_divide" || name == "remainder" || name == "fmod" || name == "div") {
    if (b == 0) divide_by_zero();
    if (a == INT64_MIN && b == -1) throw Error(Code::overflow, "an integer of the code does not fit 64 bits");
    if (name == "remainder") return a - floor_divided(a, b) * b;
    if (name == "fmod") return static_cast<double>(a % b);
    if (name == "div") return static_cast<double>(a) / static_cast<double>(b);
    return floor_divided(a, b);
  }
  if (name == "pow") return std::pow(static_cast<double>(a), static_cast<double>(b));
  if (name == "__and__") return a & b;
  if (name == "__or__") return a | b;
  if (name == "__xor__") return a ^ b;
  if (name == "__lshift__" && b >= 0 && b < 63) return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
  if (name == "__rshift__" && b >= 0 && b < 64) return a >> b;
  return std::nullopt;
}

Made of_reals(std::string_view name, double a, double b) {
  if (name == "add") return a + b;
  if (name == "sub") return a - b;
  if (name == "mul") return a * b;
  if (name == "div" || name == "floordiv" || name == "floor_divide" || name == "remainder" || name == "fmod") {
    if (b == 0) divide_by_zero();
    if (name == "div") return a / b;
    if (name == "fmod") return std::fmod(a, b);
    return name == "remainder" ? a - std::floor(a / b) * b : std::floor(a / b);
  }
  if (name == "pow") return std::pow(a, b);
  return std::nullopt;
}

Made compared(std::string_view name, double a, double b) {
  if (name == "eq") return a == b;
  if (name == "ne") return a != b;
  if (name == "lt") return a < b;
  if (name == "le") return a <= b;
  if (name == "gt") return a > b;
  if (name == "ge") return a >= b;
  return std::nullopt;
}

struct NumberOp {
  std::string_view name;
  const ops::OpDef* def;
};
constexpr NumberOp kNumberOps[] = {{"add", &ops::defs::Add},           {"eq", &ops::defs::Equal},
                                   {"ge", &ops::defs::GreaterOrEqual}, {"gt", &ops::defs::Greater},
                                   {"le", &ops::defs::LessOrEqual},    {"lt", &ops::defs::Less},
                                   {"max", &ops::defs::Max},           {"min", &ops::defs::Min},
                                   {"mul", &ops::defs::Mul},           {"sub", &ops::defs::Sub}};

/// Numbers of which at least one is known only when the model runs.
Made at_run_time(Translation& t, std::string_view name, const Item& a, const Item& b) {
  GraphBuilder& g = t.g();
  Value* x = t.value_of(a, DType::f64);
  Value* y = t.value_of(b, DType::f64);
  if (name == "__and__" || name == "__or__") {
    if (x->type.elem != DType::boolean || y->type.elem != DType::boolean) return std::nullopt;
    return t.number_of(name == "__and__" ? g.op("And", {x, y}) : g.op("Or", {x, y}));
  }
  const bool are_ints = is_integer(x->type.elem) && is_integer(y->type.elem);
  const DType common = are_ints ? DType::i64 : DType::f64;
  x = g.cast(x, common);
  y = g.cast(y, common);
  if (name == "ne") return t.number_of(g.op("Not", {g.op("Equal", {x, y})}));
  if (name == "div") return t.number_of(g.div(g.cast(x, DType::f64), g.cast(y, DType::f64)));
  if (name == "pow") return t.number_of(g.op("Pow", {x, y}));
  if (name == "floordiv" || name == "floor_divide") {
    if (!are_ints) return t.number_of(g.op("Floor", {g.div(x, y)}));
    return t.number_of(g.div(g.sub(x, g.op("Mod", {x, y})), y));
  }
  if (name == "remainder")
    return t.number_of(are_ints ? g.op("Mod", {x, y}) : g.sub(x, g.mul(g.op("Floor", {g.div(x, y)}), y)));
  for (const NumberOp& row : kNumberOps)
    if (row.name == name) return t.number_of(g.op(ops::Name(*row.def), {x, y}));
  return std::nullopt;
}

}  // namespace

std::optional<double> known_number(const Item& item) {
  if (const auto* v = item.get<bool>()) return *v;
  if (const auto* v = item.get<std::int64_t>()) return static_cast<double>(*v);
  if (const auto* v = item.get<double>()) return *v;
  return std::nullopt;
}

std::optional<std::int64_t> known_int(const Item& item) {
  if (const auto* v = item.get<bool>()) return *v;
  if (const auto* v = item.get<std::int64_t>()) return *v;
  return std::nullopt;
}

std::optional<Item> of_two_numbers(Translation& t, std::string_view name, const Item& a, const Item& b) {
  const auto ia = known_int(a), ib = known_int(b);
  const bool is_logic = name == "__and__" || name == "__or__" || name == "__xor__";
  if (ia && ib && is_logic && a.is<bool>() && b.is<bool>()) {
    const Made made = of_integers(name, *ia, *ib);
    return *made->get<std::int64_t>() != 0;
  }
  const auto ra = known_number(a), rb = known_number(b);
  if (!ra || !rb) return at_run_time(t, name, a, b);
  if (Made made = compared(name, *ra, *rb)) return made;
  if (name == "max" || name == "min") return ((*ra < *rb) == (name == "max")) ? b : a;
  return ia && ib ? of_integers(name, *ia, *ib) : of_reals(name, *ra, *rb);
}

std::optional<Item> of_one_number(Translation& t, std::string_view name, const Item& a) {
  if (const auto* scalar = a.get<Scalar>()) {
    GraphBuilder& g = t.g();
    Value* x = scalar->value;
    if (name == "neg") return t.number_of(g.neg(x));
    if (name == "abs") return t.number_of(g.op("Abs", {x}));
    if (name == "__not__") return t.number_of(g.op("Not", {g.cast(x, DType::boolean)}));
    if (name == "Bool") return t.number_of(g.cast(x, DType::boolean));
    if (name == "Int") return t.number_of(g.cast(x, DType::i64));
    if (name == "Float") return t.number_of(g.cast(x, DType::f64));
    if (name == "ceil" && is_float(x->type.elem)) return t.number_of(g.cast(g.op("Ceil", {x}), DType::i64));
    if (name == "floor" && is_float(x->type.elem)) return t.number_of(g.cast(g.op("Floor", {x}), DType::i64));
    if (name == "sqrt") return t.number_of(g.op("Sqrt", {g.cast(x, DType::f64)}));
    if (name == "ScalarImplicit" || name == "IntImplicit" || name == "FloatImplicit") return a;
    return std::nullopt;
  }
  const double x = *known_number(a);
  const auto integer = known_int(a);
  if (name == "neg") return integer ? Item(checked(checked_sub<std::int64_t>(0, *integer))) : Item(-x);
  if (name == "abs")
    return integer ? Item(*integer < 0 ? checked(checked_sub<std::int64_t>(0, *integer)) : *integer)
                   : Item(std::fabs(x));
  if (name == "__not__") return x == 0;
  if (name == "Bool") return x != 0;
  if (name == "Int") return integer ? Item(*integer) : Item(saturate_cast<std::int64_t>(x));
  if (name == "Float") return x;
  if (name == "ceil") return saturate_cast<std::int64_t>(std::ceil(x));
  if (name == "floor") return saturate_cast<std::int64_t>(std::floor(x));
  if (name == "round") return std::nearbyint(x);
  if (name == "sqrt") return std::sqrt(x);
  if (name == "exp") return std::exp(x);
  if (name == "log") return std::log(x);
  if (name == "log2") return std::log2(x);
  if (name == "log10") return std::log10(x);
  if (name == "sin") return std::sin(x);
  if (name == "cos") return std::cos(x);
  if (name == "tanh") return std::tanh(x);
  if (name == "ScalarImplicit" || name == "IntImplicit" || name == "FloatImplicit") return a;
  if (name == "isnan") return std::isnan(x);
  if (name == "isinf") return std::isinf(x);
  return std::nullopt;
}

std::optional<bool> equal(const Item& a, const Item& b) {
  const auto na = known_number(a), nb = known_number(b);
  if (na && nb) return *na == *nb;
  if (a.is<Scalar>() || b.is<Scalar>() || a.is_tensor() || b.is_tensor()) return std::nullopt;
  const auto* pa = parts_of(a);
  const auto* pb = parts_of(b);
  if (pa && pb) {
    if (pa->size() != pb->size()) return false;
    bool is_known = true;
    for (std::size_t i = 0; i < pa->size(); ++i) {
      const auto same = equal((*pa)[i], (*pb)[i]);
      if (same == false) return false;
      is_known &= same.has_value();
    }
    return is_known ? std::optional(true) : std::nullopt;
  }
  return same_item(a, b);
}

}  // namespace ingot::frontends::torch
