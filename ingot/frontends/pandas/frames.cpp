// Methods of frames, and functions of pandas and NumPy.
#include <algorithm>
#include <cmath>

#include "ingot/frontends/pandas/translator.h"

namespace ingot::frontends::pandas {
namespace {

std::vector<std::string> words_of(const Thing* t) {
  std::vector<std::string> words;
  if (!t) return words;
  if (t->constant.is(Constant::Kind::text)) words.push_back(t->constant.text);
  for (const Constant& one : t->constant.items)
    if (one.is(Constant::Kind::text)) words.push_back(one.text);
  return words;
}

std::vector<double> numbers_of(const Constant& list) {
  std::vector<double> numbers;
  for (const Constant& one : list.items)
    if (one.is_number()) numbers.push_back(one.number);
  return numbers;
}

using Method = Thing (*)(Translator&, Frame, const std::string& name, const Arguments&);

Thing itself(Translator&, Frame frame, const std::string&, const Arguments&) { return Thing::of(std::move(frame)); }

Thing assign(Translator& t, Frame frame, const std::string&, const Arguments& a) {
  for (std::size_t i = 0; i < a.all.size(); ++i) {
    const bool is_lambda = a.expressions[i]->is(Expression::Kind::lambda);
    const Thing value = is_lambda ? t.applied(a.expressions[i], Thing::of(frame), a.place) : a.all[i].second;
    if (frame.columns.empty()) return {};
    if (const auto column = t.column_of(value, frame.columns[0], a.place)) frame.set(a.all[i].first, *column);
  }
  return Thing::of(frame);
}

Thing drop(Translator& t, Frame frame, const std::string&, const Arguments& a) {
  const Thing* axis = a.find("axis", 1);
  const Thing* columns = a.find("columns");
  if (!columns && axis && (axis->constant.number == 1 || axis->constant.text == "columns"))
    columns = a.find("labels", 0);
  if (!columns) return t.not_translated(a.place, "'drop' of rows");
  for (const std::string& word : words_of(columns)) {
    const auto at = std::ranges::find(frame.names, word);
    if (at == frame.names.end()) return t.no_column(frame, word, a.place);
    frame.columns.erase(frame.columns.begin() + (at - frame.names.begin()));
    frame.names.erase(at);
  }
  return Thing::of(frame);
}

Thing rename(Translator& t, Frame frame, const std::string&, const Arguments& a) {
  const Thing* columns = a.find("columns");
  if (!columns || !columns->constant.is(Constant::Kind::dict)) return t.not_translated(a.place, "'rename' like this");
  const auto& items = columns->constant.items;
  for (std::string& own : frame.names)
    for (std::size_t i = 0; i + 1 < items.size(); i += 2)
      if (items[i].text == own) {
        own = items[i + 1].text;
        break;
      }
  return Thing::of(frame);
}

Thing fill(Translator& t, Frame frame, const std::string&, const Arguments& a) {
  const Thing* value = a.find("value", 0);
  if (!value || !value->is(Thing::Kind::constant) || !a.unknown({"value"}).empty())
    return t.not_translated(a.place, "'fillna' like this");
  const Constant& with = value->constant;
  for (std::size_t i = 0; i < frame.columns.size(); ++i) {
    const bool is_text = frame.columns[i].value->type.elem == DType::string;
    if (!with.is(Constant::Kind::dict)) {
      if (is_text == with.is(Constant::Kind::text)) frame.columns[i] = t.filled(frame.columns[i], *value, a.place);
      continue;
    }
    for (std::size_t k = 0; k + 1 < with.items.size(); k += 2)
      if (with.items[k].text == frame.names[i])
        frame.columns[i] = t.filled(frame.columns[i], Thing::of(with.items[k + 1]), a.place);
  }
  return Thing::of(frame);
}

Thing cast(Translator& t, Frame frame, const std::string&, const Arguments& a) {
  const Thing* type = a.find("dtype", 0);
  if (!type || !type->is(Thing::Kind::constant)) return t.not_translated(a.place, "this type");
  const Constant& to = type->constant;
  for (std::size_t i = 0; i < frame.columns.size(); ++i) {
    if (to.is(Constant::Kind::text)) frame.columns[i] = t.cast_to(frame.columns[i], to.text, a.place);
    for (std::size_t k = 0; k + 1 < to.items.size(); k += 2)
      if (to.items[k].text == frame.names[i])
        frame.columns[i] = t.cast_to(frame.columns[i], to.items[k + 1].text, a.place);
  }
  return Thing::of(frame);
}

Thing by_columns(Translator& t, Frame frame, const std::string& name, const Arguments& a) {
  for (Column& c : frame.columns)
    if (const Thing one = t.column_method(c, name, a); one.is(Thing::Kind::column)) c = one.column;
  return Thing::of(frame);
}

Thing apply(Translator& t, Frame frame, const std::string&, const Arguments& a) {
  const Thing* axis = a.find("axis", 1);
  const bool is_of_rows = axis && (axis->constant.number == 1 || axis->constant.text == "columns");
  if (!is_of_rows || a.expressions.empty()) return t.not_translated(a.place, "'apply' that is not of rows (axis=1)");
  return t.applied(a.expressions[0], {.kind = Thing::Kind::row, .frame = std::move(frame)}, a.place);
}

Thing group(Translator& t, Frame frame, const std::string&, const Arguments& a) {
  const auto keys = words_of(a.find("by", 0));
  if (keys.size() != 1 || !frame.find(keys[0])) return t.not_translated(a.place, "groups by this");
  return {.kind = Thing::Kind::groups, .frame = std::move(frame), .names = keys};
}

/// Of rows (axis=1), without what is missing; or of columns on the sample, as a dict.
Thing aggregate(Translator& t, Frame frame, const std::string& name, const Arguments& a) {
  const Thing *axis = a.find("axis", 0), *numeric = a.find("numeric_only");
  if (!a.unknown({"axis", "numeric_only"}).empty()) return t.not_translated(a.place, "'" + name + "' with arguments");
  Values numbers;
  Constant dict{.kind = Constant::Kind::dict};
  const bool is_of_rows = axis && (axis->constant.number == 1 || axis->constant.text == "columns");
  for (std::size_t i = 0; i < frame.columns.size(); ++i) {
    const Column& c = frame.columns[i];
    if (c.value->type.elem == DType::string) {
      if (!numeric || numeric->constant.number == 0) return t.not_translated(a.place, "'" + name + "' of texts");
      continue;
    }
    if (is_of_rows) {
      numbers.push_back(t.real(c));
      continue;
    }
    const Thing found = t.aggregate(c, name, 0.5, a.place);
    if (!found.is(Thing::Kind::constant)) return {};
    dict.items.push_back(text(frame.names[i]));
    dict.items.push_back(found.constant);
  }
  if (!is_of_rows) return Thing::of(dict);
  if (numbers.empty()) return t.not_translated(a.place, "'" + name + "' of no columns");
  return t.row_aggregate(t.g.concat(numbers, 1), name, frame.rows, a.place);
}

Thing merge(Translator& t, Frame frame, const std::string&, const Arguments& a) { return t.merged(frame, a); }

constexpr std::pair<std::string_view, Method> kMethods[] = {
    {"abs", by_columns},   {"apply", apply},        {"assign", assign},     {"astype", cast},
    {"clip", by_columns},  {"copy", itself},        {"drop", drop},         {"fillna", fill},
    {"groupby", group},    {"isna", by_columns},    {"isnull", by_columns}, {"max", aggregate},
    {"mean", aggregate},   {"median", aggregate},   {"merge", merge},       {"min", aggregate},
    {"notna", by_columns}, {"notnull", by_columns}, {"rename", rename},     {"reset_index", itself},
    {"round", by_columns}, {"std", aggregate},      {"sum", aggregate}};

}  // namespace

Thing Translator::frame_method(const Thing& thing, const std::string& name, const Arguments& a) {
  for (const auto& [word, method] : kMethods)
    if (name == word) return method(*this, thing.frame, name, a);
  not_translated(a.place, "the method '" + name + "' of a frame");
  Thing guess = thing;
  guess.frame.is_guess = true;
  return guess;
}

/// A constant table is looked up by its key; of equal keys it must have one.
Thing Translator::merged(const Frame& frame, const Arguments& a) {
  const Thing *right = a.find("right", 0), *on = a.find("on", 2), *how = a.find("how", 1);
  if (!right || !right->is(Thing::Kind::table))
    return not_translated(a.place, "'merge' with a table that is not constant");
  if (!how || how->constant.text != "left") return not_translated(a.place, "'merge' other than how='left'");
  const auto keys = words_of(on);
  if (keys.size() != 1 || !frame.find(keys[0])) return not_translated(a.place, "'merge' on this");
  const auto& names = right->names;
  const auto key = std::ranges::find(names, keys[0]);
  if (key == names.end()) return problem(a.place, "the table has no column '" + keys[0] + "'");
  const Constant& own = right->constant.items[static_cast<std::size_t>(key - names.begin())];
  Frame made = frame;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == keys[0]) continue;
    if (frame.find(names[i])) return not_translated(a.place, "'merge' of columns of the same name");
    Constant dict{.kind = Constant::Kind::dict};
    for (std::size_t k = 0; k < own.items.size(); ++k) {
      for (std::size_t earlier = 0; earlier < k; ++earlier)
        if (own.items[earlier].text == own.items[k].text && own.items[earlier].number == own.items[k].number)
          return problem(a.place, "the table has a key twice, which would add rows");
      dict.items.push_back(own.items[k]);
      dict.items.push_back(right->constant.items[i].items.at(k));
    }
    made.set(names[i], looked_up(*frame.find(keys[0]), dict, false, a.place));
  }
  return Thing::of(made);
}

/// groupby(key)[column].transform(what): what each group has in the sample.
Thing Translator::grouped(const Thing& groups, const Arguments& a) {
  const Thing* what = a.find("func", 0);
  const Column* column = groups.frame.find(groups.name);
  const Column* key = groups.frame.find(groups.names.at(0));
  if (!what || !what->constant.is(Constant::Kind::text) || !column || !key)
    return not_translated(a.place, "'transform' like this");
  const Sample keys = on_sample(*key, a.place), values = on_sample(*column, a.place);
  if (values.numbers.empty()) return {};
  const bool is_text = !keys.texts.empty();
  std::map<std::pair<std::string, double>, std::vector<double>> by_key;
  for (std::size_t i = 0; i < values.numbers.size(); ++i) {
    const std::pair<std::string, double> own =
        is_text ? std::pair(keys.texts[i], 0.0) : std::pair(std::string(), keys.numbers[i]);
    if (is_text ? own.first.empty() : std::isnan(own.second)) continue;
    by_key[own].push_back(values.numbers[i]);
  }
  Constant dict{.kind = Constant::Kind::dict};
  for (auto& [own, list] : by_key) {
    const auto found = aggregated(list, what->constant.text, 0.5);
    if (!found) return not_translated(a.place, "'transform' by '" + what->constant.text + "'");
    dict.items.push_back(is_text ? text(own.first) : number(own.second));
    dict.items.push_back(number(*found));
  }
  notes_.add("groups have what the sample says of them; others are missing");
  return Thing::of(looked_up(*key, dict, false, a.place));
}

/// The number of the bin, from 0; missing outside of all.
Column Translator::bins_of(const Column& x, const std::vector<double>& edges, bool is_right, bool has_lowest) {
  Value* v = real(x);
  const auto row = [&](const std::vector<double>& list) {
    return g.constant(Tensor::of<double>({1, std::ssize(list)}, list));
  };
  Value* behind = is_right ? g.op("Greater", {v, row(edges)}) : g.op("GreaterOrEqual", {v, row(edges)});
  Value* count = g.op("ReduceSum", {as(DType::f64, behind), g.ints({1})}, {{"keepdims", 1}});
  Value* bin = g.sub(count, 1.0);
  if (has_lowest && is_right)
    bin = g.where(g.op("Equal", {v, g.scalar(edges.front(), DType::f64)}), g.scalar(0, DType::f64), bin);
  Value* is_below = g.op("Less", {bin, g.scalar(0, DType::f64)});
  Value* is_above = g.op("GreaterOrEqual", {bin, g.scalar(static_cast<double>(edges.size()) - 1, DType::f64)});
  Value* is_out = g.op("Or", {g.op("Or", {is_below, is_above}), g.op("IsNaN", {v})});
  return {g.where(is_out, g.scalar(std::nan(""), DType::f64), bin), x.rows};
}

Thing Translator::labelled(const Column& bins, std::size_t count, const Thing* labels, const std::vector<double>&, bool,
                           const Place& place) {
  if (!labels) return not_translated(place, "bins without labels: say labels=False or give them");
  if (labels->constant.is(Constant::Kind::boolean) && labels->constant.number == 0) return Thing::of(bins);
  if (!labels->constant.is(Constant::Kind::list) || labels->constant.items.size() != count)
    return problem(place, "there must be a label for each bin");
  Constant dict{.kind = Constant::Kind::dict};
  for (std::size_t i = 0; i < count; ++i) {
    dict.items.push_back(number(static_cast<double>(i)));
    dict.items.push_back(labels->constant.items[i]);
  }
  return Thing::of(looked_up(bins, dict, false, place));
}

Thing Translator::cut(const Arguments& a) {
  const Thing *x = a.find("x", 0), *bins = a.find("bins", 1), *right = a.find("right", 2),
              *lowest = a.find("include_lowest");
  if (!x || !x->is(Thing::Kind::column)) return x ? Thing{} : not_translated(a.place, "'cut' of this");
  if (!a.unknown({"x", "bins", "right", "labels", "include_lowest"}).empty())
    return not_translated(a.place, "'cut' with these arguments");
  if (!bins || !bins->constant.is(Constant::Kind::list) || bins->constant.items.size() < 2)
    return not_translated(a.place, "'cut' without a list of edges");
  const auto edges = numbers_of(bins->constant);
  if (!std::ranges::is_sorted(edges)) return problem(a.place, "edges must ascend");
  const bool is_right = !right || right->constant.number != 0;
  const Column made = bins_of(x->column, edges, is_right, lowest && lowest->constant.number != 0);
  return labelled(made, edges.size() - 1, a.find("labels", 3), edges, is_right, a.place);
}

Thing Translator::quantile_cut(const Arguments& a) {
  const Thing *x = a.find("x", 0), *q = a.find("q", 1);
  if (!x || !x->is(Thing::Kind::column) || !q || !a.unknown({"x", "q", "labels"}).empty())
    return not_translated(a.place, "'qcut' of this");
  std::vector<double> parts = numbers_of(q->constant), edges;
  if (q->constant.is(Constant::Kind::integer))
    for (int i = 0; i <= static_cast<int>(q->constant.number); ++i) parts.push_back(i / q->constant.number);
  const Sample sample = on_sample(x->column, a.place);
  if (sample.numbers.empty() || parts.size() < 2) return {};
  for (const double part : parts) edges.push_back(aggregated(sample.numbers, "quantile", part).value_or(0));
  if (std::ranges::adjacent_find(edges) != edges.end()) return problem(a.place, "the sample gives equal edges");
  notes_.add("the edges of quantiles are those of the sample");
  const Column made = bins_of(x->column, edges, true, true);
  return labelled(made, edges.size() - 1, a.find("labels", 2), edges, true, a.place);
}

/// A column of 0 and 1 for each value that the sample has, in the order of the values.
Thing Translator::dummies(const Arguments& a) {
  const Thing* data = a.find("data", 0);
  if (!data || !a.unknown({"data", "columns", "prefix", "prefix_sep", "drop_first", "dtype"}).empty())
    return not_translated(a.place, "'get_dummies' like this");
  const Thing *drop = a.find("drop_first"), *prefix = a.find("prefix", 1), *separator = a.find("prefix_sep", 2);
  if (prefix && !prefix->constant.is(Constant::Kind::text)) return not_translated(a.place, "a prefix that is no text");
  const std::string between = separator ? separator->constant.text : "_";
  Frame made;
  const auto add = [&](const Column& c, const std::string& before) {
    const Sample sample = on_sample(c, a.place);
    std::vector<Constant> values;
    std::vector<std::string> texts = sample.texts;
    std::vector<double> numbers = sample.numbers;
    std::ranges::sort(texts);
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    std::erase_if(numbers, [](double v) { return std::isnan(v); });
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    for (const std::string& one : texts)
      if (!one.empty()) values.push_back(text(one));
    const bool is_whole = c.value->type.elem != DType::f64;
    for (const double one : numbers) values.push_back(is_whole ? integer(one) : number(one));
    for (std::size_t i = drop && drop->constant.number != 0 ? 1 : 0; i < values.size(); ++i) {
      const Thing hit = compared("==", Thing::of(c), Thing::of(values[i]), a.place);
      if (!hit.is(Thing::Kind::column)) return;
      made.set(before + text_of(values[i]), {as(DType::i64, hit.column.value), c.rows});
    }
  };
  notes_.add("the values that get a column are those of the sample");
  if (data->is(Thing::Kind::column)) {
    made.rows = data->column.rows;
    add(data->column, prefix ? prefix->constant.text + between : "");
    return Thing::of(made);
  }
  if (!data->is(Thing::Kind::frame)) return {};
  auto chosen_names = words_of(a.find("columns"));
  made.rows = data->frame.rows;
  for (std::size_t i = 0; i < data->frame.names.size(); ++i) {
    const std::string& name = data->frame.names[i];
    const bool is_text = data->frame.columns[i].value->type.elem == DType::string;
    if (!a.find("columns") && is_text) chosen_names.push_back(name);
    if (std::ranges::find(chosen_names, name) == chosen_names.end()) made.set(name, data->frame.columns[i]);
  }
  for (const std::string& name : chosen_names) {
    const Column* c = data->frame.find(name);
    if (!c) return no_column(data->frame, name, a.place);
    add(*c, (prefix ? prefix->constant.text : name) + between);
  }
  return Thing::of(made);
}

Thing Translator::pandas_function(const std::string& name, const Arguments& a) {
  const Thing* first = a.find("", 0);
  if (name == "cut") return cut(a);
  if (name == "qcut") return quantile_cut(a);
  if (name == "get_dummies") return dummies(a);
  if (name == "isna" || name == "isnull" || name == "notna" || name == "notnull")
    if (first && first->is(Thing::Kind::column)) return column_method(first->column, name, {.place = a.place});
  if (name == "to_numeric" && first && first->is(Thing::Kind::column)) {
    const Thing* errors = a.find("errors", 1);
    const bool coerces = errors && errors->constant.text == "coerce";
    if (!a.unknown({"arg", "errors"}).empty() || (errors && !coerces && errors->constant.text != "raise"))
      return not_translated(a.place, "'to_numeric' with these arguments");
    Column column = first->column;
    if (coerces && column.value->type.elem == DType::string) {  // what is no number is missing
      constexpr const char* kNumber = R"(\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?i:inf|infinity|nan))\s*)";
      Value* is_number = g.op("RegexFullMatch", {column.value}, {{"pattern", kNumber}});
      column.value = g.where(is_number, column.value, constant(text(""), DType::string));
    }
    return Thing::of(cast_to(column, "float", a.place));
  }
  if (name == "to_datetime" && first && first->is(Thing::Kind::column)) {
    const Thing* unit = a.find("unit");
    const std::string word = unit ? unit->constant.text : "";
    const double scale = word == "s"    ? 1
                         : word == "ms" ? 1e3
                         : word == "us" ? 1e6
                         : word == "ns" ? 1e9
                         : word == "D"  ? -86400
                                        : 0;
    if (scale == 0) return not_translated(a.place, "'to_datetime' without unit=");
    Value* v = real(first->column);
    Value* seconds = g.op("Floor", {scale < 0 ? g.mul(v, -scale) : g.div(v, scale)});
    return Thing::of(Column{as(DType::i64, seconds), first->column.rows, true});
  }
  if (name == "DataFrame" && first && first->constant.is(Constant::Kind::dict)) {
    Thing table{.kind = Thing::Kind::table, .constant = {.kind = Constant::Kind::list}};
    std::size_t rows = 0;
    for (std::size_t i = 0; i + 1 < first->constant.items.size(); i += 2) {
      const Constant& list = first->constant.items[i + 1];
      if (i == 0) rows = list.items.size();
      if (!list.is(Constant::Kind::list) || list.items.size() != rows) return problem(a.place, "the table is not even");
      table.names.push_back(first->constant.items[i].text);
      table.constant.items.push_back(list);
    }
    return table;
  }
  if (name == "concat") return side_by_side(a);
  return not_translated(a.place, "the function 'pd." + name + "'");
}

/// pd.concat([...], axis=1) of frames and columns of the same rows.
Thing Translator::side_by_side(const Arguments& a) {
  const Thing *parts = a.find("objs", 0), *axis = a.find("axis", 1);
  if (!parts || !parts->is(Thing::Kind::list) || !axis || !a.unknown({"objs", "axis"}).empty() ||
      !(axis->constant.number == 1 || axis->constant.text == "columns"))
    return not_translated(a.place, "'concat' other than of frames side by side (axis=1)");
  Frame made;
  for (const Thing& part : parts->items) {
    if (!part.is(Thing::Kind::frame)) return not_translated(a.place, "'concat' of something else than frames");
    if (made.columns.empty()) made.rows = part.frame.rows;
    if (part.frame.rows != made.rows) return problem(a.place, "frames of different rows meet here");
    for (std::size_t i = 0; i < part.frame.names.size(); ++i) {
      if (made.find(part.frame.names[i])) return not_translated(a.place, "'concat' of columns of the same name");
      made.set(part.frame.names[i], part.frame.columns[i]);
    }
  }
  return Thing::of(made);
}

/// np.select: of the first condition that holds.
Thing Translator::selected(const Arguments& a) {
  const Thing *conditions = a.find("condlist", 0), *choices = a.find("choicelist", 1),
              *otherwise = a.find("default", 2);
  if (!conditions || !choices || !conditions->is(Thing::Kind::list)) return not_translated(a.place, "'select' of this");
  std::vector<Thing> values = choices->items;
  if (choices->constant.is(Constant::Kind::list))
    for (const Constant& one : choices->constant.items) values.push_back(Thing::of(one));
  if (values.size() != conditions->items.size() || values.empty())
    return problem(a.place, "there must be a choice for each condition");
  const Thing& first = conditions->items[0];
  if (!first.is(Thing::Kind::column)) return not_translated(a.place, "'select' of this");
  const auto fallback = column_of(otherwise ? *otherwise : Thing::of(integer(0)), first.column, a.place);
  if (!fallback) return {};
  Column made = *fallback;
  for (std::size_t i = values.size(); i-- > 0;) {
    const Thing& condition = conditions->items[i];
    if (!condition.is(Thing::Kind::column) || condition.column.value->type.elem != DType::boolean)
      return problem(a.place, "a condition is not true or false for each row");
    const auto value = column_of(values[i], first.column, a.place);
    if (!value) return {};
    made = chosen(condition.column.value, *value, made);
  }
  return Thing::of(made);
}

Thing Translator::numpy_function(const std::string& name, const Arguments& a) {
  const Thing *x = a.find("", 0), *y = a.find("", 1), *z = a.find("", 2);
  if (name == "where" && x && y && z) {
    if (!x->is(Thing::Kind::column))
      return x->is(Thing::Kind::unknown) ? Thing{} : not_translated(a.place, "'where' of this");
    const auto yes = column_of(*y, x->column, a.place), no = column_of(*z, x->column, a.place);
    if (!yes || !no) return {};
    return Thing::of(chosen(as(DType::boolean, x->column.value), *yes, *no));
  }
  if ((name == "maximum" || name == "minimum") && x && y) {
    const Thing first = compared(name == "maximum" ? ">=" : "<=", *x, *y, a.place);
    if (!first.is(Thing::Kind::column)) return {};
    const auto p = column_of(*x, first.column, a.place), q = column_of(*y, first.column, a.place);
    if (!p || !q) return {};
    Value* takes_first = g.op("Or", {first.column.value, is_missing(*p)});
    return Thing::of(chosen(takes_first, *p, *q));
  }
  if (name == "select") return selected(a);
  if (name == "power" && x && y) return arithmetic("**", *x, *y, a.place);
  if (name == "clip" && x && x->is(Thing::Kind::column)) {
    Arguments rest{.place = a.place};
    rest.all.assign(a.all.begin() + 1, a.all.end());
    return column_method(x->column, "clip", rest);
  }
  for (const auto& [word, sign] :
       {std::pair{"add", "+"}, {"subtract", "-"}, {"multiply", "*"}, {"divide", "/"}, {"mod", "%"}})
    if (name == word && x && y) return arithmetic(sign, *x, *y, a.place);
  for (const char* word : {"mean", "median", "min", "max", "sum"})
    if (name == word && x && x->is(Thing::Kind::column) && a.all.size() == 1)
      return aggregate(x->column, name, 0.5, a.place);
  if (x && !y) return unary_function(name, *x, a.place);
  return not_translated(a.place, "the function 'np." + name + "'");
}

}  // namespace ingot::frontends::pandas
