// Steps that choose, name or check the columns of a data frame: those of sklearn_pandas and sklearn2pmml.
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

std::vector<std::string> names_in(const Estimator& e, pickle::Ref wanted) {
  if (const auto name = e.text_in(wanted)) return {*name};
  if (auto texts = pickle::arrow_texts(e.document(), *wanted)) return *texts;
  std::vector<std::string> names;
  for (const Estimator& one : e.items(wanted)) {
    const auto name = e.text_in(one.value());
    if (!name) refuse("a column is not chosen by its name");
    names.push_back(*name);
  }
  if (names.empty() && !wanted->is_sequence()) refuse("its columns are chosen by " + pickle::kind_text(*wanted));
  return names;
}

/// The fitted (columns, transformer) pairs of a DataFrameMapper, whose columns were functions before the fit.
std::vector<Estimator> mapped(const Estimator& e) {
  return e.list(e.has("built_features") ? "built_features" : "features");
}

std::string_view numpy_type(pickle::Ref type) {
  if (type->is(pickle::Kind::global)) return type->symbol->name;
  return type->is_text() ? type->text : std::string_view();
}

}  // namespace

std::vector<std::string> mapped_columns(const Estimator& e) {
  std::vector<std::string> all;
  for (const Estimator& one : mapped(e)) {
    const auto parts = one.items(one.value());
    if (parts.empty()) continue;
    const auto names = names_in(e, parts[0].value());
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

Columns data_frame_mapper(Context& c, const Estimator& e, const Columns& x) {
  const pickle::Ref others = e.find("default");
  if (others && !(others->is(pickle::Kind::boolean) && !others->integer))
    refuse("it keeps columns that it does not name", "name them, and set default=False");
  Columns all;
  for (const Estimator& one : mapped(e)) {
    const auto parts = one.items(one.value());
    if (parts.size() < 2) throw Error(Code::bad_source_graph, "a feature has no transformer");
    Columns flow = c.by_names(x, names_in(e, parts[0].value()));
    if (parts[1].is_instance()) {
      flow = c.transform(parts[1], flow);
    } else {
      for (const Estimator& step : one.items(parts[1].value())) flow = c.transform(step, flow);
    }
    all.insert(all.end(), flow.begin(), flow.end());
  }
  return all;
}

Columns domain(Context& c, const Estimator& e, const Columns& x) {
  const std::string invalid = e.text("invalid_value_treatment", "return_invalid");
  const std::string outliers = e.text("outlier_treatment", "as_is");
  if (invalid != "return_invalid" && invalid != "as_is")
    refuse("values that are invalid are treated " + invalid, "return_invalid and as_is are translated");
  if (outliers != "as_is" && outliers != "as_extreme_values")
    refuse("outliers are treated " + outliers, "as_is and as_extreme_values are translated");
  if (const pickle::Ref type = e.find("dtype"); type && pickle::class_name(*type) == "CategoricalDtype")
    refuse("it makes categories of pandas", "encode them with OrdinalEncoder");
  if (e.flag("with_data", true) && invalid == "return_invalid")
    c.notes.add("values that the fit did not see are taken as they are; sklearn2pmml's domains refuse them");
  Columns made = x;
  if (outliers == "as_extreme_values")
    made = c.columns_of(
        c.g.op("Clip", {c.numbers(made), c.number(e.number("low_value")), c.number(e.number("high_value"))}));
  if (!e.has("missing_value_replacement")) return made;
  if (e.has("missing_values")) refuse("missing values are marked by a value of their own");
  const pickle::Ref fill = e.find("missing_value_replacement");
  if (const auto text = e.text_in(fill)) {
    Value* texts = c.texts(made);
    Value* is_missing = c.g.op("Equal", {texts, c.g.constant(Tensor::of_strings({}, {""}))});
    return c.columns_of(c.g.where(is_missing, c.g.constant(Tensor::of_strings({}, {*text})), texts));
  }
  const auto number = e.number_in(fill);
  if (!number) refuse("what replaces missing values is neither text nor number");
  Value* numbers = c.numbers(made);
  return c.columns_of(c.g.where(c.is_nan(numbers), c.number(*number), numbers));
}

Columns several_domains(Context& c, const Estimator& e, const Columns& x) {
  const auto domains = e.list("domains");
  if (std::ssize(domains) != width_of(x)) throw Error(Code::bad_source_graph, "it has not one domain for each column");
  Columns all;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const Columns one = c.select(x, {static_cast<std::int64_t>(i)});
    const Columns made = domains[i].is_instance() ? c.transform(domains[i], one) : one;
    all.insert(all.end(), made.begin(), made.end());
  }
  return all;
}

Columns named_columns(Context& c, const Estimator& e, const Columns& x) {
  const auto names = names_in(e, e.get("columns"));
  if (std::ssize(names) != width_of(x)) throw Error(Code::bad_source_graph, "it has not one name for each column");
  Columns all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    all.push_back(c.select(x, {static_cast<std::int64_t>(i)}).at(0));
    all.back().name = names[i];
  }
  return all;
}

Columns unchanged(Context&, const Estimator&, const Columns& x) { return x; }

Columns power_function(Context& c, const Estimator& e, const Columns& x) {
  return c.columns_of(c.g.op("Pow", {c.numbers(x), c.number(e.number("power"))}));
}

Columns aggregated_columns(Context& c, const Estimator& e, const Columns& x) {
  const std::string function = e.text("function");
  Value* v = c.numbers(x);
  Value* gaps = c.is_nan(v);
  const auto without = [&](double stands_in) { return c.g.where(gaps, c.number(stands_in), v); };
  Value* count = c.sum_rows(c.g.cast(c.g.op("Not", {gaps}), c.elem));
  if (function == "sum") return c.columns_of(c.sum_rows(without(0)));
  if (function == "mean" || function == "avg") return c.columns_of(c.g.div(c.sum_rows(without(0)), count));
  if (function != "min" && function != "max")
    refuse("columns are joined by '" + function + "'", "min, max, mean and sum are translated");
  const Attrs keep = {{"keepdims", 1}};
  Value* edge = function == "min" ? c.g.op("ReduceMin", {without(HUGE_VAL), c.g.ints({1})}, keep)
                                  : c.g.op("ReduceMax", {without(-HUGE_VAL), c.g.ints({1})}, keep);
  return c.columns_of(c.g.where(c.g.op("Equal", {count, c.number(0)}), c.number(std::nan("")), edge));
}

Columns cast_columns(Context& c, const Estimator& e, const Columns& x) {
  const std::string_view type = numpy_type(e.get("dtype"));
  if (type.starts_with("float") || type == "double") return c.columns_of(c.numbers(x));
  if (type.starts_with("int")) return c.columns_of(c.g.cast(c.g.cast(c.numbers(x), DType::i64), c.elem));
  if (type == "str" || type == "object") return x;
  refuse("columns are cast to " + (type.empty() ? pickle::kind_text(*e.get("dtype")) : std::string(type)),
         "float, int and str are translated");
}

}  // namespace ingot::frontends::sklearn
