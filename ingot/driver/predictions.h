#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ingot/driver/answers.h"

namespace ingot::driver {

/// What a model said of all rows, on its way to a file that appears whole or not at all.
class Predictions {
 public:
  virtual ~Predictions() = default;
  /// Some rows more. `kept` are columns of the source, by name, that stand before the answers.
  using Kept = std::vector<std::pair<std::string, std::vector<std::string>>>;
  virtual void add(const Kept& kept, const std::vector<Answer>& answers) = 0;
  virtual void commit() = 0;

 protected:
  Predictions() = default;
  Predictions(const Predictions&) = delete;
};

/// A .csv, .npz or .npy file, as its name says; others are refused.
std::unique_ptr<Predictions> open_predictions(const std::string& path);
bool is_predictions_name(const std::string& path);

}  // namespace ingot::driver
