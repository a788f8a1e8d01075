#pragma once
#include <string>
#include <vector>

#include "ingot/engine/inputs.h"
#include "ingot/ir/model.h"

namespace ingot::test {

/// A model that gives tensors in place of sequences and maps, for a runtime whose interface passes tensors only, and
/// the way back from its tensors.
class TensorOutputs {
 public:
  /// `own`: what a run gave, which tells how long sequences are.
  TensorOutputs(const Model& model, const std::vector<engine::NamedDatum>& own);

  /// False: all outputs are tensors, or what is not cannot be told by tensors.
  bool has_changes() const { return !changes_.empty(); }
  const Model& model() const { return model_; }
  /// The outputs of the model itself.
  std::vector<engine::NamedDatum> outputs(const std::vector<engine::NamedDatum>& tensors) const;

 private:
  struct Change {
    std::string output;                // of the model
    std::vector<std::string> tensors;  // of a sequence: its elements; of a map: the scores
    std::string length;                // of a sequence
    std::vector<std::string> string_labels;
    std::vector<std::int64_t> int_labels;
  };
  static Datum sequence_of(const Change& change, const std::vector<engine::NamedDatum>& tensors);
  static Datum maps_of(const Change& change, const Array& scores);

  Model model_;
  std::vector<Change> changes_;
};

}  // namespace ingot::test
