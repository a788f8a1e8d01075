// Pipelines and what else puts estimators side by side or one behind the other.
#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

struct Step {
  std::string name;
  Estimator estimator;
  bool is_idle() const {  // None or "passthrough"
    return !estimator.is_instance();
  }
};

/// Steps of (name, estimator).
std::vector<Step> steps_of(const Estimator& e, std::string_view attribute) {
  std::vector<Step> steps;
  for (const Estimator& one : e.list(attribute)) {
    const auto parts = one.items(one.value());
    if (parts.size() < 2) throw Error(Code::bad_source_graph, "a step is no pair");
    steps.push_back({e.text_in(parts[0].value()).value_or(""), parts[1]});
  }
  return steps;
}

/// Names, numbers, a mask or a slice to numbers of columns.
std::vector<std::int64_t> places_of(const Estimator& e, pickle::Ref wanted, const std::vector<std::string>& names,
                                    std::int64_t width, int depth = 0) {
  std::vector<std::int64_t> places;
  const auto by_name = [&](const std::string& name) {
    const auto at = std::ranges::find(names, name);
    if (at == names.end()) throw Error(Code::bad_source_graph, "there is no column '" + name + "'");
    return static_cast<std::int64_t>(at - names.begin());
  };
  const auto by_number = [&](double n) {
    return static_cast<std::int64_t>(n < 0 ? n + static_cast<double>(width) : n);
  };
  if (const auto text = e.text_in(wanted)) return {by_name(*text)};
  if (const auto number = e.number_in(wanted); number && !wanted->is(pickle::Kind::boolean))
    return {by_number(*number)};
  if (pickle::class_name(*wanted) == "slice" && wanted->object->args && wanted->object->args->items.size() == 3) {
    const auto& args = wanted->object->args->items;
    const auto bound = [&](pickle::Ref v, std::int64_t otherwise, bool is_end) -> std::int64_t {
      if (const auto text = e.text_in(v)) return by_name(*text) + (is_end ? 1 : 0);
      return v->is_none() ? otherwise : by_number(e.number_in(v).value_or(0));
    };
    const std::int64_t step = args[2]->is_none() ? 1 : args[2]->integer;
    if (step < 1) refuse("a slice of columns goes backwards");
    for (std::int64_t i = bound(args[0], 0, false); i < std::min(bound(args[1], width, true), width); i += step)
      places.push_back(i);
    return places;
  }
  if (const auto texts = pickle::arrow_texts(e.document(), *wanted)) {
    for (const std::string& name : *texts) places.push_back(by_name(name));
    return places;
  }
  std::vector<pickle::Ref> items;
  if (const auto array = pickle::read_array(e.document(), *wanted)) {
    if (array->dtype.kind == 'U') {
      for (const std::string& name : pickle::to_texts(e.document(), *array)) places.push_back(by_name(name));
      return places;
    }
    if (array->objects.empty()) {
      const auto numbers = pickle::to_doubles(e.document(), *array);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (array->dtype.kind != 'b') places.push_back(by_number(numbers[i]));
        if (array->dtype.kind == 'b' && numbers[i] != 0) places.push_back(static_cast<std::int64_t>(i));
      }
      return places;
    }
    items = array->objects;
  } else {
    const auto list = pickle::items_of(*wanted);
    items.assign(list.begin(), list.end());
    // _RemainderColsList and pandas.Index wrap their list.
    if (items.empty() && wanted->is(pickle::Kind::object))
      for (const char* inner : {"data", "columns"})
        if (const pickle::Ref found = pickle::attribute(*wanted, inner); found && depth < 4)
          return places_of(e, found, names, width, depth + 1);
    if (!wanted->is_sequence()) refuse("its columns are chosen by " + pickle::kind_text(*wanted));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i]->is(pickle::Kind::boolean)) {
      if (items[i]->integer) places.push_back(static_cast<std::int64_t>(i));
    } else if (const auto text = e.text_in(items[i])) {
      places.push_back(by_name(*text));
    } else if (const auto number = e.number_in(items[i])) {
      places.push_back(by_number(*number));
    } else {
      refuse("a column is named by what is neither text nor number");
    }
  }
  return places;
}

void append(Columns& all, const Columns& part) { all.insert(all.end(), part.begin(), part.end()); }

/// Columns of a data frame in the order of the fit, where all of them are there by these names.
Columns in_order(Context& c, const Columns& x, const std::vector<std::string>& names) {
  if (names.empty() || std::ranges::equal(x, names, {}, &Part::name)) return x;
  for (const std::string& name : names)
    if (std::ranges::find(x, name, &Part::name) == x.end()) return x;
  return c.by_names(x, names);
}

/// What a transformer of that name made, times its weight where it has one.
Columns weighted(Context& c, const Estimator& e, const std::string& name, const Columns& made) {
  const pickle::Ref weights = e.find("transformer_weights");
  const pickle::Ref weight = weights && !weights->is_none() ? pickle::find(*weights, name) : nullptr;
  return weight ? c.columns_of(c.g.mul(c.numbers(made), e.number_in(weight).value_or(1))) : made;
}

}  // namespace

Columns pipeline_transform(Context& c, const Estimator& e, const Columns& x) {
  Columns flow = x;
  for (const Step& step : steps_of(e, "steps"))
    if (!step.is_idle()) flow = c.transform(step.estimator, flow);
  return flow;
}

Result pipeline_predict(Context& c, const Estimator& e, const Columns& x) {
  const auto steps = steps_of(e, "steps");
  if (steps.empty() || steps.back().is_idle()) refuse("its last step does not predict");
  Columns flow = x;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i)
    if (!steps[i].is_idle()) flow = c.transform(steps[i].estimator, flow);
  return c.predict(steps.back().estimator, flow);
}

Columns column_transformer(Context& c, const Estimator& e, const Columns& given) {
  const auto names = e.feature_names();
  const Columns x = in_order(c, given, names);
  const std::int64_t width = width_of(x);
  Columns all;
  for (const Estimator& one : e.list("transformers_")) {
    const auto parts = one.items(one.value());
    if (parts.size() != 3) throw Error(Code::bad_source_graph, "a transformer has no columns");
    const auto word = e.text_in(parts[1].value());
    if (word && *word == "drop") continue;
    const auto places = places_of(e, parts[2].value(), names, width);
    if (places.empty()) continue;
    const Columns chosen = c.select(x, places);
    const Columns made = word ? chosen : c.transform(parts[1], chosen);
    append(all, weighted(c, e, e.text_in(parts[0].value()).value_or(""), made));
  }
  return all;
}

Columns feature_union(Context& c, const Estimator& e, const Columns& x) {
  Columns all;
  for (const Step& step : steps_of(e, "transformer_list")) {
    const auto word = e.text_in(step.estimator.value());
    if (step.estimator.value()->is_none() || (word && *word == "drop")) continue;
    append(all, weighted(c, e, step.name, word ? x : c.transform(step.estimator, x)));
  }
  return all;
}

namespace {

Estimator inner_of(const Estimator& e) {
  for (const char* name : {"best_estimator_", "estimator_", "base_estimator_", "estimator", "selector_", "selector",
                           "transformer_", "transformer"})
    if (e.has(name) && e.child(name).is_instance()) return e.child(name);
  return e.child("best_estimator_");
}

}  // namespace

Result inner_predict(Context& c, const Estimator& e, const Columns& x) {
  Result result = c.predict(inner_of(e), x);
  if (e.name() == "SelfTrainingClassifier" && e.has("classes_")) result.classes = e.labels("classes_");
  return result;
}

Columns inner_transform(Context& c, const Estimator& e, const Columns& x) { return c.transform(inner_of(e), x); }

/// A classifier of two classes with a threshold of its own.
Result threshold_classifier(Context& c, const Estimator& e, const Columns& x) {
  Result result = c.predict(inner_of(e), x);
  const double threshold = e.has("best_threshold_") ? e.number("best_threshold_") : e.number("threshold", 0.5);
  const bool by_score = e.text("response_method", "auto") == "decision_function" || !result.probabilities;
  Value* score = by_score ? result.scores : c.column(result.probabilities, 1);
  if (!score || result.classes.size() != 2) refuse("it does not have two classes with scores");
  result.place = c.g.squeeze(c.g.cast(c.g.op("GreaterOrEqual", {score, c.number(threshold)}), DType::i64), {1});
  return result;
}

}  // namespace ingot::frontends::sklearn
