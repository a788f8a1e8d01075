#pragma once
#include <vector>

#include "ingot/formats/boosting/model.h"

namespace ingot::formats::boosting {

/// What `model.objective` means: the link, and the base scores, which are stored as predictions, as margins.
void set_xgboost_objective(Model& model, std::vector<double> base_scores);

/// The binary form of XGBoost before 3.1.
Model read_xgboost_binary(const Bytes& file);

}  // namespace ingot::formats::boosting
