#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/ir/model.h"

namespace ingot::frontends::pandas {

/// What a column of the frame holds.
enum class ColumnType : std::uint8_t { real, integer, boolean, text };
using Schema = std::vector<std::pair<std::string, ColumnType>>;

/// The values of one column on the sample: numbers, or texts.
struct Sample {
  std::vector<double> numbers{};
  std::vector<std::string> texts{};
};

struct ImportOptions {
  Schema schema{};
  /// Runs the model, whose one output is a column, on the sample. Empty: there is no sample, and what is fitted to one
  /// is refused.
  std::function<Sample(const Model&)> on_sample{};
};

struct Imported {
  Model model;
  std::vector<std::string> notes{};
};

/// A Python program over a data frame: a function of one parameter that returns what it made, or a script that begins
/// with pd.read_csv. Nothing is executed. Columns become inputs [N, 1] of their names, those of the result outputs.
/// Throws one Error that lists all that is not translated, with line and column.
Imported import_program(std::string_view text, const ImportOptions& options);

}  // namespace ingot::frontends::pandas
