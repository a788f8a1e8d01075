#pragma once
#include "ingot/frontends/sklearn/context.h"

/// The functions of the table, by the files that they are in, and what these share.
namespace ingot::frontends::sklearn {

// linear.cpp
Value* two_columns(Context& c, Value* second);  // [1 - p, p]
Labels classes_of(const Estimator& e);
Result from_scores(Context& c, Value* scores, Labels classes);
Result from_probabilities(Context& c, Value* probabilities, Labels classes);
Result linear_regressor(Context& c, const Estimator& e, const Columns& x);
Result log_linear_regressor(Context& c, const Estimator& e, const Columns& x);
Result linear_classifier(Context& c, const Estimator& e, const Columns& x);
Result logistic_regression(Context& c, const Estimator& e, const Columns& x);
Result sgd_classifier(Context& c, const Estimator& e, const Columns& x);
Result pls_regressor(Context& c, const Estimator& e, const Columns& x);
Columns pls_transform(Context& c, const Estimator& e, const Columns& x);
Result linear_discriminant(Context& c, const Estimator& e, const Columns& x);
Columns discriminant_transform(Context& c, const Estimator& e, const Columns& x);
Result quadratic_discriminant(Context& c, const Estimator& e, const Columns& x);
Result kernel_ridge(Context& c, const Estimator& e, const Columns& x);

// bayes.cpp
Result gaussian_bayes(Context& c, const Estimator& e, const Columns& x);
Result multinomial_bayes(Context& c, const Estimator& e, const Columns& x);
Result complement_bayes(Context& c, const Estimator& e, const Columns& x);
Result bernoulli_bayes(Context& c, const Estimator& e, const Columns& x);
Result categorical_bayes(Context& c, const Estimator& e, const Columns& x);

// trees.cpp
std::vector<Labels> classes_by_output(const Estimator& e, std::size_t outputs);
Result several_outputs(Context& c, Value* all, const std::vector<Labels>& classes, std::size_t width);
Result outlier_result(Context& c, Value* decision);  // 1 where the decision [N, 1] is not negative, else -1
Result tree_regressor(Context& c, const Estimator& e, const Columns& x);
Result tree_classifier(Context& c, const Estimator& e, const Columns& x);
Columns leaf_embedding(Context& c, const Estimator& e, const Columns& x);
Result isolation_forest(Context& c, const Estimator& e, const Columns& x);
/// How much each feature helped a tree or a forest; empty: it is none.
std::vector<double> tree_importances(const Estimator& e);

// boosted.cpp
Result boosting_classifier(Context& c, const Estimator& e, const Columns& x);
Result boosting_regressor(Context& c, const Estimator& e, const Columns& x);
Result histogram_classifier(Context& c, const Estimator& e, const Columns& x);
Result histogram_regressor(Context& c, const Estimator& e, const Columns& x);
Result xgboost_model(Context& c, const Estimator& e, const Columns& x);
/// How many columns a model of XGBoost or LightGBM takes.
std::int64_t booster_features(const Estimator& e);
/// The columns of the data frame that XGBoost's wrapper was fitted on; empty: it was none.
std::vector<std::string> booster_columns(const Estimator& e);
Result lightgbm_model(Context& c, const Estimator& e, const Columns& x);
Result catboost_model(Context& c, const Estimator& e, const Columns& x);

// machines.cpp
Result support_classifier(Context& c, const Estimator& e, const Columns& x);
Result support_regressor(Context& c, const Estimator& e, const Columns& x);
Result one_class_machine(Context& c, const Estimator& e, const Columns& x);
Result sgd_one_class(Context& c, const Estimator& e, const Columns& x);
Result nearest_classifier(Context& c, const Estimator& e, const Columns& x);
Result nearest_regressor(Context& c, const Estimator& e, const Columns& x);
Result radius_classifier(Context& c, const Estimator& e, const Columns& x);
Result radius_regressor(Context& c, const Estimator& e, const Columns& x);
Result nearest_centroid(Context& c, const Estimator& e, const Columns& x);
Result label_propagation(Context& c, const Estimator& e, const Columns& x);
/// 1 / distance, or 1 for exact matches alone if there are any; null: all weigh the same.
Value* neighbour_weights(Context& c, const Estimator& e, Value* distance);
Result local_outlier(Context& c, const Estimator& e, const Columns& x);
Result network_classifier(Context& c, const Estimator& e, const Columns& x);
Result network_regressor(Context& c, const Estimator& e, const Columns& x);

// scale.cpp
Value* row_normalised(Context& c, Value* v, const std::string& norm);
/// numpy.interp of x [N, 1] over ascending knots.
Value* interpolated(Context& c, Value* x, const std::vector<double>& knots, const std::vector<double>& values);
Value* centred_kernel(Context& c, const Estimator& centerer, Value* kernel);
Columns standard_scaler(Context& c, const Estimator& e, const Columns& x);
Columns min_max_scaler(Context& c, const Estimator& e, const Columns& x);
Columns max_abs_scaler(Context& c, const Estimator& e, const Columns& x);
Columns normalizer(Context& c, const Estimator& e, const Columns& x);
Columns binarizer(Context& c, const Estimator& e, const Columns& x);
Columns power_transformer(Context& c, const Estimator& e, const Columns& x);
Columns quantile_transformer(Context& c, const Estimator& e, const Columns& x);
Columns polynomial_features(Context& c, const Estimator& e, const Columns& x);
Columns bins_discretizer(Context& c, const Estimator& e, const Columns& x);
Columns function_transformer(Context& c, const Estimator& e, const Columns& x);
Columns kernel_centerer(Context& c, const Estimator& e, const Columns& x);

// encode.cpp
Columns one_hot_columns(Context& c, const Estimator& e, const Columns& x);
Columns ordinal_columns(Context& c, const Estimator& e, const Columns& x);
Columns target_encoder(Context& c, const Estimator& e, const Columns& x);
Columns label_binarizer(Context& c, const Estimator& e, const Columns& x);
Columns label_encoder(Context& c, const Estimator& e, const Columns& x);
Columns missing_indicator(Context& c, const Estimator& e, const Columns& x);
Columns simple_imputer(Context& c, const Estimator& e, const Columns& x);
Columns iterative_imputer(Context& c, const Estimator& e, const Columns& x);

// reduce.cpp
/// The kernel that `kernel`, `gamma`, `degree` and `coef0` of the estimator name: K(x, points) [N, rows].
Value* named_kernel(Context& c, const Estimator& e, Value* x, const Matrix& points);
Columns principal_components(Context& c, const Estimator& e, const Columns& x);
Columns projection(Context& c, const Estimator& e, const Columns& x);
Columns independent_components(Context& c, const Estimator& e, const Columns& x);
Columns factor_analysis(Context& c, const Estimator& e, const Columns& x);
Columns sparse_components(Context& c, const Estimator& e, const Columns& x);
Columns kernel_components(Context& c, const Estimator& e, const Columns& x);
Columns nystroem(Context& c, const Estimator& e, const Columns& x);
Columns fourier_features(Context& c, const Estimator& e, const Columns& x);
Columns skewed_features(Context& c, const Estimator& e, const Columns& x);
Columns boltzmann_machine(Context& c, const Estimator& e, const Columns& x);
Columns univariate_selection(Context& c, const Estimator& e, const Columns& x);
Columns variance_selection(Context& c, const Estimator& e, const Columns& x);
Columns supported_selection(Context& c, const Estimator& e, const Columns& x);
Columns model_selection(Context& c, const Estimator& e, const Columns& x);
Result supported_predictor(Context& c, const Estimator& e, const Columns& x);

// cluster.cpp
Result nearest_center(Context& c, const Estimator& e, const Columns& x);
Columns center_distances(Context& c, const Estimator& e, const Columns& x);
Result bisecting_clusters(Context& c, const Estimator& e, const Columns& x);
Result elliptic_envelope(Context& c, const Estimator& e, const Columns& x);
Result birch(Context& c, const Estimator& e, const Columns& x);
Result gaussian_mixture(Context& c, const Estimator& e, const Columns& x);
Result gaussian_process(Context& c, const Estimator& e, const Columns& x);
Result laplace_classifier(Context& c, const Estimator& e, const Columns& x);
Result gaussian_process_classifier(Context& c, const Estimator& e, const Columns& x);

// ensembles.cpp
Value* value_of(const Result& result);
Value* isotonic_values(Context& c, const Estimator& e, Value* score);
Value* inverse_transformed(Context& c, const Estimator& transformer, Value* y);
Columns stacked_columns(Context& c, const Estimator& e, const Columns& x);
Result voting_classifier(Context& c, const Estimator& e, const Columns& x);
Result voting_regressor(Context& c, const Estimator& e, const Columns& x);
Result stacking(Context& c, const Estimator& e, const Columns& x);
Result bagging_classifier(Context& c, const Estimator& e, const Columns& x);
Result bagging_regressor(Context& c, const Estimator& e, const Columns& x);
Result ada_boost_classifier(Context& c, const Estimator& e, const Columns& x);
Result ada_boost_regressor(Context& c, const Estimator& e, const Columns& x);
Result isotonic_regressor(Context& c, const Estimator& e, const Columns& x);
Result calibrated_classifier(Context& c, const Estimator& e, const Columns& x);
Result one_against_rest_classifier(Context& c, const Estimator& e, const Columns& x);
Result one_against_one_classifier(Context& c, const Estimator& e, const Columns& x);
Result output_code_classifier(Context& c, const Estimator& e, const Columns& x);
Result multi_output(Context& c, const Estimator& e, const Columns& x);
Result estimator_chain(Context& c, const Estimator& e, const Columns& x);
Result transformed_target(Context& c, const Estimator& e, const Columns& x);
Result dummy_classifier(Context& c, const Estimator& e, const Columns& x);
Result constant_predictor(Context& c, const Estimator& e, const Columns& x);
Result dummy_regressor(Context& c, const Estimator& e, const Columns& x);

// derive.cpp
Columns spline_transformer(Context& c, const Estimator& e, const Columns& x);
Columns chi2_features(Context& c, const Estimator& e, const Columns& x);
Columns agglomeration(Context& c, const Estimator& e, const Columns& x);
Columns count_sketch(Context& c, const Estimator& e, const Columns& x);
Columns neighbour_imputer(Context& c, const Estimator& e, const Columns& x);

// factorize.cpp
Columns nonnegative_factors(Context& c, const Estimator& e, const Columns& x);
Columns minibatch_factors(Context& c, const Estimator& e, const Columns& x);
Columns topic_shares(Context& c, const Estimator& e, const Columns& x);

// hashing.cpp
Columns hashing_vectorizer(Context& c, const Estimator& e, const Columns& x);
Columns feature_hasher(Context& c, const Estimator& e, const Columns& x);
Columns dict_vectorizer(Context& c, const Estimator& e, const Columns& x);
/// A key of the dictionaries that a DictVectorizer reads, and the features that are made of it.
struct DictColumn {
  std::string name{};
  std::vector<std::int64_t> number_places{}, category_places{};
  std::vector<std::string> categories{};
};
std::vector<DictColumn> dict_columns(const Estimator& e);

// text.cpp
Columns count_vectorizer(Context& c, const Estimator& e, const Columns& x);
Columns tfidf_transformer(Context& c, const Estimator& e, const Columns& x);
Columns tfidf_vectorizer(Context& c, const Estimator& e, const Columns& x);

// compose.cpp
Columns pipeline_transform(Context& c, const Estimator& e, const Columns& x);
Result pipeline_predict(Context& c, const Estimator& e, const Columns& x);
Columns column_transformer(Context& c, const Estimator& e, const Columns& x);
Columns feature_union(Context& c, const Estimator& e, const Columns& x);
Result inner_predict(Context& c, const Estimator& e, const Columns& x);
Columns inner_transform(Context& c, const Estimator& e, const Columns& x);
Result threshold_classifier(Context& c, const Estimator& e, const Columns& x);

// frames.cpp
/// The columns that a DataFrameMapper reads, some of them several times.
std::vector<std::string> mapped_columns(const Estimator& e);
Columns data_frame_mapper(Context& c, const Estimator& e, const Columns& x);
Columns domain(Context& c, const Estimator& e, const Columns& x);
Columns several_domains(Context& c, const Estimator& e, const Columns& x);
Columns named_columns(Context& c, const Estimator& e, const Columns& x);
Columns unchanged(Context& c, const Estimator& e, const Columns& x);
Columns power_function(Context& c, const Estimator& e, const Columns& x);
/// One column of the least, the most, the mean or the sum of those of a row that are not missing.
Columns aggregated_columns(Context& c, const Estimator& e, const Columns& x);
Columns cast_columns(Context& c, const Estimator& e, const Columns& x);

}  // namespace ingot::frontends::sklearn
