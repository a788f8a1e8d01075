#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingot/engine/inputs.h"
#include "ingot/ir/model.h"
#include "ingot/verify/agreement.h"

namespace ingot {
class Budget;
}

namespace ingot::verify {

/// Twins of a model that differ from it by no more than rounding, to measure what rounding does to its results.
/// The same in double: inputs stay as they are, outputs become double.
Model in_double(const Model& model);
/// With each rounding of a quantised model shaken by up to half a step; nothing if the model is not quantised.
std::optional<Model> with_shaken_steps(const Model& model, std::uint32_t seed);

/// Values by name, one for each run.
using RoundedValues = std::map<std::string, std::vector<Datum>>;

/// The largest distance of a value in the first run from those in the others; nothing if there are none.
std::optional<Distance> noise_of(const RoundedValues& values, const std::string& name);

/// A model's values in runs that differ by no more than rounding: in float, in double and, if it is quantised, with its
/// roundings shaken.
class Rounding {
 public:
  /// Nothing is run before values are asked for.
  Rounding(const Model& model, Budget* budget) : model_(model), budget_(budget) {}

  /// The plain run first, that in double second; values of the outputs, and `points`. Empty if the model does not run;
  /// then why_not() says why.
  RoundedValues values(const std::vector<engine::NamedDatum>& inputs, const std::vector<std::string>& points = {});
  /// The run in double alone; nothing where there is none.
  std::map<std::string, Datum> exact(const std::vector<engine::NamedDatum>& inputs,
                                     const std::vector<std::string>& points = {});
  const std::string& why_not() const { return why_not_; }

  /// Whether the run in double rounds nowhere: no quantised values, no half precision, no operator that stays in float.
  bool is_whole();
  bool is_quantized();

 private:
  void make_twins();

  const Model& model_;
  Budget* budget_;
  std::vector<Model> twins_;  // in double first
  bool has_twins_ = false, is_whole_ = false;
  std::string why_not_;
};

}  // namespace ingot::verify
