// What the expressions of a program over a data frame mean.
#include <cmath>

#include "ingot/frontends/pandas/translator.h"

namespace ingot::frontends::pandas {
namespace {

constexpr int kMostDepth = 500;  // lambdas within lambdas; a tree alone has at most 400

}  // namespace

std::string Translator::module_path(const Expr& e) const {
  if (e->is(Expression::Kind::name)) {
    const auto found = modules_.find(e->text);
    return found == modules_.end() || names_.contains(e->text) ? std::string() : found->second;
  }
  if (!e->is(Expression::Kind::attribute)) return {};
  const std::string base = module_path(e->parts[0]);
  return base.empty() ? base : base + "." + e->text;
}

Thing Translator::value_of(const Expr& e) {
  using Kind = Expression::Kind;
  struct Level {
    explicit Level(int& d) : depth(d) { ++depth; }
    ~Level() { --depth; }
    int& depth;
  } level(depth_);
  if (depth_ > kMostDepth) return problem(e->place, "it is nested too deeply");
  switch (e->kind) {
    case Kind::name: {
      if (const auto found = names_.find(e->text); found != names_.end()) return found->second;
      for (const char* type : {"float", "int", "str", "bool"})
        if (e->text == type) return Thing::of(text(type));
      return problem(e->place, "the name '" + e->text + "' is not known");
    }
    case Kind::integer:
      return Thing::of(integer(e->number));
    case Kind::real:
      return Thing::of(number(e->number));
    case Kind::text:
      return Thing::of(text(e->text));
    case Kind::constant:
      if (e->text == "None") return Thing::of(Constant{});
      return Thing::of(Constant{.kind = Constant::Kind::boolean, .number = e->text == "True" ? 1.0 : 0.0});
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
      return list_of(e);
    case Kind::unary: {
      const Thing x = value_of(e->parts[0]);
      if (x.is(Thing::Kind::unknown) || e->text == "+") return x;
      if (e->text == "-") return arithmetic("*", x, Thing::of(integer(-1)), e->place);
      if (!x.is(Thing::Kind::column) || x.column.value->type.elem != DType::boolean)
        return problem(e->place, "'" + e->text + "' of something that is not true or false");
      return Thing::of(Column{g.op("Not", {x.column.value}), x.column.rows});
    }
    case Kind::binary: {
      const Thing a = value_of(e->parts[0]), b = value_of(e->parts[1]);
      const bool is_logic = e->text == "&" || e->text == "|" || e->text == "^";
      return is_logic ? logic(e->text, a, b, e->place) : arithmetic(e->text, a, b, e->place);
    }
    case Kind::compare:
      return compared(e->text, value_of(e->parts[0]), value_of(e->parts[1]), e->place);
    case Kind::logic:
      return logic(e->text, value_of(e->parts[0]), value_of(e->parts[1]), e->place);
    case Kind::choice:
      return choice_of(e);
    case Kind::item:
      return item_of(e);
    case Kind::attribute:
      return attribute_of(e);
    case Kind::call:
      return call_of(e);
    case Kind::lambda:
      return not_translated(e->place, "a function here");
    case Kind::slice:
      return not_translated(e->place, "a range of rows");
    case Kind::other:
      return not_translated(e->place, e->text);
  }
  return {};
}

Thing Translator::list_of(const Expr& e) {
  const bool is_dict = e->is(Expression::Kind::dict);
  Thing all{.kind = Thing::Kind::list};
  Constant made{.kind = is_dict ? Constant::Kind::dict : Constant::Kind::list};
  bool is_constant = true;
  for (const Expr& part : e->parts) {
    Thing one = value_of(part);
    if (one.is(Thing::Kind::unknown)) return {};
    is_constant &= one.is(Thing::Kind::constant);
    if (!is_constant && is_dict) return not_translated(part->place, "a list of something else than constants");
    if (one.is(Thing::Kind::constant)) made.items.push_back(one.constant);
    all.items.push_back(std::move(one));
  }
  return is_constant ? Thing::of(made) : all;
}

Thing Translator::choice_of(const Expr& e) {
  const Thing condition = value_of(e->parts[0]), yes = value_of(e->parts[1]), no = value_of(e->parts[2]);
  if (condition.is(Thing::Kind::unknown) || yes.is(Thing::Kind::unknown) || no.is(Thing::Kind::unknown)) return {};
  if (!condition.is(Thing::Kind::column) || condition.column.value->type.elem != DType::boolean)
    return problem(e->place, "the condition is no comparison of columns");
  const auto a = column_of(yes, condition.column, e->place), b = column_of(no, condition.column, e->place);
  return a && b ? Thing::of(chosen(condition.column.value, *a, *b)) : Thing{};
}

Thing Translator::item_of(const Expr& e) {
  const Expr& of = e->parts[0];
  if (of->is(Expression::Kind::attribute) && (of->text == "loc" || of->text == "iloc")) {
    const Thing frame = value_of(of->parts[0]);
    const Expr& at = e->parts[1];
    const bool is_whole = at->is(Expression::Kind::tuple) && at->parts.size() == 2 &&
                          at->parts[0]->is(Expression::Kind::slice) && !at->parts[0]->parts[0] &&
                          !at->parts[0]->parts[1];
    if (frame.is(Thing::Kind::unknown)) return {};
    if (!is_whole || of->text == "iloc") return not_translated(e->place, "'" + of->text + "' of some rows");
    const Thing name = value_of(at->parts[1]);
    const Column* column = frame.is(Thing::Kind::frame) ? frame.frame.find(name.constant.text) : nullptr;
    return column ? Thing::of(*column) : problem(e->place, "there is no such column");
  }
  const Thing thing = value_of(of);
  if (thing.is(Thing::Kind::texts) && e->parts[1]->is(Expression::Kind::slice)) {
    std::optional<double> bounds[3];
    for (std::size_t i = 0; i < e->parts[1]->parts.size() && i < 3; ++i) {
      if (!e->parts[1]->parts[i]) continue;
      const Thing bound = value_of(e->parts[1]->parts[i]);
      if (!bound.constant.is(Constant::Kind::integer)) return not_translated(e->place, "a range like this");
      bounds[i] = bound.constant.number;
    }
    if (bounds[2] && *bounds[2] != 1) return not_translated(e->place, "a range with steps");
    return sliced(thing.column, bounds[0], bounds[1], e->place);
  }
  const Thing at = value_of(e->parts[1]);
  if (thing.is(Thing::Kind::unknown) || at.is(Thing::Kind::unknown)) return {};
  if (thing.is(Thing::Kind::constant)) {
    const Constant& c = thing.constant;
    if (c.is(Constant::Kind::list) && at.constant.is_number()) {
      const auto i = static_cast<std::size_t>(at.constant.number);
      return i < c.items.size() ? Thing::of(c.items[i]) : problem(e->place, "there is no such entry");
    }
    for (std::size_t i = 0; i + 1 < c.items.size() && c.is(Constant::Kind::dict); i += 2)
      if (c.items[i].text == at.constant.text && c.items[i].number == at.constant.number)
        return Thing::of(c.items[i + 1]);
    return not_translated(e->place, "an entry like this");
  }
  if (thing.is(Thing::Kind::groups) && at.constant.is(Constant::Kind::text)) {
    Thing made = thing;
    made.name = at.constant.text;
    return thing.frame.find(made.name) ? made : no_column(thing.frame, made.name, e->place);
  }
  if (thing.is(Thing::Kind::texts) && at.constant.is(Constant::Kind::integer))
    return sliced(thing.column, at.constant.number,
                  at.constant.number == -1 ? std::nullopt : std::optional(at.constant.number + 1), e->place);
  if (thing.is(Thing::Kind::pieces) && at.constant.is(Constant::Kind::integer))
    return Thing::of(piece_of(thing.column, thing.constant.text, static_cast<std::int64_t>(at.constant.number)));
  if (!thing.is(Thing::Kind::frame) && !thing.is(Thing::Kind::row))
    return not_translated(e->place, "an entry of a column");
  if (at.is(Thing::Kind::column)) {  // rows for which it holds
    if (thing.is(Thing::Kind::row) || at.column.value->type.elem != DType::boolean ||
        at.column.rows != thing.frame.rows)
      return problem(e->place, "rows are chosen by something that is not true or false for each");
    Frame made = thing.frame;
    made.rows = ++rows_;
    Value* keeps = g.squeeze(at.column.value, {1});
    for (Column& c : made.columns) c = {g.op("Compress", {c.value, keeps}, {{"axis", 0}}), made.rows, c.is_time};
    return Thing::of(made);
  }
  if (at.constant.is(Constant::Kind::text)) {
    const Column* column = thing.frame.find(at.constant.text);
    return column ? Thing::of(*column) : no_column(thing.frame, at.constant.text, e->place);
  }
  if (!at.constant.is(Constant::Kind::list)) return not_translated(e->place, "an index like this");
  Frame made;
  made.rows = thing.frame.rows;
  for (const Constant& name : at.constant.items) {
    const Column* column = thing.frame.find(name.text);
    if (!column) return no_column(thing.frame, name.text, e->place);
    made.set(name.text, *column);
  }
  return Thing::of(made);
}

Thing Translator::attribute_of(const Expr& e) {
  const std::string path = module_path(e);
  if (path == "numpy.nan" || path == "pandas.NA") return Thing::of(Constant{});
  if (path == "numpy.inf") return Thing::of(number(HUGE_VAL));
  if (path == "numpy.pi") return Thing::of(number(3.14159265358979323846));
  if (path == "numpy.e") return Thing::of(number(2.71828182845904523536));
  for (const char* type : {"float64", "float32", "int64", "int32", "int16", "int8", "uint8"})
    if (path == std::string("numpy.") + type) return Thing::of(text(type));
  if (!path.empty()) return not_translated(e->place, "'" + path + "'");
  const Thing of = value_of(e->parts[0]);
  if (of.is(Thing::Kind::unknown)) return {};
  if (of.is(Thing::Kind::frame) || of.is(Thing::Kind::row)) {
    if (const Column* column = of.frame.find(e->text)) return Thing::of(*column);
    if (e->text == "columns" && of.is(Thing::Kind::frame) && !of.frame.is_guess) {
      Constant names{.kind = Constant::Kind::list};
      for (const std::string& name : of.frame.names) names.items.push_back(text(name));
      return Thing::of(names);
    }
    return no_column(of.frame, e->text, e->place);
  }
  if (of.is(Thing::Kind::pieces) && e->text == "str") return of;
  if (of.is(Thing::Kind::column) && e->text == "str") return {.kind = Thing::Kind::texts, .column = of.column};
  if (of.is(Thing::Kind::column) && e->text == "dt") return {.kind = Thing::Kind::times, .column = of.column};
  if (of.is(Thing::Kind::column) && e->text == "values") return of;
  if (of.is(Thing::Kind::times)) return time_attribute(of.column, e->text, e->place);
  return not_translated(e->place, "'." + e->text + "'");
}

Thing Translator::call_of(const Expr& e) {
  const Expr& function = e->parts[0];
  Arguments a;
  a.place = function->is(Expression::Kind::attribute) ? function->place : e->place;
  const std::string path = module_path(function);
  if (path == "pandas.read_csv") return Thing::of(input_frame());
  for (std::size_t i = 1; i < e->parts.size(); ++i) {
    const Expr& part = e->parts[i];
    const bool is_applied = part->is(Expression::Kind::lambda) || is_function(part);
    a.all.emplace_back(e->names[i - 1], is_applied ? Thing{} : value_of(part));
    a.expressions.push_back(part);
    const Thing& given = a.all.back().second;
    if (!is_applied && given.is(Thing::Kind::unknown)) return {};
    if (!given.is(Thing::Kind::list) || path == "numpy.select" || path == "pandas.concat") continue;
    std::size_t at = 0;
    while (given.items[at].is(Thing::Kind::constant)) ++at;
    return not_translated(part->parts[at]->place, "a list of something else than constants");
  }
  if (path.starts_with("pandas.")) return pandas_function(path.substr(7), a);
  if (path.starts_with("numpy.")) return numpy_function(path.substr(6), a);
  if (!path.empty()) return not_translated(a.place, "'" + path + "'");
  if (function->is(Expression::Kind::name)) {
    if (function->text == "abs" && a.all.size() == 1) return unary_function("abs", a.all[0].second, a.place);
    if (function->text == "float" && a.all.size() == 1 && a.all[0].second.is(Thing::Kind::column))
      return Thing::of(cast_to(a.all[0].second.column, "float", a.place));
    if (function->text == "len" && a.all.size() == 1 && a.all[0].second.is(Thing::Kind::column))
      return text_method(a.all[0].second.column, "len", {.place = a.place});
    if (function->text == "list" && a.all.size() == 1 && a.all[0].second.constant.is(Constant::Kind::list))
      return a.all[0].second;
    return not_translated(a.place, "a call of '" + function->text + "'");
  }
  if (!function->is(Expression::Kind::attribute)) return not_translated(a.place, "a call of this");
  const Thing of = value_of(function->parts[0]);
  switch (of.kind) {
    case Thing::Kind::unknown:
      return {};
    case Thing::Kind::column:
      return column_method(of.column, function->text, a);
    case Thing::Kind::frame:
      return frame_method(of, function->text, a);
    case Thing::Kind::texts:
      return text_method(of.column, function->text, a);
    case Thing::Kind::windows:
      return windowed(of.column, static_cast<std::int64_t>(of.constant.number), function->text, a.place);
    case Thing::Kind::groups:
      if (function->text == "transform" && !of.name.empty()) return grouped(of, a);
      return not_translated(a.place, "'" + function->text + "' of groups");
    case Thing::Kind::constant:
      if (of.constant.is(Constant::Kind::dict) && function->text == "items" && a.all.empty()) {
        Constant pairs{.kind = Constant::Kind::list};
        for (std::size_t i = 0; i + 1 < of.constant.items.size(); i += 2)
          pairs.items.push_back(
              {.kind = Constant::Kind::list, .items = {of.constant.items[i], of.constant.items[i + 1]}});
        return Thing::of(pairs);
      }
      return not_translated(a.place, "the method '" + function->text + "'");
    default:
      return not_translated(a.place, "the method '" + function->text + "'");
  }
}

/// A function of NumPy or Python that stands without being called.
bool Translator::is_function(const Expr& e) const {
  if (e->is_name("len") || e->is_name("abs")) return !names_.contains(e->text);
  const std::string path = module_path(e);
  for (const char* name : {"abs", "ceil", "cos", "exp", "expm1", "floor", "log", "log10", "log1p", "log2", "rint",
                           "sign", "sin", "sqrt", "square", "tan", "tanh"})
    if (path == std::string("numpy.") + name) return true;
  return false;
}

/// A lambda of one row, or of one value, on all of them at once; or a function that has a name.
Thing Translator::applied(const Expr& function, const Thing& to, const Place& place) {
  if (is_function(function) && to.is(Thing::Kind::column)) {
    if (function->is_name("len")) return text_method(to.column, "len", {.place = place});
    return unary_function(function->text, to, place);
  }
  if (!function->is(Expression::Kind::lambda) || function->names.size() != 1)
    return not_translated(place, "a function that is no lambda of one parameter");
  const std::string& name = function->names[0];
  const auto hidden = names_.find(name) == names_.end() ? std::nullopt : std::optional(names_[name]);
  names_[name] = to;
  Thing made = value_of(function->parts[0]);
  names_.erase(name);
  if (hidden) names_[name] = *hidden;
  if (made.is(Thing::Kind::constant)) {
    const Column like = to.is(Thing::Kind::column) ? to.column : to.frame.columns.at(0);
    const auto column = column_of(made, like, place);
    return column ? Thing::of(*column) : Thing{};
  }
  return made;
}

}  // namespace ingot::frontends::pandas
