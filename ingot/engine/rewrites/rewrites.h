#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/engine/in_place.h"
#include "ingot/engine/ledger.h"
#include "ingot/ir/graph.h"

namespace ingot::engine {

/// What rewrites know of the plan whose graph they change.
struct RewriteContext {
  Ledger& ledger;  // pays for what they compute
  Budget& budget;
  const Graph& root;
  const std::vector<Update>& updates;
  const std::vector<std::string>& output_names;  // as the user knows them
};

/// Changes a graph of newest operators, its types inferred, into one that computes the same.
struct Rewrite {
  enum class Kind {
    always,  // kernels rely on it; once, on the outermost graph and what is nested in it
    early,   // makes work for fast kernels; on each graph, before its constants are folded
    fast     // makes work for fast kernels; on each graph
  };
  std::string_view name;
  void (*run)(Graph& graph, const RewriteContext& context);
  Kind kind = Kind::fast;
};

/// In the order in which they run; those that are only fast come last.
std::span<const Rewrite> rewrites();

/// Two rewrites of which the first must run before the second.
struct Precedence {
  std::string_view first, second, reason;
};
std::span<const Precedence> precedences();

/// Walks the table.
void rewrite(Graph& root, const RewriteContext& context, bool is_fast);

}  // namespace ingot::engine
