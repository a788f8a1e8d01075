// Encoders of categories and labels.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/base/error.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

/// Which of the categories each row of one column has: [N, categories] booleans.
Value* matches(Context& c, const Columns& column, const Labels& categories) {
  if (categories.is_text()) {
    Value* row = c.g.constant(Tensor::of_strings({1, static_cast<std::int64_t>(categories.size())}, categories.texts));
    Value* texts = c.texts(column);
    Value* equal = c.g.op("Equal", {texts, row});
    if (categories.missing.empty()) return equal;
    // What is missing in Python is an empty text here, or else the text that Python prints.
    c.notes.add("a category that is missing is an empty text");
    std::size_t slot = categories.missing.front();
    for (const std::size_t i : categories.missing)
      if (categories.texts[i] == "nan") slot = i;
    std::vector<double> is_slot(categories.size());
    is_slot[slot] = 1;
    Value* is_empty = c.g.op("Equal", {texts, c.g.constant(Tensor::of_strings({1, 1}, {""}))});
    Value* here = c.g.op("Greater", {c.row(is_slot), c.number(0.5)});
    return c.g.op("Or", {equal, c.g.op("And", {is_empty, here})});
  }
  Value* x = c.numbers(column);
  Value* equal = c.g.op("Equal", {x, c.row(categories.numbers)});
  // NaN is a category that equals nothing.
  std::vector<double> is_nan_category;
  bool has_nan = false;
  for (const double v : categories.numbers) {
    is_nan_category.push_back(std::isnan(v) ? 1 : 0);
    has_nan |= std::isnan(v);
  }
  if (!has_nan) return equal;
  Value* is_slot = c.g.op("Greater", {c.row(is_nan_category), c.number(0.5)});
  return c.g.op("Or", {equal, c.g.op("And", {c.is_nan(x), is_slot})});
}

Columns one_column(Context& c, const Columns& x, std::size_t i) { return c.select(x, {static_cast<std::int64_t>(i)}); }

std::vector<Labels> categories_of(const Estimator& e) {
  std::vector<Labels> all;
  for (const Estimator& one : e.list("categories_")) all.push_back(e.to_labels(one.value()));
  return all;
}

/// What an encoder says of feature i in a list of numbers or None.
std::optional<std::int64_t> entry(const Estimator& e, std::string_view attribute, std::size_t i) {
  if (!e.has(attribute)) return std::nullopt;
  const pickle::Ref list = e.find(attribute);
  if (const auto array = pickle::read_array(e.document(), *list)) {
    if (array->objects.empty()) return pickle::to_ints(e.document(), *array).at(i);
    const auto number = i < array->objects.size() ? e.number_in(array->objects[i]) : std::nullopt;
    if (!number || std::isnan(*number)) return std::nullopt;
    return static_cast<std::int64_t>(*number);
  }
  return std::nullopt;
}

/// Rare categories share one place: where each category goes; nothing: they stay apart.
std::optional<std::vector<double>> grouped_places(const Estimator& e, std::size_t i) {
  if (!e.flag("_infrequent_enabled") || !e.has("_default_to_infrequent_mappings")) return std::nullopt;
  const auto lists = e.list("_default_to_infrequent_mappings");
  if (i >= lists.size() || lists[i].value()->is_none()) return std::nullopt;
  return e.doubles(lists[i].value());
}

/// Categories to columns [categories, columns].
Matrix places_matrix(std::size_t categories, const std::optional<std::vector<double>>& grouped) {
  std::int64_t columns = static_cast<std::int64_t>(categories);
  if (grouped) {
    columns = 0;
    for (const double p : *grouped) columns = std::max(columns, static_cast<std::int64_t>(p) + 1);
  }
  Matrix m{static_cast<std::int64_t>(categories), columns,
           std::vector<double>(categories * static_cast<std::size_t>(columns))};
  for (std::size_t k = 0; k < categories; ++k) {
    const auto at = grouped ? static_cast<std::size_t>(grouped->at(k)) : k;
    m.values[k * static_cast<std::size_t>(columns) + at] = 1;
  }
  return m;
}

Value* any_of(Context& c, Value* flags) {
  Value* most = c.g.op("ReduceMax", {c.g.cast(flags, c.elem), c.g.ints({1})}, {{"keepdims", 1}});
  return c.g.op("Greater", {most, c.number(0.5)});
}

}  // namespace

Columns one_hot_columns(Context& c, const Estimator& e, const Columns& x) {
  const auto categories = categories_of(e);
  if (std::ssize(categories) != width_of(x)) throw Error(Code::bad_source_graph, "it was fitted on other columns");
  const std::string unknown = e.text("handle_unknown", "error");
  if (unknown == "error")
    c.notes.add("categories that an encoder does not know become zeros; scikit-learn refuses them");
  Columns made;
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const auto grouped = grouped_places(e, i);
    Matrix places = places_matrix(categories[i].size(), grouped);
    Value* flags = matches(c, one_column(c, x, i), categories[i]);
    const auto dropped = entry(e, e.has("_drop_idx_after_grouping") ? "_drop_idx_after_grouping" : "drop_idx_", i);
    Value* ones = c.g.cast(flags, c.elem);
    if (grouped) ones = c.g.op("MatMul", {ones, c.matrix(places)});
    if (grouped && unknown != "ignore" && unknown != "error") {  // unknown ones are rare ones
      std::vector<double> rare(static_cast<std::size_t>(places.columns));
      rare.back() = 1;
      ones = c.g.where(any_of(c, flags), ones, c.row(rare));
    }
    if (dropped) {
      std::vector<std::int64_t> kept;
      for (std::int64_t k = 0; k < places.columns; ++k)
        if (k != *dropped) kept.push_back(k);
      if (kept.empty()) continue;
      ones = c.g.op("Gather", {ones, c.g.ints(kept)}, {{"axis", 1}});
    }
    const Columns part = c.columns_of(ones);
    made.insert(made.end(), part.begin(), part.end());
  }
  return made;
}

Columns ordinal_columns(Context& c, const Estimator& e, const Columns& x) {
  const auto categories = categories_of(e);
  if (std::ssize(categories) != width_of(x)) throw Error(Code::bad_source_graph, "it was fitted on other columns");
  const double unknown =
      e.text("handle_unknown", "error") == "use_encoded_value" ? e.number("unknown_value", NAN) : NAN;
  const double missing = e.number("encoded_missing_value", NAN);
  Columns made;
  for (std::size_t i = 0; i < categories.size(); ++i) {
    const Columns column = one_column(c, x, i);
    Value* flags = matches(c, column, categories[i]);
    const auto grouped = grouped_places(e, i);
    std::vector<double> places, gaps;
    bool has_missing = false;
    for (std::size_t k = 0; k < categories[i].size(); ++k) {
      // None is a category like others; NaN is what is missing.
      const Labels& own = categories[i];
      const bool is_missing = own.is_text()
                                  ? own.texts[k] == "nan" && std::ranges::find(own.missing, k) != own.missing.end()
                                  : std::isnan(own.numbers[k]);
      has_missing |= is_missing && std::isnan(missing);
      const double place = grouped ? grouped->at(k) : static_cast<double>(k);
      places.push_back(is_missing ? (std::isnan(missing) ? 0 : missing) : place);
      gaps.push_back(is_missing ? 1 : 0);
    }
    Matrix table{std::ssize(places), 1, places};
    Value* place = c.g.op("MatMul", {c.g.cast(flags, c.elem), c.matrix(table)});
    place = c.g.where(any_of(c, flags), place, c.number(unknown));
    if (has_missing) {  // NaN cannot go through the product
      Value* gap = c.g.op("MatMul", {c.g.cast(flags, c.elem), c.matrix({std::ssize(gaps), 1, gaps})});
      place = c.g.where(c.g.op("Greater", {gap, c.number(0.5)}), c.number(missing), place);
    }
    const Columns part = c.columns_of(place);
    made.insert(made.end(), part.begin(), part.end());
  }
  return made;
}

Columns target_encoder(Context& c, const Estimator& e, const Columns& x) {
  const auto categories = categories_of(e);
  const auto encodings = e.list("encodings_");
  const auto means = e.vector("target_mean_");
  const std::size_t outputs = categories.empty() ? 1 : encodings.size() / categories.size();
  Columns made;
  for (std::size_t i = 0; i < categories.size(); ++i) {
    Value* flags = matches(c, one_column(c, x, i), categories[i]);
    Value* is_known = any_of(c, flags);
    for (std::size_t k = 0; k < outputs; ++k) {
      const auto values = e.doubles(encodings[i * outputs + k].value());
      Value* value = c.g.op("MatMul", {c.g.cast(flags, c.elem), c.matrix({std::ssize(values), 1, values})});
      value = c.g.where(is_known, value, c.number(means[std::min(k, means.size() - 1)]));
      const Columns part = c.columns_of(value);
      made.insert(made.end(), part.begin(), part.end());
    }
  }
  return made;
}

Columns label_binarizer(Context& c, const Estimator& e, const Columns& x) {
  const Labels classes = e.labels("classes_");
  Value* ones = c.g.cast(matches(c, x, classes), c.elem);
  if (classes.size() == 2) ones = c.column(ones, 1);
  const double low = e.number("neg_label", 0), high = e.number("pos_label", 1);
  return c.columns_of(low == 0 && high == 1 ? ones : c.g.add(c.g.mul(ones, high - low), low));
}

Columns label_encoder(Context& c, const Estimator& e, const Columns& x) {
  const Labels classes = e.labels("classes_");
  Value* flags = matches(c, x, classes);
  std::vector<double> places(classes.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<double>(i);
  return c.columns_of(c.g.op("MatMul", {c.g.cast(flags, c.elem), c.matrix({std::ssize(places), 1, places})}));
}

namespace {

/// Where a number or text is missing, as the estimator sees it: [N, width] booleans.
Value* missing_in(Context& c, const Estimator& e, const Columns& x, bool is_text) {
  const pickle::Ref marker = e.find("missing_values");
  if (is_text) {
    const auto own = marker ? e.text_in(marker) : std::nullopt;
    Value* texts = c.texts(x);
    const auto equals = [&](const char* text) {
      return c.g.op("Equal", {texts, c.g.constant(Tensor::of_strings({}, {text}))});
    };
    if (own && *own != "NaN") return equals(own->c_str());
    c.notes.add("a text is missing where it is empty or \"nan\"");
    return c.g.op("Or", {equals(""), equals("nan")});
  }
  const auto number = marker ? e.number_in(marker) : std::nullopt;
  Value* x_numbers = c.numbers(x);
  if (!number || std::isnan(*number)) return c.is_nan(x_numbers);
  return c.g.op("Equal", {x_numbers, c.number(*number)});
}

}  // namespace

Columns missing_indicator(Context& c, const Estimator& e, const Columns& x) {
  std::vector<std::int64_t> kept;
  for (const double f : e.vector("features_")) kept.push_back(static_cast<std::int64_t>(f));
  if (kept.empty()) return {};
  const Columns chosen = c.select(x, kept);
  bool is_text = false;
  for (const Part& part : chosen) is_text |= part.value && part.value->type.elem == DType::string;
  return c.columns_of(c.g.cast(missing_in(c, e, chosen, is_text), c.elem));
}

Columns simple_imputer(Context& c, const Estimator& e, const Columns& x) {
  const Labels statistics = e.labels("statistics_");
  if (std::cmp_not_equal(statistics.size(), width_of(x)))
    throw Error(Code::bad_source_graph, "it was fitted on other columns");
  Columns made;
  if (statistics.is_text()) {
    Value* texts = c.texts(x);
    Value* fill = c.g.constant(Tensor::of_strings({1, std::ssize(statistics.texts)}, statistics.texts));
    made = c.columns_of(c.g.where(missing_in(c, e, x, true), fill, texts));
  } else {
    std::vector<std::int64_t> kept;
    std::vector<double> fill;
    const bool keeps_empty = e.flag("keep_empty_features") || e.text("strategy") == "constant";
    for (std::size_t i = 0; i < statistics.numbers.size(); ++i) {
      if (std::isnan(statistics.numbers[i]) && !keeps_empty) continue;
      kept.push_back(static_cast<std::int64_t>(i));
      fill.push_back(std::isnan(statistics.numbers[i]) ? 0 : statistics.numbers[i]);
    }
    const Columns chosen = std::ssize(kept) == width_of(x) ? x : c.select(x, kept);
    made = c.columns_of(c.g.where(missing_in(c, e, chosen, false), c.row(fill), c.numbers(chosen)));
  }
  if (e.flag("add_indicator") && e.has("indicator_")) {
    const Columns flags = missing_indicator(c, e.child("indicator_"), x);
    made.insert(made.end(), flags.begin(), flags.end());
  }
  return made;
}

/// Each feature with gaps is predicted from the others, round after round, by the estimators of the fit.
Columns iterative_imputer(Context& c, const Estimator& e, const Columns& x) {
  Value* gaps = missing_in(c, e, x, false);
  Value* filled = c.numbers(simple_imputer(c, e.child("initial_imputer_"), x));
  const auto low = e.vector("_min_value"), high = e.vector("_max_value");
  const std::int64_t width = width_of(c.columns_of(filled));
  if (width != width_of(x)) refuse("it leaves out columns that hold nothing");
  for (const Estimator& step : e.list("imputation_sequence_")) {
    const bool is_named = step.is_instance() && step.value()->object->args;  // a tuple with names
    const auto parts = step.items(is_named ? step.value()->object->args : step.value());
    if (parts.size() != 3) throw Error(Code::bad_source_graph, "a step of the sequence is damaged");
    const auto feature = static_cast<std::int64_t>(e.number_in(parts[0].value()).value_or(-1));
    std::vector<std::int64_t> others;
    for (const double f : e.doubles(parts[1].value())) others.push_back(static_cast<std::int64_t>(f));
    Value* guess =
        c.predict(parts[2], c.columns_of(c.g.op("Gather", {filled, c.g.ints(others)}, {{"axis", 1}}))).values;
    if (!guess) refuse("its estimator is no regressor");
    const auto at = static_cast<std::size_t>(feature);
    if (at < low.size() && std::isfinite(low[at])) guess = c.g.op("Max", {guess, c.number(low[at])});
    if (at < high.size() && std::isfinite(high[at])) guess = c.g.op("Min", {guess, c.number(high[at])});
    std::vector<double> unit(static_cast<std::size_t>(width));
    unit.at(at) = 1;
    Value* here = c.g.op("And", {gaps, c.g.op("Greater", {c.row(unit), c.number(0.5)})});
    filled = c.g.where(here, guess, filled);
  }
  Columns made = c.columns_of(filled);
  if (e.flag("add_indicator") && e.has("indicator_")) {
    const Columns flags = missing_indicator(c, e.child("indicator_"), x);
    made.insert(made.end(), flags.begin(), flags.end());
  }
  return made;
}

}  // namespace ingot::frontends::sklearn
