#pragma once
#include "ingot/formats/boosting/model.h"
#include "ingot/frontends/boosting/ensemble.h"
#include "ingot/frontends/sklearn/estimator.h"

namespace ingot::frontends::sklearn {

/// Makes room for these trees, without a look at their nodes.
void reserve(boosting::TreeSums& sums, const std::vector<Estimator>& trees);
/// sklearn.tree._tree.Tree: leaves hold [outputs * classes] values.
formats::boosting::Tree read_tree(const Estimator& tree);
/// The same with the depth of each leaf, and what its samples would add, as its one value.
formats::boosting::Tree read_isolation_tree(const Estimator& tree);
/// How deep a search among so many samples goes on average before it fails.
double mean_path_length(double samples);
/// How much each feature lowered the impurity; they sum to one.
std::vector<double> read_importances(const Estimator& tree, std::size_t features);
/// A tree of histogram gradient boosting.
formats::boosting::Tree read_histogram_tree(const Estimator& predictor);

}  // namespace ingot::frontends::sklearn
