#pragma once
#include <functional>

#include "ingot/ir/model.h"

namespace ingot::ops {
class KernelHost;
}

namespace ingot::passes {

struct FoldOptions {
  /// Larger results stay computed: a file should not grow by what a run makes quickly.
  std::uint64_t most_bytes = std::uint64_t{16} << 20;
  /// Nodes that stay although their inputs are constant. Empty: none.
  std::function<bool(const Node&)> keeps;
  /// The graph is run, not written: Constant nodes become initializers too and outputs may lose their names. Only what
  /// kernels compute counts, not what the model states about shapes.
  bool is_for_running = false;
};

/// Computes what does not depend on the inputs: nodes whose inputs are all constant, by their reference kernels, and
/// small integer tensors that inference knows. Nodes that nobody reads any more are taken out. The graph must be of
/// the newest operator set, with types inferred. Returns the number of nodes taken out.
std::size_t fold_constants(Graph& graph, const FoldOptions& options = {});
/// The same with memory and limits of `host`: a node that the host refuses memory stays, a budget that ends is thrown.
std::size_t fold_constants(Graph& graph, const FoldOptions& options, ops::KernelHost& host);

}  // namespace ingot::passes
