// Methods of columns, their texts and their times.
#include <cmath>

#include "ingot/frontends/pandas/translator.h"

namespace ingot::frontends::pandas {
namespace {

constexpr std::pair<std::string_view, const char*> kSigns[] = {
    {"add", "+"},     {"sub", "-"},    {"subtract", "-"},  {"mul", "*"}, {"multiply", "*"}, {"div", "/"},
    {"truediv", "/"}, {"divide", "/"}, {"floordiv", "//"}, {"mod", "%"}, {"pow", "**"}};
constexpr std::pair<std::string_view, const char*> kComparisons[] = {{"eq", "=="}, {"ne", "!="}, {"lt", "<"},
                                                                     {"le", "<="}, {"gt", ">"},  {"ge", ">="}};
constexpr std::string_view kAggregates[] = {"mean", "median",   "std",  "var",     "min",  "max",
                                            "sum",  "quantile", "mode", "nunique", "count"};

/// Characters as they stand between the brackets of an expression.
std::string in_class(const std::string& characters) {
  std::string made;
  for (const char ch : characters)
    made += std::string_view("\\]^-[").find(ch) != std::string_view::npos ? std::string("\\") + ch : std::string(1, ch);
  return made;
}

using Function = Thing (*)(Translator&, const Column&, const std::string& name, const Arguments&);
struct Method {
  std::string_view name;
  Function call;
  std::string_view arguments{};  // that it knows by name, between blanks
};

Thing itself(Translator&, const Column& c, const std::string&, const Arguments&) { return Thing::of(c); }

Thing absolute(Translator& t, const Column& c, const std::string&, const Arguments& a) {
  return t.unary_function("abs", Thing::of(c), a.place);
}

Thing tell_missing(Translator& t, const Column& c, const std::string& name, const Arguments&) {
  Value* gaps = t.is_missing(c);
  return Thing::of(Column{name.starts_with("not") ? t.g.op("Not", {gaps}) : gaps, c.rows});
}

Thing fill(Translator& t, const Column& c, const std::string&, const Arguments& a) {
  const Thing* value = a.find("value", 0);
  if (!value || !a.unknown({"value"}).empty()) return t.not_translated(a.place, "fillna without a value");
  return value->is(Thing::Kind::unknown) ? Thing{} : Thing::of(t.filled(c, *value, a.place));
}

Thing clip(Translator& t, const Column& c, const std::string&, const Arguments& a) {
  Thing made = Thing::of(c);
  for (const auto& [word, at] : {std::pair{"lower", 0}, std::pair{"upper", 1}}) {
    const Thing* limit = a.find(word, static_cast<std::size_t>(at));
    if (!limit || (limit->is(Thing::Kind::constant) && limit->constant.is(Constant::Kind::none))) continue;
    const Thing beyond = t.compared(at == 0 ? "<" : ">", made, *limit, a.place);
    if (!beyond.is(Thing::Kind::column)) return {};
    const auto other = t.column_of(*limit, c, a.place);
    if (!other) return {};
    made = Thing::of(t.chosen(beyond.column.value, *other, made.column));
  }
  return made;
}

Thing cast(Translator& t, const Column& c, const std::string&, const Arguments& a) {
  const Thing* type = a.find("dtype", 0);
  if (!type || !type->constant.is(Constant::Kind::text)) return t.not_translated(a.place, "this type");
  return Thing::of(t.cast_to(c, type->constant.text, a.place));
}

/// map and replace: with a dict, or from what to what, or (map) by a lambda.
Thing exchange(Translator& t, const Column& c, const std::string& name, const Arguments& a) {
  const Thing* dict = a.find(name == "map" ? "arg" : "to_replace", 0);
  if (name == "map" && !a.expressions.empty() && a.expressions[0]->is(Expression::Kind::lambda))
    return t.applied(a.expressions[0], Thing::of(c), a.place);
  if (!dict || dict->is(Thing::Kind::unknown)) return t.not_translated(a.place, "'" + name + "' of this");
  Constant table = dict->constant;
  if (const Thing* value = a.find("value", 1); name == "replace" && value && dict->is(Thing::Kind::constant)) {
    std::vector<Constant> keys = table.is(Constant::Kind::list) ? table.items : std::vector<Constant>{table};
    table = {.kind = Constant::Kind::dict};
    for (const Constant& key : keys) {
      table.items.push_back(key);
      table.items.push_back(value->constant);
    }
  }
  if (!table.is(Constant::Kind::dict)) return t.not_translated(a.place, "'" + name + "' of something that is no dict");
  return Thing::of(t.looked_up(c, table, name == "replace", a.place));
}

Thing keep_where(Translator& t, const Column& c, const std::string& name, const Arguments& a) {
  const Thing *condition = a.find("cond", 0), *other = a.find("other", 1);
  if (!condition || !condition->is(Thing::Kind::column)) return t.not_translated(a.place, "'" + name + "' of this");
  const Thing fallback = other ? *other : Thing::of(c.value->type.elem == DType::string ? text("") : Constant{});
  const auto otherwise = t.column_of(fallback, c, a.place);
  if (!otherwise) return {};
  Value* keeps = name == "where" ? condition->column.value : t.g.op("Not", {condition->column.value});
  return Thing::of(t.chosen(keeps, c, *otherwise));
}

Thing between(Translator& t, const Column& c, const std::string&, const Arguments& a) {
  const Thing *left = a.find("left", 0), *right = a.find("right", 1), *both = a.find("inclusive", 2);
  if (!left || !right) return t.not_translated(a.place, "'between' of this");
  const std::string ends = both ? both->constant.text : "both";
  if (ends != "both" && ends != "left" && ends != "right" && ends != "neither")
    return t.not_translated(a.place, "'between' of this");
  const Thing self = Thing::of(c);
  const Thing low = t.compared(ends == "both" || ends == "left" ? ">=" : ">", self, *left, a.place);
  const Thing high = t.compared(ends == "both" || ends == "right" ? "<=" : "<", self, *right, a.place);
  return t.logic("&", low, high, a.place);
}

Thing tell_member(Translator& t, const Column& c, const std::string&, const Arguments& a) {
  const Thing* list = a.find("values", 0);
  if (!list || !list->constant.is(Constant::Kind::list)) return t.not_translated(a.place, "'isin' of this");
  return Thing::of(t.member_of(c, list->constant));
}

Thing round(Translator& t, const Column& c, const std::string&, const Arguments& a) {
  const Thing* digits = a.find("decimals", 0);
  const double scale = std::pow(10.0, digits ? digits->constant.number : 0);
  if (c.value->type.elem != DType::f64) return Thing::of(c);
  if (scale == 1) return t.unary_function("rint", Thing::of(c), a.place);
  return Thing::of(Column{t.g.div(t.g.op("Round", {t.g.mul(c.value, scale)}), scale), c.rows});
}

Thing apply(Translator& t, const Column& c, const std::string&, const Arguments& a) {
  if (a.expressions.empty()) return t.not_translated(a.place, "'apply' of nothing");
  return t.applied(a.expressions[0], Thing::of(c), a.place);
}

Thing shift(Translator& t, const Column& c, const std::string& name, const Arguments& a) {
  const Thing* by = a.find("periods", 0);
  const Thing moved = t.shifted(c, by ? static_cast<std::int64_t>(by->constant.number) : 1, a.place);
  return name == "shift" ? moved : t.arithmetic("-", Thing::of(c), moved, a.place);
}

Thing roll(Translator& t, const Column& c, const std::string&, const Arguments& a) {
  const Thing* size = a.find("window", 0);
  if (!size || !size->constant.is_number() || !a.unknown({"window"}).empty())
    return t.not_translated(a.place, "a window like this");
  return {.kind = Thing::Kind::windows, .constant = size->constant, .column = c};
}

constexpr Method kMethods[] = {{"abs", absolute},
                               {"apply", apply, " func "},
                               {"astype", cast, " dtype copy "},
                               {"between", between, " left right inclusive "},
                               {"clip", clip, " lower upper "},
                               {"copy", itself, " deep "},
                               {"diff", shift, " periods "},
                               {"fillna", fill, " value "},
                               {"isin", tell_member, " values "},
                               {"isna", tell_missing},
                               {"isnull", tell_missing},
                               {"map", exchange, " arg "},
                               {"mask", keep_where, " cond other "},
                               {"notna", tell_missing},
                               {"notnull", tell_missing},
                               {"replace", exchange, " to_replace value "},
                               {"reset_index", itself, " drop "},
                               {"rolling", roll, " window "},
                               {"round", round, " decimals "},
                               {"shift", shift, " periods "},
                               {"squeeze", itself},
                               {"where", keep_where, " cond other "}};

}  // namespace

Thing Translator::column_method(const Column& c, const std::string& name, const Arguments& a) {
  const Thing self = Thing::of(c);
  const Thing* first = a.find("other", 0);
  for (const auto& [word, sign] : kSigns)
    if (name == word && first) return arithmetic(sign, self, *first, a.place);
  for (const auto& [word, sign] : kComparisons)
    if (name == word && first) return compared(sign, self, *first, a.place);
  for (const std::string_view word : kAggregates)
    if (name == word) {
      const Thing* q = a.find("q", 0);
      if (!a.unknown({"q"}).empty() || (name != "quantile" && q))
        return not_translated(a.place, "'" + name + "' with arguments");
      return aggregate(c, name, name == "quantile" && q ? q->constant.number : 0.5, a.place);
    }
  for (const Method& method : kMethods) {
    if (name != method.name) continue;
    for (const auto& [own, thing] : a.all)
      if (!own.empty() && method.arguments.find(" " + own + " ") == std::string_view::npos)
        return not_translated(a.place, "the argument '" + own + "' of '" + name + "'");
    return method.call(*this, c, name, a);
  }
  return not_translated(a.place, "the method '" + name + "' of a column");
}

Thing Translator::text_method(const Column& c, const std::string& name, const Arguments& a) {
  if (c.value->type.elem != DType::string) return problem(a.place, ".str of a column that holds no texts");
  const auto flat = [&](Value* v) { return g.squeeze(v, {1}); };
  const auto column = [&](Value* v) { return Thing::of(Column{g.unsqueeze(v, {1}), c.rows}); };
  const auto word = [&](const char* argument, std::size_t at) -> std::optional<std::string> {
    const Thing* t = a.find(argument, at);
    if (!t || !t->constant.is(Constant::Kind::text)) return std::nullopt;
    return t->constant.text;
  };
  if (name == "lower" || name == "upper")
    return column(
        g.op("StringNormalizer", {flat(c.value)}, {{"case_change_action", name == "lower" ? "LOWER" : "UPPER"}}));
  const auto quoted = [](const std::string& plain) {
    std::string made;
    for (const char ch : plain)
      made += std::string_view("\\^$.|?*+()[]{}").find(ch) == std::string_view::npos ? std::string(1, ch)
                                                                                     : std::string("\\") + ch;
    return made;
  };
  const auto matches = [&](const std::string& pattern) {
    Value* hit = g.op("RegexFullMatch", {c.value}, {{"pattern", "(?s:" + pattern + ")"}});
    return Thing::of(Column{g.op("And", {hit, g.op("Not", {is_missing(c)})}), c.rows});
  };
  if (name == "startswith" || name == "endswith") {
    const auto part = word("pat", 0);
    if (!part) return not_translated(a.place, "'" + name + "' of this");
    return matches(name == "startswith" ? quoted(*part) + ".*" : ".*" + quoted(*part));
  }
  if (name == "contains" || name == "match" || name == "fullmatch") {
    const auto part = word("pat", 0);
    if (!part || !a.unknown({"pat", "regex", "na", "case"}).empty())
      return not_translated(a.place, "'" + name + "' of this");
    const Thing *regex = a.find("regex"), *cased = a.find("case", 1), *missing = a.find("na");
    if (missing && missing->constant.is_number() && missing->constant.number != 0)
      return not_translated(a.place, "'na' other than False");
    std::string pattern = regex && regex->constant.number == 0 ? quoted(*part) : *part;
    if (pattern.find("(?=") != std::string::npos || pattern.find("(?!") != std::string::npos ||
        pattern.find("(?<") != std::string::npos)
      return not_translated(a.place, "an expression that looks ahead or behind");
    if (cased && cased->constant.number == 0) pattern = "(?i:" + pattern + ")";
    const char *before = name == "contains" ? ".*" : "", *behind = name == "fullmatch" ? "" : ".*";
    return matches(before + ("(?:" + pattern + ")") + behind);
  }
  if (name == "split") {
    const auto by = word("pat", 0);
    if (a.all.size() != 1 || !by || by->empty())
      return not_translated(a.place, "'split' other than by one text, as in .str.split(',').str[0]");
    if (by->size() > 1 && by->find_first_of("\\^$.|?*+()[]{}") != std::string::npos)
      return not_translated(a.place, "'split' by an expression");
    return {.kind = Thing::Kind::pieces, .constant = text(*by), .column = c};
  }
  if (name == "len" && a.all.empty()) return Thing::of(length_of(c));
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    const auto own = word("to_strip", 0);
    if (a.all.size() > (own ? 1u : 0u) || (own && own->empty()))
      return not_translated(a.place, "'" + name + "' of this");
    const std::string kept = own ? "[^" + in_class(*own) + "]" : R"([^\s\x0b\x1c-\x1f\x{85}\p{Z}])";
    if (name == "lstrip") return Thing::of(part_of(c, kept + ".*"));
    if (name == "rstrip") return Thing::of(part_of(c, ".*" + kept));
    return Thing::of(part_of(c, kept + "(?:.*" + kept + ")?"));
  }
  const auto bound = [&](const char* argument, std::size_t at) -> std::optional<double> {
    const Thing* t = a.find(argument, at);
    if (!t || !t->constant.is(Constant::Kind::integer)) return std::nullopt;
    return t->constant.number;
  };
  if (name == "get" && a.all.size() == 1 && bound("i", 0)) {
    const double i = *bound("i", 0);
    return sliced(c, i, i == -1 ? std::nullopt : std::optional(i + 1), a.place);
  }
  if (name == "slice" && a.unknown({"start", "stop"}).empty() && a.all.size() <= 2)
    return sliced(c, bound("start", 0), bound("stop", 1), a.place);
  return not_translated(a.place, "the method '" + name + "' of texts");
}

Column Translator::part_of(const Column& c, const std::string& expression) {
  Node* cut = g.node("Tokenizer", "com.microsoft", {g.squeeze(c.value, {1})},
                     {{"mark", 0}, {"mincharnum", 1}, {"pad_value", ""}, {"tokenexp", "(?s)" + expression}}, 1);
  cut->output()->type = Type::tensor(DType::string, Shape{Dim::symbol("N"), Dim::symbol("parts")});
  // Where no text has a part there is no column either.
  Value* nothing = g.op("Expand", {constant(text(""), DType::string), g.shape(c.value)});
  Value* all = g.concat({cut->output(), nothing}, 1);
  return {g.op("Slice", {all, g.ints({0}), g.ints({1}), g.ints({1})}), c.rows};
}

/// The first or the last characters of texts.
Thing Translator::sliced(const Column& c, const std::optional<double>& begin, const std::optional<double>& end,
                         const Place& place) {
  constexpr double kMost = 1000;  // that RE2 counts
  const auto times = [](double n) { return ".{1," + std::to_string(static_cast<int>(n)) + "}"; };
  if ((!begin || *begin == 0) && end && *end > 0 && *end <= kMost) return Thing::of(part_of(c, times(*end)));
  if (begin && *begin < 0 && -*begin <= kMost && !end) return Thing::of(part_of(c, times(-*begin) + "\\z"));
  return not_translated(place, "a range of characters but the first or the last");
}

/// How many characters a text has; of one that is missing that is missing.
Column Translator::length_of(const Column& c) {
  constexpr const char* kNone = "\x01";  // stands behind the characters of shorter texts
  Node* cut =
      g.node("Tokenizer", "com.microsoft", {g.squeeze(c.value, {1})},
             {{"mark", 0}, {"mincharnum", 1}, {"pad_value", kNone}, {"separators", std::vector<std::string>{""}}}, 1);
  cut->output()->type = Type::tensor(DType::string, Shape{Dim::symbol("N"), Dim::symbol("characters")});
  Value* is_there = g.op("Not", {g.op("Equal", {cut->output(), g.constant(Tensor::of_strings({1, 1}, {kNone}))})});
  Value* count = g.op("ReduceSum", {as(DType::f64, is_there), g.ints({1})}, {{"keepdims", 1}});
  return {g.where(is_missing(c), g.scalar(std::nan(""), DType::f64), count), c.rows};
}

/// One of the pieces that a text is cut into, counted from its end where the number is negative.
Column Translator::piece_of(const Column& c, const std::string& by, std::int64_t at) {
  const Values cut = g.op("StringSplit", {g.squeeze(c.value, {1})}, {{"delimiter", by}}, 2);
  Value* count = g.unsqueeze(cut[1], {1});
  Value* place = at >= 0 ? g.add(g.mul(count, g.index(0)), g.index(at)) : g.add(count, g.index(at));
  Value* is_inside = g.op("And", {g.op("Less", {place, count}), g.op("GreaterOrEqual", {place, g.index(0)})});
  Value* safe = g.where(is_inside, place, g.index(0));
  Value* piece = g.op("GatherElements", {cut[0], safe}, {{"axis", 1}});
  Value* is_there = g.op("And", {is_inside, g.op("Not", {is_missing(c)})});
  return {g.where(is_there, piece, constant(text(""), DType::string)), c.rows};
}

/// Civil dates from days since 1970, by the usual arithmetic of eras of 400 years.
Thing Translator::time_attribute(const Column& c, const std::string& name, const Place& place) {
  if (!c.is_time) return problem(place, ".dt of a column that holds no times: pd.to_datetime(column, unit='s')");
  const auto whole = [&](double v) {
    return g.constant(Tensor::ints({static_cast<std::int64_t>(v)}).reshaped({1, 1}));
  };
  const auto floored = [&](Value* v, double by) {
    return as(DType::i64, g.op("Floor", {g.div(as(DType::f64, v), by)}));
  };
  const auto rest = [&](Value* v, double by) { return g.op("Mod", {v, whole(by)}); };
  const auto made = [&](Value* v) { return Thing::of(Column{.value = v, .rows = c.rows}); };
  Value* seconds = c.value;
  Value* days = floored(seconds, 86400);
  if (name == "second") return made(rest(seconds, 60));
  if (name == "minute") return made(rest(floored(seconds, 60), 60));
  if (name == "hour") return made(rest(floored(seconds, 3600), 24));
  if (name == "dayofweek" || name == "weekday" || name == "day_of_week") return made(rest(g.add(days, whole(3)), 7));
  Value* z = g.add(days, whole(719468));
  Value* era = floored(z, 146097);
  Value* doe = g.sub(z, g.mul(era, whole(146097)));
  Value* leaps =
      g.sub(g.sub(g.add(g.sub(doe, floored(doe, 1460)), floored(doe, 36524)), floored(doe, 146096)), whole(0));
  Value* yoe = floored(leaps, 365);
  Value* doy = g.sub(doe, g.sub(g.add(g.mul(yoe, whole(365)), floored(yoe, 4)), floored(yoe, 100)));
  Value* mp = floored(g.add(g.mul(doy, whole(5)), whole(2)), 153);
  Value* day = g.add(g.sub(doy, floored(g.add(g.mul(mp, whole(153)), whole(2)), 5)), whole(1));
  Value* is_late = g.op("Less", {mp, whole(10)});
  Value* month = g.where(is_late, g.add(mp, whole(3)), g.sub(mp, whole(9)));
  Value* year = g.add(g.add(yoe, g.mul(era, whole(400))), as(DType::i64, g.op("LessOrEqual", {month, whole(2)})));
  if (name == "year") return made(year);
  if (name == "month") return made(month);
  if (name == "day") return made(day);
  if (name == "quarter") return made(g.add(floored(g.sub(month, whole(1)), 3), whole(1)));
  return not_translated(place, "'" + name + "' of times");
}

}  // namespace ingot::frontends::pandas
