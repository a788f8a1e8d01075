// Boosted trees and kernel machines as models.
#include "ingot/frontends/boosting/import.h"

#include "ingot/base/error.h"
#include "ingot/frontends/boosting/prediction.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/builder.h"

namespace ingot::frontends::boosting {
namespace {

namespace files = formats::boosting;

Value* add_features(Model& model, DType elem, std::int64_t features) {
  return model.graph->add_input("X", Type::tensor(elem, Shape{Dim::symbol("N"), Dim(features)}));
}

Value* labelled(GraphBuilder& g, Value* place, ClassNames& names, std::size_t classes) {
  if (!names.texts.empty()) {
    Value* texts = g.constant(Tensor::of_strings({std::ssize(names.texts)}, names.texts));
    return g.op("Gather", {texts, place}, {{"axis", 0}});
  }
  bool counts_up = true;
  if (names.integers.empty())
    for (std::size_t i = 0; i < classes; ++i) names.integers.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < names.integers.size(); ++i)
    counts_up &= names.integers[i] == static_cast<std::int64_t>(i);
  return counts_up ? place : g.op("Gather", {g.ints(names.integers), place}, {{"axis", 0}});
}

}  // namespace

Imported import_model(const files::Model& source, const ImportOptions& options) {
  Imported made{new_model(source.producer), {}};
  const DType elem = source.is_single || options.is_single ? DType::f32 : DType::f64;
  Value* x = add_features(made.model, elem, source.features);
  GraphBuilder g(*made.model.graph);
  g.name_after("trees");
  g.set_metadata({{std::string(kSourceOp), source.objective}});
  const Prediction p = predict(g, x, source, options.is_single);
  ClassNames names{source.class_names, {}};
  for (const double v : source.class_numbers) names.integers.push_back(static_cast<std::int64_t>(v));
  if (p.place) {
    const auto classes = static_cast<std::size_t>(std::max<std::int64_t>(2, source.groups));
    Value* label = labelled(g, p.place, names, classes);
    add_class_outputs(*made.model.graph, label, p.probabilities, p.scores, names, options.wishes);
  } else if (p.labels) {
    add_class_outputs(*made.model.graph, p.labels, p.probabilities, p.scores, {}, options.wishes);
  } else {
    add_output(*made.model.graph, options.wishes.raw_scores ? p.scores : p.values, "variable");
  }
  finish_model(made.model);
  made.notes.push_back("read from " + source.producer +
                       (source.objective.empty() ? "" : ", objective " + source.objective));
  if (!source.feature_names.empty()) {
    std::string all;
    for (const std::string& name : source.feature_names) all += (all.empty() ? "" : ",") + name;
    made.model.metadata.emplace_back("feature_names", all);
  }
  if (source.has_dictionary) made.notes.push_back("categories are given by their numbers in the file's dictionary");
  if (source.best_rounds > 0 && source.best_rounds < source.rounds)
    made.notes.push_back("training ended early; the file's " + std::to_string(source.best_rounds) +
                         " best rounds are used");
  return made;
}

Imported import_libsvm(const files::LibsvmModel& source, const ImportOptions& options) {
  Imported made{new_model("libsvm"), {}};
  Value* x = add_features(made.model, options.is_single ? DType::f32 : DType::f64, source.features);
  GraphBuilder g(*made.model.graph);
  g.name_after("svm");
  KernelMachine machine;
  machine.kernel = source.kernel;
  machine.gamma = source.gamma;
  machine.coef0 = source.coef0;
  machine.degree = source.degree;
  machine.features = source.features;
  machine.vectors = source.vectors;
  machine.dual = source.coefficients;
  for (const double rho : source.rho) machine.intercepts.push_back(-rho);
  const bool is_classifier = source.svm_type == "c_svc" || source.svm_type == "nu_svc";
  if (!is_classifier) {
    Value* decision = pair_decisions(g, x, machine);
    if (source.svm_type == "one_class") {
      Value* is_inside = g.op("Greater", {decision, g.scalar(0, decision->type.elem)});
      Value* label = g.squeeze(g.where(is_inside, g.index(1), g.index(-1)), {1});
      add_class_outputs(*made.model.graph, label, nullptr, decision, {}, options.wishes);
    } else {
      add_output(*made.model.graph, decision, "variable");
    }
    finish_model(made.model);
    return made;
  }
  machine.support_counts = source.support_counts;
  machine.prob_a = source.prob_a;
  machine.prob_b = source.prob_b;
  if (std::ssize(source.labels) != source.classes || std::ssize(source.support_counts) != source.classes)
    throw Error(Code::bad_source_graph, "the model does not have labels and vectors for each class");
  Value* decisions = pair_decisions(g, x, machine);
  Value* place = g.op("ArgMax", {pair_votes(g, decisions, source.classes)}, {{"axis", 1}, {"keepdims", 0}});
  Value* probabilities = nullptr;
  if (!source.prob_a.empty()) {
    if (source.prob_b.size() != source.prob_a.size())
      throw Error(Code::bad_source_graph, "the model does not have a probB for each probA");
    if (source.classes == 2) {  // current libsvm takes the sigmoid itself
      Value* fit = g.add(g.mul(decisions, source.prob_a[0]), source.prob_b.at(0));
      Value* p =
          g.op("Clip", {g.op("Sigmoid", {g.neg(fit)}), g.scalar(1e-7, x->type.elem), g.scalar(1 - 1e-7, x->type.elem)});
      probabilities = g.concat({p, g.sub(1.0, p)}, 1);
    } else {
      probabilities = coupled_probabilities(g, decisions, machine, source.classes);
    }
    place = g.op("ArgMax", {probabilities}, {{"axis", 1}, {"keepdims", 0}});
    made.notes.push_back("labels follow the probabilities, as svm-predict -b 1 has it");
  }
  ClassNames names{{}, source.labels};
  Value* label = labelled(g, place, names, source.labels.size());
  add_class_outputs(*made.model.graph, label, probabilities, decisions, names, options.wishes);
  finish_model(made.model);
  return made;
}

Imported import_liblinear(const files::LiblinearModel& source, const ImportOptions& options) {
  Imported made{new_model("liblinear"), {}};
  const DType elem = options.is_single ? DType::f32 : DType::f64;
  Value* x = add_features(made.model, elem, source.features);
  GraphBuilder g(*made.model.graph);
  g.name_after("linear");
  const auto inner = static_cast<std::size_t>(source.features * source.columns);
  const std::vector<double> weights(source.weights.begin(),
                                    source.weights.begin() + static_cast<std::ptrdiff_t>(inner));
  Value* sum = g.op("MatMul", {x, constant_of(g, {source.features, source.columns}, weights, elem)});
  if (source.bias >= 0) {
    std::vector<double> bias(source.weights.begin() + static_cast<std::ptrdiff_t>(inner), source.weights.end());
    for (double& b : bias) b *= source.bias;
    sum = g.add(sum, constant_of(g, {1, source.columns}, bias, elem));
  }
  if (source.labels.empty()) {
    if (source.solver == "ONECLASS_SVM") {
      Value* decision = g.sub(sum, source.rho);
      Value* is_inside = g.op("Greater", {decision, g.scalar(0, elem)});
      add_class_outputs(*made.model.graph, g.squeeze(g.where(is_inside, g.index(1), g.index(-1)), {1}), nullptr,
                        decision, {}, options.wishes);
    } else {
      add_output(*made.model.graph, sum, "variable");
    }
    finish_model(made.model);
    return made;
  }
  ClassNames names{{}, source.labels};
  Value* place = nullptr;
  if (source.columns == 1)  // a positive sum means the first label
    place = g.squeeze(g.cast(g.op("LessOrEqual", {sum, g.scalar(0, elem)}), DType::i64), {1});
  else
    place = g.op("ArgMax", {sum}, {{"axis", 1}, {"keepdims", 0}});
  Value* probabilities = nullptr;
  if (source.solver.ends_with("_LR") || source.solver.ends_with("_LR_DUAL")) {
    Value* p = g.op("Sigmoid", {sum});
    probabilities = source.columns == 1 ? g.concat({p, g.sub(1.0, p)}, 1) : g.div(p, g.reduce_sum(p, {1}));
  }
  Value* label = labelled(g, place, names, names.integers.size());
  add_class_outputs(*made.model.graph, label, probabilities, sum, names, options.wishes);
  finish_model(made.model);
  return made;
}

std::vector<std::string> translated_objectives() {
  return {"CatBoost CrossEntropy",
          "CatBoost Logloss",
          "CatBoost MultiClass",
          "CatBoost MultiClassOneVsAll",
          "CatBoost Poisson",
          "CatBoost RMSE",
          "CatBoost Tweedie",
          "LightGBM binary",
          "LightGBM cross_entropy",
          "LightGBM cross_entropy_lambda",
          "LightGBM fair",
          "LightGBM gamma",
          "LightGBM huber",
          "LightGBM lambdarank",
          "LightGBM mape",
          "LightGBM multiclass",
          "LightGBM multiclassova",
          "LightGBM poisson",
          "LightGBM quantile",
          "LightGBM rank_xendcg",
          "LightGBM regression",
          "LightGBM regression_l1",
          "LightGBM tweedie",
          "XGBoost binary:hinge",
          "XGBoost binary:logistic",
          "XGBoost binary:logitraw",
          "XGBoost count:poisson",
          "XGBoost multi:softmax",
          "XGBoost multi:softprob",
          "XGBoost rank:map",
          "XGBoost rank:ndcg",
          "XGBoost rank:pairwise",
          "XGBoost reg:absoluteerror",
          "XGBoost reg:expectileerror",
          "XGBoost reg:gamma",
          "XGBoost reg:linear",
          "XGBoost reg:logistic",
          "XGBoost reg:pseudohubererror",
          "XGBoost reg:quantileerror",
          "XGBoost reg:squarederror",
          "XGBoost reg:squaredlogerror",
          "XGBoost reg:tweedie",
          "XGBoost survival:aft",
          "XGBoost survival:cox"};
}

}  // namespace ingot::frontends::boosting
