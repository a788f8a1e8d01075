#pragma once
#include "ingot/formats/boosting/model.h"
#include "ingot/formats/boosting/svm.h"
#include "ingot/frontends/boosting/ports.h"

namespace ingot::frontends::boosting {

struct ImportOptions {
  Wishes wishes{};
  bool is_single = false;  // what is computed in double becomes float
};

struct Imported {
  Model model;
  std::vector<std::string> notes{};
};

/// A boosted model: input `X` [N, features]; outputs `label` and `probabilities`, or `variable`.
Imported import_model(const formats::boosting::Model& source, const ImportOptions& options = {});
Imported import_libsvm(const formats::boosting::LibsvmModel& source, const ImportOptions& options = {});
Imported import_liblinear(const formats::boosting::LiblinearModel& source, const ImportOptions& options = {});

/// The objectives that have a translation, as "XGBoost binary:logistic", sorted.
std::vector<std::string> translated_objectives();

}  // namespace ingot::frontends::boosting
