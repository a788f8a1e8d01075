#pragma once
#include <string>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/ir/model.h"

namespace ingot {
class Budget;
}

namespace ingot::onnx {

struct ReadOptions {
  /// Follow symbolic and hard links to external data, as hub caches need it.
  bool allow_links = false;
  /// Limits on nodes, time and memory; none: only the limits of the format.
  Budget* budget = nullptr;
  /// External data that is not there is read as zeros, with a note: for those who look at the graph alone.
  bool allow_missing_data = false;
  /// What a reader of a report should know: each gets a line here.
  std::vector<std::string>* notes = nullptr;
};

/// Reads a .onnx file. The file is mapped and weights stay in the mapping, which lives as long as a tensor needs it.
/// Refuses what cannot be held; whether the model is valid ONNX is for passes::check to say.
Model read(const std::string& path, const ReadOptions& options = {});

/// Reads a model from memory. `directory`: where external data is looked for; empty: external data is refused.
Model read(const Bytes& bytes, const std::string& directory, const ReadOptions& options = {});

/// Whether a whole file has the outline of a serialised model; a quick look, no proof.
bool looks_like_onnx(const Bytes& file);

}  // namespace ingot::onnx
