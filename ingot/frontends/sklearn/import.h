#pragma once
#include <string>
#include <vector>

#include "ingot/formats/pickle/document.h"
#include "ingot/frontends/boosting/ports.h"

namespace ingot::frontends::sklearn {

struct ImportOptions {
  boosting::Wishes wishes{};
  bool is_single = false;  // what scikit-learn computes in double becomes float
};

struct Imported {
  Model model;
  std::vector<std::string> notes{};
};

/// A fitted estimator or pipeline from its pickle. Columns of the data frame that it was fitted on become inputs of
/// their names; else there is one input `X` [N, features]. Outputs: `label` and `probabilities` or `scores` of
/// classifiers, `variable` of others. Throws one Error that lists all classes without a translation.
Imported import_model(const formats::pickle::Document& document, const ImportOptions& options = {});

/// The classes that have a translation, sorted.
std::vector<std::string> translated_classes();

}  // namespace ingot::frontends::sklearn
