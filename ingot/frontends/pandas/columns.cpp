// Arithmetic, comparisons and choices of columns, as pandas means them.
#include <algorithm>
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/frontends/pandas/translator.h"

namespace ingot::frontends::pandas {

Constant number(double value) { return {.kind = Constant::Kind::real, .number = value}; }
Constant integer(double value) { return {.kind = Constant::Kind::integer, .number = value}; }
Constant text(std::string value) { return {.kind = Constant::Kind::text, .text = std::move(value)}; }

const Column* Frame::find(const std::string& name) const {
  const auto at = std::ranges::find(names, name);
  return at == names.end() ? nullptr : &columns[static_cast<std::size_t>(at - names.begin())];
}

void Frame::set(const std::string& name, const Column& column) {
  const auto at = std::ranges::find(names, name);
  if (at != names.end()) {
    columns[static_cast<std::size_t>(at - names.begin())] = column;
    return;
  }
  names.push_back(name);
  columns.push_back(column);
}

namespace {

DType type_of(const Constant& c) {
  using Kind = Constant::Kind;
  return c.is(Kind::text)      ? DType::string
         : c.is(Kind::integer) ? DType::i64
         : c.is(Kind::boolean) ? DType::boolean
                               : DType::f64;
}

DType type_of(const Thing& t) { return t.is(Thing::Kind::column) ? t.column.value->type.elem : type_of(t.constant); }

bool is_text(const Thing& t) { return type_of(t) == DType::string; }

/// The type in which two meet: bool is a whole number, and real wins.
DType common_type(const Thing& a, const Thing& b) {
  return type_of(a) == DType::f64 || type_of(b) == DType::f64 ? DType::f64 : DType::i64;
}

double computed(const std::string& sign, double a, double b) {
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") return a * b;
  if (sign == "/") return a / b;
  if (sign == "//") return std::floor(a / b);
  if (sign == "%") return a - std::floor(a / b) * b;
  return std::pow(a, b);
}

}  // namespace

Value* Translator::constant(const Constant& c, DType type) {
  if (type == DType::string) return g.constant(Tensor::of_strings({1, 1}, {c.text}));
  if (type == DType::boolean) return g.cast(g.constant(Tensor::ints({c.number != 0}).reshaped({1, 1})), type);
  if (type == DType::i64) return g.constant(Tensor::ints({static_cast<std::int64_t>(c.number)}).reshaped({1, 1}));
  return g.constant(Tensor::of<double>({1, 1}, {c.is(Constant::Kind::none) ? std::nan("") : c.number}));
}

std::optional<Column> Translator::column_of(const Thing& thing, const Column& like, const Place& place) {
  if (thing.is(Thing::Kind::column)) {
    if (thing.column.rows != like.rows && like.value) {
      problem(place, "columns of different rows meet here");
      return std::nullopt;
    }
    return thing.column;
  }
  if (!thing.is(Thing::Kind::constant)) {
    if (!thing.is(Thing::Kind::unknown)) problem(place, "a column or a number should stand here");
    return std::nullopt;
  }
  const Constant& c = thing.constant;
  if (c.is(Constant::Kind::list) || c.is(Constant::Kind::dict)) {
    problem(place, "a column or a number should stand here");
    return std::nullopt;
  }
  Value* shape = g.shape(like.value);
  const DType type = type_of(c);
  return Column{.value = g.op("Expand", {constant(c, type), shape}), .rows = like.rows};
}

Value* Translator::is_missing(const Column& c) {
  if (c.value->type.elem == DType::f64) return g.op("IsNaN", {c.value});
  if (c.value->type.elem == DType::string)
    return g.op("Equal", {c.value, g.constant(Tensor::of_strings({1, 1}, {""}))});
  return g.op("Expand", {constant({.kind = Constant::Kind::boolean}, DType::boolean), g.shape(c.value)});
}

Column Translator::chosen(Value* condition, const Column& yes, const Column& no) {
  const DType a = yes.value->type.elem, b = no.value->type.elem;
  DType type = a == b ? a : a == DType::string || b == DType::string ? DType::string : DType::f64;
  if (a != b && a != DType::f64 && b != DType::f64 && type != DType::string) type = DType::i64;
  return {.value = g.where(condition, as(type, yes.value), as(type, no.value)), .rows = no.rows};
}

Column Translator::filled(const Column& c, const Thing& with, const Place& place) {
  const auto other = column_of(with, c, place);
  if (!other || c.value->type.elem == DType::i64 || c.value->type.elem == DType::boolean) return c;
  Column made = chosen(is_missing(c), *other, c);
  if (c.value->type.elem == DType::f64) made.value = as(DType::f64, made.value);
  return made;
}

Thing Translator::arithmetic(const std::string& sign, const Thing& a, const Thing& b, const Place& place) {
  using Kind = Thing::Kind;
  if (a.is(Kind::unknown) || b.is(Kind::unknown)) return {};
  if (a.is(Kind::frame)) {
    Frame made = a.frame;
    const bool is_by_name = b.constant.is(Constant::Kind::dict);  // a number for each column, as frame.mean() gives it
    for (std::size_t i = 0; i < made.columns.size(); ++i) {
      Thing own = b;
      for (std::size_t k = 0; is_by_name && k + 1 < b.constant.items.size(); k += 2)
        if (b.constant.items[k].text == made.names[i]) own = Thing::of(b.constant.items[k + 1]);
      const Thing one = arithmetic(sign, Thing::of(made.columns[i]), own, place);
      if (one.is(Kind::column)) made.columns[i] = one.column;
    }
    return Thing::of(made);
  }
  if (a.is(Kind::constant) && b.is(Kind::constant)) {
    if (sign == "+" && a.constant.is(Constant::Kind::text) && b.constant.is(Constant::Kind::text))
      return Thing::of(text(a.constant.text + b.constant.text));
    if (!a.constant.is_number() || !b.constant.is_number()) return not_translated(place, "'" + sign + "' of these");
    const bool is_whole = common_type(a, b) == DType::i64 && sign != "/";
    const double value = computed(sign, a.constant.number, b.constant.number);
    return Thing::of(is_whole && value == std::floor(value) ? integer(value) : number(value));
  }
  const Column like = a.is(Kind::column) ? a.column : b.column;
  const auto x = column_of(a, like, place), y = column_of(b, like, place);
  if (!x || !y) return {};
  if (is_text(a) != is_text(b)) return problem(place, "'" + sign + "' of a text and a number");
  if (is_text(a)) {
    if (sign != "+") return not_translated(place, "'" + sign + "' of texts");
    Value* gap = g.op("Or", {is_missing(*x), is_missing(*y)});
    Value* joined = g.op("StringConcat", {x->value, y->value});
    return Thing::of(Column{g.where(gap, constant(text(""), DType::string), joined), like.rows});
  }
  const DType type = sign == "/" ? DType::f64 : common_type(a, b);
  Value *p = as(type, x->value), *q = as(type, y->value), *made = nullptr;
  if (sign == "+") made = g.add(p, q);
  if (sign == "-") made = g.sub(p, q);
  if (sign == "*") made = g.mul(p, q);
  if (sign == "/") made = g.div(p, q);
  if (sign == "**") made = g.op("Pow", {p, q});
  if (sign == "//") made = as(type, g.op("Floor", {g.div(as(DType::f64, p), as(DType::f64, q))}));
  if (sign == "%" && type == DType::i64) made = g.op("Mod", {p, q});
  if (sign == "%" && type == DType::f64) {
    Value* rest = g.op("Mod", {p, q}, {{"fmod", 1}});
    Value* zero = g.scalar(0, DType::f64);
    Value* differs = g.op("Xor", {g.op("Less", {rest, zero}), g.op("Less", {q, zero})});
    Value* is_rest = g.op("Not", {g.op("Equal", {rest, zero})});
    made = g.where(g.op("And", {differs, is_rest}), g.add(rest, q), rest);
  }
  if (!made) return not_translated(place, "'" + sign + "'");
  return Thing::of(Column{made, like.rows});
}

Thing Translator::compared(const std::string& sign, const Thing& a, const Thing& b, const Place& place) {
  using Kind = Thing::Kind;
  if (a.is(Kind::unknown) || b.is(Kind::unknown)) return {};
  if (!a.is(Kind::column) && !b.is(Kind::column)) return not_translated(place, "'" + sign + "' of constants");
  if (sign == "in" || sign == "not in" || sign == "is" || sign == "is not") {
    if (sign.starts_with("is") || !a.is(Kind::column) || !b.is(Kind::constant) || !b.constant.is(Constant::Kind::list))
      return not_translated(place, "'" + sign + "'");
    Column found = member_of(a.column, b.constant);
    if (sign == "not in") found.value = g.op("Not", {found.value});
    return Thing::of(found);
  }
  const Column like = a.is(Kind::column) ? a.column : b.column;
  const auto x = column_of(a, like, place), y = column_of(b, like, place);
  if (!x || !y) return {};
  const bool is_equality = sign == "==" || sign == "!=";
  if (is_text(a) != is_text(b)) return problem(place, "a text is compared with a number");
  if (is_text(a) && !is_equality) return not_translated(place, "'" + sign + "' of texts");
  const DType type = is_text(a) ? DType::string : common_type(a, b);
  Value *p = as(type, x->value), *q = as(type, y->value), *made = nullptr;
  if (is_equality) made = g.op("Equal", {p, q});
  if (is_text(a)) made = g.op("And", {made, g.op("Not", {is_missing(*x)})});
  if (sign == "!=") made = g.op("Not", {made});
  if (sign == "<") made = g.op("Less", {p, q});
  if (sign == "<=") made = g.op("LessOrEqual", {p, q});
  if (sign == ">") made = g.op("Greater", {p, q});
  if (sign == ">=") made = g.op("GreaterOrEqual", {p, q});
  return Thing::of(Column{made, like.rows});
}

Thing Translator::logic(const std::string& sign, const Thing& a, const Thing& b, const Place& place) {
  using Kind = Thing::Kind;
  if (a.is(Kind::unknown) || b.is(Kind::unknown)) return {};
  if (!a.is(Kind::column) && !b.is(Kind::column)) return not_translated(place, "'" + sign + "' of constants");
  const Column like = a.is(Kind::column) ? a.column : b.column;
  const auto x = column_of(a, like, place), y = column_of(b, like, place);
  if (!x || !y) return {};
  if (x->value->type.elem != DType::boolean || y->value->type.elem != DType::boolean)
    return problem(place, "'" + sign + "' of columns that are not true or false");
  const char* op = sign == "&" || sign == "and" ? "And" : sign == "|" || sign == "or" ? "Or" : "Xor";
  Value* made = op[0] == 'A'   ? g.op("And", {x->value, y->value})
                : op[0] == 'O' ? g.op("Or", {x->value, y->value})
                               : g.op("Xor", {x->value, y->value});
  return Thing::of(Column{made, like.rows});
}

Column Translator::cast_to(const Column& c, const std::string& type, const Place& place) {
  const bool from_text = c.value->type.elem == DType::string;
  if (type == "float" || type == "float64" || type == "float32" || type == "number") {
    Value* v = c.value;
    if (from_text) v = g.where(is_missing(c), constant(text("nan"), DType::string), v);
    if (type == "float32") return {as(DType::f64, as(DType::f32, as(DType::f64, v))), c.rows};
    return {as(DType::f64, v), c.rows};
  }
  if (type == "int" || type == "int64") return {as(DType::i64, from_text ? as(DType::f64, c.value) : c.value), c.rows};
  for (const auto& [name, small] :
       {std::pair{"int32", DType::i32}, {"int16", DType::i16}, {"int8", DType::i8}, {"uint8", DType::u8}})
    if (type == name && !from_text) return {as(DType::i64, as(small, as(DType::i64, c.value))), c.rows};
  if (type == "bool" && !from_text) return {as(DType::boolean, c.value), c.rows};
  if ((type == "str" || type == "string" || type == "object" || type == "category") && from_text) return c;
  if (type == "str" && c.value->type.elem == DType::i64) return {as(DType::string, c.value), c.rows};
  problem(place, "the type '" + type + "' is not translated here");
  return c;
}

Column Translator::member_of(const Column& c, const Constant& list) {
  Value* found = nullptr;
  const bool is_string = c.value->type.elem == DType::string;
  std::vector<double> numbers;
  std::vector<std::string> texts;
  for (const Constant& one : list.items) {
    if (one.is(Constant::Kind::text)) texts.push_back(one.text);
    if (one.is_number()) numbers.push_back(one.number);
  }
  if ((is_string ? texts.size() : numbers.size()) == 0) {
    found = g.op("Expand", {constant({.kind = Constant::Kind::boolean}, DType::boolean), g.shape(c.value)});
    return {found, c.rows};
  }
  Value* all = is_string ? g.constant(Tensor::of_strings({1, std::ssize(texts)}, texts))
                         : g.constant(Tensor::of<double>({1, std::ssize(numbers)}, numbers));
  Value* equal = g.op("Equal", {is_string ? c.value : real(c), all});
  Value* most = g.op("ReduceMax", {as(DType::i64, equal), g.ints({1})}, {{"keepdims", 1}});
  return {as(DType::boolean, most), c.rows};
}

Column Translator::looked_up(const Column& c, const Constant& dict, bool keeps_others, const Place& place) {
  bool is_real = false, is_string = false, is_missing_there = false;
  for (std::size_t i = 1; i < dict.items.size(); i += 2) {
    const Constant& v = dict.items[i];
    is_string |= v.is(Constant::Kind::text);
    is_real |= v.is(Constant::Kind::real);
    is_missing_there |= v.is(Constant::Kind::none);
  }
  const DType own = c.value->type.elem;
  DType type = is_string ? DType::string : keeps_others && !is_real && !is_missing_there ? own : DType::f64;
  if (own == DType::string && keeps_others) type = DType::string;
  if (type == DType::boolean) type = DType::i64;
  if ((type == DType::string) != is_string && !dict.items.empty()) {
    problem(place, "texts and numbers are mixed in one column");
    return c;
  }
  const Constant nothing = type == DType::string ? text("") : number(std::nan(""));
  Column made{keeps_others ? as(type, c.value) : g.op("Expand", {constant(nothing, type), g.shape(c.value)}), c.rows};
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const Thing key = Thing::of(dict.items[i]);
    const Thing hit = compared("==", Thing::of(c), key, place);
    if (!hit.is(Thing::Kind::column)) return c;
    made.value = g.where(hit.column.value, constant(dict.items[i + 1], type), made.value);
  }
  return made;
}

Thing Translator::unary_function(const std::string& name, const Thing& x, const Place& place) {
  if (x.is(Thing::Kind::unknown)) return {};
  if (!x.is(Thing::Kind::column)) return not_translated(place, "'" + name + "' of a constant");
  const Column& c = x.column;
  if (c.value->type.elem == DType::string) return problem(place, "'" + name + "' of texts");
  Value* v = real(c);
  const auto made = [&]() -> Value* {
    if (name == "log1p") return g.op("Log", {g.add(v, 1.0)});
    if (name == "log") return g.op("Log", {v});
    if (name == "log2") return g.div(g.op("Log", {v}), std::log(2.0));
    if (name == "log10") return g.div(g.op("Log", {v}), std::log(10.0));
    if (name == "exp") return g.op("Exp", {v});
    if (name == "expm1") return g.sub(g.op("Exp", {v}), 1.0);
    if (name == "sqrt") return g.op("Sqrt", {v});
    if (name == "floor") return g.op("Floor", {v});
    if (name == "ceil") return g.op("Ceil", {v});
    if (name == "sin") return g.op("Sin", {v});
    if (name == "cos") return g.op("Cos", {v});
    if (name == "tan") return g.op("Tan", {v});
    if (name == "arctan") return g.op("Atan", {v});
    if (name == "tanh") return g.op("Tanh", {v});
    if (name == "rint" || name == "round") return g.op("Round", {v});
    if (name == "reciprocal") return g.div(1.0, v);
    return nullptr;
  };
  if (Value* done = made()) return Thing::of(Column{done, c.rows});
  Value* own = c.value->type.elem == DType::boolean ? as(DType::i64, c.value) : c.value;
  if (name == "abs" || name == "absolute" || name == "fabs") return Thing::of(Column{g.op("Abs", {own}), c.rows});
  if (name == "sign") return Thing::of(Column{g.op("Sign", {own}), c.rows});
  if (name == "square") return Thing::of(Column{g.mul(own, own), c.rows});
  if (name == "negative") return Thing::of(Column{g.neg(own), c.rows});
  if (name == "isnan") return Thing::of(Column{is_missing(c), c.rows});
  return not_translated(place, "the function '" + name + "'");
}

}  // namespace ingot::frontends::pandas
