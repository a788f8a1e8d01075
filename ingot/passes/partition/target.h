#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ingot/base/dtype.h"
#include "ingot/ir/model.h"

namespace ingot::passes {

/// Why a node does not go to a target.
struct Fallback {
  /// In the words of TensorRT's parser, which users know: "UNSUPPORTED_NODE", "UNSUPPORTED_NODE_ATTR" ...
  std::string code;
  std::string reason;
  std::string remedy;  // what would change it; may be empty
};

/// A use of an operator that a target has. Empty lists and zeros ask for nothing.
struct OperatorRule {
  std::int64_t first_version = 0, last_version = 0;  // of the operator; 0: open
  std::int64_t first_opset = 0, last_opset = 0;      // of the model
  std::vector<DType> types;                          // of the first input, or output where there is none
  std::vector<std::vector<DType>> inputs, outputs;   // by position; the last stands for those behind it
  std::int64_t least_rank = 0, most_rank = 0;        // of the first input
  std::vector<std::size_t> constant_inputs;
  std::map<std::string, std::vector<std::string>> attributes;  // the values that it may have, as texts
  std::string note;                                            // what the target says of it besides
};

/// What runs some nodes of a model: a table, or whoever answers for it.
struct PartitionTarget {
  std::string name, title;
  std::map<std::string, std::vector<OperatorRule>> operators{};  // "Op" or "domain.Op"
  std::int64_t first_opset = 0, last_opset = 0;
  bool needs_static_shapes = false;
  std::uint64_t most_bytes = 0;  // of weights in a part; 0: no limit
  bool takes_all = false;
  /// In place of the table, for nodes of the main graph; empty: the table.
  std::function<std::optional<Fallback>(const Node&)> answer{};
};

/// Why a target does not run a node, or nothing. Graphs inside the node must be run, too.
std::optional<Fallback> why_not_run(const PartitionTarget& target, const Node& node, const OpsetImports& opsets);

}  // namespace ingot::passes
