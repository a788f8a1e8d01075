#pragma once
#include <functional>

#include "ingot/ir/model.h"

namespace ingot::passes {

struct FoldOptions {
  /// Larger results stay computed: a file should not grow by what a run makes quickly.
  std::uint64_t most_bytes = std::uint64_t{16} << 20;
  /// Nodes that stay although their inputs are constant. Empty: none.
  std::function<bool(const Node&)> keeps;
};

/// Computes what does not depend on the inputs: nodes whose inputs are all constant, by their reference kernels, and
/// small integer tensors that inference knows. Nodes that nobody reads any more are taken out. The graph must be of
/// the newest operator set, with types inferred. Returns the number of nodes taken out.
std::size_t fold_constants(Graph& graph, const FoldOptions& options = {});

/// Takes out nodes whose outputs nobody reads, and initializers that nobody reads; subgraphs too.
std::size_t drop_unread(Graph& graph);

}  // namespace ingot::passes
