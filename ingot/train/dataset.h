#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/engine/named_datum.h"
#include "ingot/ir/opaque_model.h"

namespace ingot::train {

/// Examples: named columns whose first axis counts them.
struct Dataset {
  std::vector<std::pair<std::string, Array>> columns;
  std::string target;                // the column with the targets; empty: none
  std::vector<std::string> classes;  // names of the classes, where the targets were words
  std::int64_t count = 0;
  /// How features become real inputs: whole numbers are divided by `scale`; then mean and deviation are taken out.
  float scale = 1, mean = 0, deviation = 1;

  const Array* find(const std::string& name) const;
};

struct DatasetOptions {
  /// A second file with the targets, or the name of a column or array.
  std::string target;
  double scale = 1;  // real inputs from whole numbers are divided by this
  double mean = 0, deviation = 1;
  std::vector<std::pair<std::string, std::string>> map;  // column -> input of the model
  /// Of a file with arrays such as x_train and x_test, those that end so; without such, all arrays count.
  std::string part = "train";
};

/// Reads .npz, .npy, .csv and idx files (these also packed by gzip); the content tells which.
Dataset load_dataset(const std::string& path, const DatasetOptions& options);

/// Gives columns the names of inputs, and says where examples disagree in number; the last step of loading.
void finish(Dataset& data, const DatasetOptions& options);

/// Part of the examples, taken off the rest: drawn by the seed, since files often come sorted; without one, the last.
Dataset split_off(Dataset& data, double share, std::optional<std::uint64_t> seed = std::nullopt);

/// A text that changes with the data: for runs that go on.
std::string fingerprint(const Dataset& data);

/// The examples with these numbers as inputs of a model: converted to the inputs' types, and reshaped where only the
/// grouping of the axes differs. `target` is the input that takes the targets; empty: none does.
std::vector<engine::NamedDatum> batch_of(const Dataset& data, const Model& model, const std::string& target,
                                         const std::vector<std::int64_t>& examples);

/// How many examples the model takes at a time, where it takes no other number.
std::optional<std::uint64_t> fixed_batch(const Model& model);

/// 0 ... count - 1 in an order that `seed` and `epoch` decide, the same everywhere.
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::uint64_t epoch);

}  // namespace ingot::train
