#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/engine/named_datum.h"
#include "ingot/ir/opaque_model.h"
#include "ingot/train/preparation.h"

namespace ingot::driver {

/// One thing that a model says of each row.
struct Answer {
  std::string name;
  Array values;                       // [rows, ...]
  std::vector<std::string> labels{};  // of the columns of values [rows, columns]; none: numbers
  bool is_derived = false;            // not an output of the model itself
};

/// What a model says of rows, in words where it knows them: of scores of classes whose names are known, the best class
/// and, where scores are logits or come from a Softmax, probabilities.
class Answers {
 public:
  Answers(const Model& model, const train::Preparation& preparation, bool is_raw);

  /// The first `rows` of the results of a run on `batch` rows. Refuses results that are not one per row.
  std::vector<Answer> of(const std::vector<engine::NamedDatum>& outputs, std::int64_t rows, std::int64_t batch) const;

  /// The output whose columns are the classes; empty: there is none.
  const std::string& scores() const { return scores_; }
  const std::vector<std::string>& classes() const { return classes_; }
  /// [rows, classes] with the largest first to be read: what Softmax makes of logits.
  Array probabilities(const Array& scores) const;
  bool has_probabilities() const { return is_softmax_ || is_logits_; }

 private:
  void add_class(std::vector<Answer>& answers, const Array& scores) const;

  std::vector<std::string> classes_;
  std::string scores_;
  bool is_softmax_ = false, is_logits_ = false, names_class_ = false;
};

}  // namespace ingot::driver
