#pragma once
#include <string>
#include <vector>

#include "ingot/ir/model.h"

namespace ingot::frontends::boosting {

/// What a user may want of a model that predicts.
struct Wishes {
  bool raw_scores = false;     // the decision function in place of probabilities
  bool zipmap = false;         // probabilities as a map from class to number
  bool decision_path = false;  // which nodes of its trees a row passes, of scikit-learn's
};

/// The value becomes an output of this name.
void add_output(Graph& graph, Value* value, const std::string& name);
/// Labels of classes: texts, or else integers.
struct ClassNames {
  std::vector<std::string> texts{};
  std::vector<std::int64_t> integers{};
};
/// Outputs `label` and `probabilities` or `scores`, as wished. Any of them may be null.
void add_class_outputs(Graph& graph, Value* label, Value* probabilities, Value* scores, const ClassNames& names,
                       const Wishes& wishes);

/// An empty model in the newest operator sets.
Model new_model(const std::string& name);
/// Drops what is not read, names nodes, imports the domains in use.
void finish_model(Model& model);

}  // namespace ingot::frontends::boosting
