#pragma once
#include <span>

#include "ingot/frontends/sklearn/context.h"
#include "ingot/frontends/translator.h"

namespace ingot::frontends::sklearn {

using Predict = Result(Context&, const Estimator&, const Columns&);
using Transform = Columns(Context&, const Estimator&, const Columns&);

/// A class of scikit-learn or of a library that fits into its pipelines: how it predicts, how it transforms.
struct Row {
  std::string_view name;
  Predict* predict = nullptr;
  Transform* transform = nullptr;
};

/// The row of an estimator's class; throws where there is none.
const Row& row_of(const Estimator& estimator);
/// Null: it is no instance, or its class is not known.
const Row* find_row(const pickle::Value& value);
std::span<const Row> all_rows();

}  // namespace ingot::frontends::sklearn
