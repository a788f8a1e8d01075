#pragma once
#include "ingot/formats/boosting/model.h"
#include "ingot/formats/boosting/svm.h"
#include "ingot/frontends/numbers.h"
#include "ingot/ops/builder.h"

namespace ingot::frontends::boosting {

/// What a model says of rows of features. What it does not say is null.
struct Prediction {
  Value* scores = nullptr;         // [N, outputs], before the link; of two classes one column
  Value* values = nullptr;         // [N, outputs]: a regressor's
  Value* probabilities = nullptr;  // [N, classes]
  Value* place = nullptr;          // [N] int64: of the class
  Value* labels = nullptr;         // [N, outputs] int64, where each output is a yes or no of its own
};

/// A boosted model on x [N, features] of any float type. Its numbers are of the type that the library computes in, or
/// float where `is_single`.
Prediction predict(GraphBuilder& g, Value* x, const formats::boosting::Model& model, bool is_single = false);

/// What a kernel machine knows: all of libsvm's decisions follow from it.
struct KernelMachine {
  std::string kernel;  // linear, poly, rbf, sigmoid, precomputed
  double gamma = 0, coef0 = 0;
  std::int64_t degree = 3;
  std::int64_t features = 0;
  Numbers vectors;                             // [count, features], those of a class together
  std::vector<std::int64_t> chosen{};          // in place of vectors, where x is K already: their columns
  std::vector<double> dual;                    // [classes - 1, count]
  std::vector<double> intercepts;              // per pair of classes, added
  std::vector<std::int64_t> support_counts{};  // per class; empty: no classifier
  std::vector<double> prob_a{}, prob_b{};

  std::size_t count() const { return features ? vectors.size() / static_cast<std::size_t>(features) : chosen.size(); }
};

/// K(x, v) [N, count].
Value* kernel_matrix(GraphBuilder& g, Value* x, const KernelMachine& machine);
/// The decisions [N, pairs] of all pairs i < j of classes: positive for i. Without classes [N, 1].
Value* pair_decisions(GraphBuilder& g, Value* x, const KernelMachine& machine);
/// How many pairs each class wins, [N, classes], in the type of the decisions.
Value* pair_votes(GraphBuilder& g, Value* decisions, std::int64_t classes);
/// libsvm's probabilities [N, classes] from the decisions of all pairs, by its iteration.
Value* coupled_probabilities(GraphBuilder& g, Value* decisions, const KernelMachine& machine, std::int64_t classes);

}  // namespace ingot::frontends::boosting
