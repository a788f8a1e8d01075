// From a pickle to a model: which estimator, its inputs, its outputs.
#include "ingot/frontends/sklearn/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/frontends/problems.h"
#include "ingot/frontends/sklearn/context.h"
#include "ingot/frontends/sklearn/estimators.h"
#include "ingot/frontends/sklearn/table.h"

namespace ingot::frontends::sklearn {
namespace {

constexpr std::size_t kMostVisited = 2'000'000;

/// What to do about classes of libraries that people put into pipelines.
struct Remedy {
  std::string_view module, text;
};
constexpr Remedy kRemedies[] = {
    {"category_encoders.", "fit it with scikit-learn's OneHotEncoder, OrdinalEncoder or TargetEncoder"},
    {"feature_engine.", "fit it with scikit-learn's own transformers"},
    {"h2o.", "H2O keeps the model outside of the file: export it as MOJO from H2O"},
    {"imblearn.", "samplers change training alone: put the fitted steps into a Pipeline of scikit-learn"},
    {"sklearn2pmml.decoration.", "it checks, describes or names columns only: fit without it"},
    {"sklearn2pmml.preprocessing.",
     "use a transformer of scikit-learn, or write this step as a program over data frames"},
    {"statsmodels.", "fit it with scikit-learn's model of the same kind"},
};

std::string why_unknown(const pickle::Symbol* symbol) {
  const std::string_view module = symbol ? std::string_view(symbol->module) : std::string_view();
  for (const Remedy& remedy : kRemedies)
    if (module.starts_with(remedy.module) || module == remedy.module.substr(0, remedy.module.size() - 1))
      return fmt::format("it has no translation: {}", remedy.text);
  return module.starts_with("sklearn.") ? "it has no translation"
                                        : "it has no translation, and its code is not executed";
}

/// The steps of pipelines and the parts of unions: pairs or triples of a name and an estimator.
std::vector<pickle::Ref> steps_in(const pickle::Value& value) {
  std::vector<pickle::Ref> steps;
  for (const char* name : {"steps", "transformer_list", "transformers_"})
    if (const pickle::Ref list = pickle::attribute(value, name))
      for (const pickle::Ref one : pickle::items_of(*list))
        if (const auto parts = pickle::items_of(*one); parts.size() >= 2 && pickle::class_of(*parts[1]))
          steps.push_back(parts[1]);
  return steps;
}

/// All fitted estimators and steps that have no row, told at once. Classes of other libraries do not say by themselves
/// that they are estimators, but where they stand does.
void require_known(pickle::Ref root) {
  Problems problems;
  std::unordered_set<pickle::Ref> seen, told;
  std::vector<pickle::Ref> open = {root};
  const auto visit = [&](std::span<const pickle::Ref> values) {
    open.insert(open.end(), values.begin(), values.end());
  };
  const auto require_row = [&](pickle::Ref value) {
    const std::string_view name = pickle::class_name(*value);
    if (find_row(*value) || !told.insert(value).second) return;
    problems.add(name, pickle::kind_text(*value), why_unknown(pickle::class_of(*value)), Code::unsupported_operator);
  };
  while (!open.empty() && seen.size() < kMostVisited) {
    const pickle::Ref value = open.back();
    open.pop_back();
    if (!seen.insert(value).second) continue;
    visit(value->items);
    if (!value->is(pickle::Kind::object)) continue;
    visit(value->object->items);
    visit(value->object->entries);
    visit(value->object->states);
    if (value->object->nested) open.push_back(value->object->nested);
    const std::string_view name = pickle::class_name(*value);
    if (find_row(*value))
      for (const pickle::Ref step : steps_in(*value)) require_row(step);
    if (pickle::attribute(*value, "_sklearn_version") && !name.starts_with('_')) require_row(value);
  }
  problems.throw_if_any(
      "'ingot ops --from sklearn' lists the classes that have one; steps before and behind others can "
      "be written to files of their own, and their graphs be joined by 'ingot merge'");
}

/// The estimator that a pickle holds: itself, or the only one within a dict or list.
Estimator estimator_in(const pickle::Document& document) {
  const Estimator root(document, document.root);
  if (find_row(*root.value())) return root;
  std::vector<pickle::Ref> inner;
  const auto entries = pickle::entries_of(*document.root);
  for (std::size_t i = 1; i < entries.size(); i += 2) inner.push_back(entries[i]);
  for (const pickle::Ref item : pickle::items_of(*document.root)) inner.push_back(item);
  std::erase_if(inner, [](pickle::Ref item) { return !find_row(*item); });
  if (inner.size() == 1) return {document, inner[0]};
  if (inner.empty()) (void)row_of(root);
  std::string names;
  for (const pickle::Ref item : inner) names += (names.empty() ? "" : ", ") + std::string(pickle::class_name(*item));
  refuse("the file holds several estimators, of which none is the model: " + names,
         "make a Pipeline of them, or write each to a file of its own");
}

/// Who sees the input of an estimator that hands it on; nothing: it looks itself.
std::optional<Estimator> next_in(const Estimator& e) {
  if (e.has("feature_names_in_") || e.has("_feature_names_in")) return std::nullopt;
  if (e.name().starts_with("RFE")) return std::nullopt;  // its estimator sees the features that were chosen
  for (const char* name : {"best_estimator_", "regressor_", "estimator_", "selector_", "transformer_"})
    if (e.name() != "TransformedTargetRegressor" || name != std::string_view("transformer_"))
      if (e.has(name) && e.child(name).is_instance()) return e.child(name);
  for (const char* name : {"steps", "transformer_list"}) {
    if (!e.has(name)) continue;
    for (const Estimator& step : e.list(name)) {
      const auto parts = step.items(step.value());
      if (parts.size() >= 2 && parts[1].is_instance()) return parts[1];
    }
  }
  return std::nullopt;
}

constexpr int kMostHandedOn = 20;

/// Who sees the input first.
Estimator first_in(const Estimator& e) {
  Estimator first = e;
  for (int depth = 0; depth < kMostHandedOn; ++depth) {
    const auto next = next_in(first);
    if (!next) break;
    first = *next;
  }
  return first;
}

/// The columns of the data frame that a DataFrameMapper sees, alone or beside others in a union.
void add_frame_columns(const Estimator& e, std::vector<std::string>& names, bool& has_mapper, int depth = 0) {
  if (depth > kMostHandedOn) return;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& name : more)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  if (e.name() == "DataFrameMapper") {
    has_mapper = true;
    add(mapped_columns(e));
  } else if (e.name() == "FeatureUnion" && !e.has("feature_names_in_")) {
    for (const pickle::Ref one : steps_in(*e.value()))
      add_frame_columns({e.document(), one}, names, has_mapper, depth + 1);
  } else if (const auto next = next_in(e)) {
    add_frame_columns(*next, names, has_mapper, depth + 1);
  } else {
    add(e.feature_names());
  }
}

std::vector<std::string> frame_columns(const Estimator& root) {
  std::vector<std::string> names;
  bool has_mapper = false;
  add_frame_columns(root, names, has_mapper);
  return has_mapper ? names : std::vector<std::string>();
}

/// How many columns the estimator was fitted on, from what it keeps where it does not say so.
std::int64_t width_of_input(const Estimator& e, int depth = 0) {
  for (const char* name : {"CountVectorizer", "HashingVectorizer", "IsotonicRegression", "LabelBinarizer",
                           "LabelEncoder", "TfidfVectorizer"})
    if (e.name() == name) return 1;
  if (e.name().starts_with("Dummy") || e.name() == "FeatureHasher") return 0;  // it takes any
  if (e.name().starts_with("RFE")) return e.matrix("support_").columns;
  if (const auto count = e.feature_count()) return *count;
  for (const char* name :
       {"coef_", "support_vectors_", "theta_", "components_", "_fit_X", "cluster_centers_", "mean_", "scale_",
        "statistics_", "feature_log_prob_", "means_", "X_train_", "X_fit_", "centroids_", "lambdas_"})
    if (e.has(name)) return e.matrix(name).columns;
  for (const char* name : {"categories_", "bin_edges_"})
    if (e.has(name)) return std::ssize(e.list(name));
  if (e.has("coefs_")) return e.to_matrix(e.list("coefs_").at(0).value()).rows;
  if (e.has("tree_")) {
    const auto& args = e.child("tree_").value()->object->args;
    if (args && !args->items.empty() && args->items[0]->is(pickle::Kind::integer)) return args->items[0]->integer;
  }
  if (e.has("_Booster") || e.name() == "Booster" || e.name().starts_with("CatBoost")) return booster_features(e);
  if (depth < 20)
    for (const char* name : {"estimators_", "calibrated_classifiers_"})
      if (e.has(name) && !e.list(name).empty()) return width_of_input(first_in(e.list(name)[0]), depth + 1);
  refuse("how many columns it was fitted on is not stored", "write the file with scikit-learn 0.24 or newer");
}

bool holds_text_categories(const pickle::Document& document, pickle::Ref root) {
  std::unordered_set<pickle::Ref> seen;
  std::vector<pickle::Ref> open = {root};
  while (!open.empty() && seen.size() < kMostVisited) {
    const pickle::Ref value = open.back();
    open.pop_back();
    if (!seen.insert(value).second) continue;
    open.insert(open.end(), value->items.begin(), value->items.end());
    if (!value->is(pickle::Kind::object)) continue;
    open.insert(open.end(), value->object->states.begin(), value->object->states.end());
    const Estimator e(document, value);
    if (!e.has("categories_")) continue;
    for (const Estimator& one : e.list("categories_"))
      if (e.to_labels(one.value()).is_text()) return true;
  }
  return false;
}

/// The columns of the data frame that a pipeline of sklearn2pmml was fitted on.
std::vector<std::string> active_fields(const Estimator& pipeline) {
  const pickle::Ref fields = pipeline.find("active_fields");
  const auto array = fields ? pickle::read_array(pipeline.document(), *fields) : std::nullopt;
  return array && array->is_text() ? pickle::to_texts(pipeline.document(), *array) : std::vector<std::string>();
}

Columns add_inputs(Context& c, const Estimator& root) {
  const Estimator first = first_in(root);
  auto names = frame_columns(root);
  if (names.empty()) names = first.feature_names();
  if (names.empty()) names = booster_columns(first);
  if (names.empty() && root.name() == "PMMLPipeline" && first.name() != "DictVectorizer") names = active_fields(root);
  if (first.name() == "DictVectorizer")
    for (const DictColumn& column : dict_columns(first)) names.push_back(column.name);
  const bool is_mixed =
      names.empty() && first.name() == "ColumnTransformer" && holds_text_categories(c.document, first.value());
  if (is_mixed)
    for (std::int64_t i = 0; i < width_of_input(first); ++i) names.push_back(fmt::format("x{}", i));
  if (names.empty()) return c.add_input("X", std::max<std::int64_t>(0, width_of_input(first)));
  Columns columns;
  for (const std::string& name : names) {
    const Columns one = c.add_input(name.empty() ? "column" : name, 1);
    columns.insert(columns.end(), one.begin(), one.end());
  }
  return columns;
}

void add_class_outputs(Context& c, Graph& graph, const Result& result, const boosting::Wishes& wishes) {
  boosting::ClassNames names;
  if (result.classes.is_text())
    names.texts = result.classes.texts;
  else
    for (const double v : result.classes.numbers) names.integers.push_back(static_cast<std::int64_t>(v));
  boosting::add_class_outputs(graph, c.label_of(result), result.probabilities, result.scores, names, wishes);
  for (std::size_t i = 0; i < result.more_probabilities.size() && !wishes.raw_scores; ++i)
    boosting::add_output(graph, result.more_probabilities[i], fmt::format("probabilities_{}", i + 1));
}

void add_outputs(Context& c, Graph& graph, const Result& result, const boosting::Wishes& wishes) {
  if (result.values)
    boosting::add_output(graph, result.values, "variable");
  else
    add_class_outputs(c, graph, result, wishes);
  if (wishes.decision_path && !result.paths) refuse("it is no tree and no forest", "leave --decision-path out");
  if (result.paths) boosting::add_output(graph, result.paths, "decision_path");
}

}  // namespace

Imported import_model(const pickle::Document& document, const ImportOptions& options) {
  const Estimator root = estimator_in(document);
  require_known(root.value());
  Imported made{boosting::new_model(std::string(root.name())), {}};
  Graph& graph = *made.model.graph;
  Context c(graph, document,
            {.elem = options.is_single ? DType::f32 : DType::f64, .wants_paths = options.wishes.decision_path});
  const Columns x = add_inputs(c, root);
  const Row& row = row_of(root);
  bool predicts = row.predict != nullptr;
  if (predicts && root.name() == "Pipeline") {  // one that ends in a transformer
    const auto steps = root.list("steps");
    const auto last = steps.empty() ? std::vector<Estimator>() : steps.back().items(steps.back().value());
    const Row* end = last.size() == 2 ? find_row(*last[1].value()) : nullptr;
    predicts = end && end->predict;
  }
  if (predicts) {
    add_outputs(c, graph, c.predict(root, x), options.wishes);
  } else {
    boosting::add_output(graph, c.any(c.transform(root, x)), "variable");
  }
  c.finish_inputs();
  boosting::finish_model(made.model);
  if (c.couples_rows) made.model.metadata.push_back({"ingot.rows", "coupled"});
  made.notes = c.notes.take();
  if (const std::string version = root.text("_sklearn_version"); !version.empty())
    made.notes.push_back("read from a file of scikit-learn " + version);
  return made;
}

std::vector<std::string> translated_classes() {
  std::vector<std::string> names;
  for (const Row& row : all_rows())
    if (!row.name.starts_with('_')) names.emplace_back(row.name);
  return names;
}

}  // namespace ingot::frontends::sklearn
