#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/engine/named_datum.h"
#include "ingot/ir/opaque_model.h"
#include "ingot/train/augmentation.h"
#include "ingot/train/preparation.h"
#include "ingot/train/table_input.h"

namespace ingot::train {

/// Examples: named columns whose first axis counts them.
struct Dataset {
  std::vector<std::pair<std::string, Array>> columns{};
  std::optional<ImageFiles> images{};  // one column more, read when it is needed
  std::string target{};                // the column with the targets; empty: none
  std::int64_t count = 0;
  bool is_table = false;  // its numbers were divided by the scale as they were read
  /// How features become inputs, and what the classes are called, where the targets were words.
  Preparation preparation{};
  /// How the first input is changed where batch_of is given a draw.
  Augmentation augmentation{};

  const Array* find(const std::string& name) const;
};

struct DatasetOptions {
  /// A second file with the targets, or the name of a column or array.
  std::string target{};
  /// Real inputs from whole numbers are divided by `scale`; then mean and deviation are taken out, each one number or
  /// one per channel. What is not given is as `known` says.
  std::optional<double> scale{};
  std::optional<std::vector<double>> mean{}, deviation{};
  std::vector<std::pair<std::string, std::string>> map{};  // column -> input of the model
  /// Of a file with arrays such as x_train and x_test, those that end so; without such, all arrays count.
  std::string part = "train";
  std::vector<std::string> columns{};  // the features of a table, in order
  std::vector<std::string> labels{};   // names of the classes, in the order of their numbers
  std::string resize{};                // of pictures, see ImageSize
  /// Of the model: a table with columns of these names feeds them one by one; else all its features are one array.
  std::vector<TableInput> inputs{};
  /// What the model says already: words of targets are numbered as its classes are.
  Preparation known{};

  /// `known` with what is given here.
  Preparation preparation() const;
};

/// Reads .npz, .npy, .csv and idx files (these also packed by gzip); the content tells which.
Dataset load_dataset(const std::string& path, const DatasetOptions& options);

/// Examples that are in memory: arrays whose first axis counts them, by the names of the model's inputs, and the
/// targets.
Dataset dataset_of(std::vector<std::pair<std::string, Array>> columns, const std::string& target = {});

/// Refuses data without examples, and data whose columns do not have as many as it states.
void require_examples(const Dataset& data);

/// Gives columns the names of inputs, and says where examples disagree in number; the last step of loading.
void finish(Dataset& data, const DatasetOptions& options);

/// Part of the examples, taken off the rest: drawn by the seed, since files often come sorted; without one, the last.
Dataset split_off(Dataset& data, double share, std::optional<std::uint64_t> seed = std::nullopt);

/// A text that changes with the data: for runs that go on.
std::string fingerprint(const Dataset& data);

/// The examples with these numbers as inputs of a model: converted to the inputs' types, channels moved where they
/// stand first in one and last in the other, and reshaped where only the grouping of the axes differs. `target` is the
/// input that takes the targets; empty: none does. `draw` decides how examples are augmented; nothing: not at all.
std::vector<engine::NamedDatum> batch_of(const Dataset& data, const Model& model, const std::string& target,
                                         const std::vector<std::int64_t>& examples,
                                         std::optional<std::uint64_t> draw = std::nullopt);

/// One picture as an input of a model: a batch of one. Errors name the file.
Array image_as_input(const std::string& path, const Value& input, const Preparation& preparation, Budget* budget);

/// How many examples the model takes at a time, where it takes no other number.
std::optional<std::uint64_t> fixed_batch(const Model& model);

/// 0 ... count - 1 in an order that `seed` and `epoch` decide, the same everywhere.
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::uint64_t epoch);

}  // namespace ingot::train
