#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ingot/ir/opaque_model.h"

namespace ingot::train {

/// What a model must be told to be used as it was trained: how data becomes its inputs, and what its answers are
/// called. Travels in the model's metadata as ingot.classes, ingot.columns, ingot.target, ingot.scale, ingot.mean,
/// ingot.std, ingot.resize and ingot.scores; lists are rows of comma-separated values.
struct Preparation {
  double scale = 1;                     // whole numbers, pixels and tables' numbers are divided by this
  std::vector<double> mean, deviation;  // taken off and divided by then: one for all or one per channel; empty: none
  std::vector<std::string> columns;     // of a table, in the order in which the input takes them
  std::vector<std::string> classes;     // names, in the order of their numbers
  std::string target;                   // the column that is no feature
  std::string resize;                   // how pictures become as large as the input: stretch, crop, pad
  std::string scores;                   // what the first output is of classes: "logits"; empty: the graph tells

  bool changes_numbers() const { return scale != 1 || !mean.empty() || !deviation.empty(); }
};

/// What the model says; what is damaged there is refused.
Preparation preparation_of(const Model& model);
/// Writes it down in place of what the model said before.
void store(const Preparation& preparation, Model& model);

/// Lines of a text file, or words between commas: the names of classes as a user gives them. A file of
/// "number name" lines, as many are, gives the names.
std::vector<std::string> read_labels(const std::string& file_or_words);

/// "0.485,0.456,0.406"; refuses what is no list of numbers.
std::vector<double> parse_numbers(const std::string& text);

}  // namespace ingot::train
