#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingot/engine/fast_kernel.h"
#include "ingot/ir/array.h"
#include "ingot/ir/graph.h"
#include "ingot/ops/op_def.h"

namespace ingot::engine {

inline constexpr std::uint32_t kNoSlot = 0xffffffff;

/// Where a value is found at run time: `depth` graphs outwards, in that frame's slot.
struct Ref {
  std::uint32_t depth = 0, slot = kNoSlot;
};

/// One node as it is run.
struct Step {
  const Node* node = nullptr;
  const ops::OpDef* op = nullptr;
  std::unique_ptr<PreparedNode> prepared;  // null: the reference kernel runs it
  std::string_view kernel = "reference";
  std::vector<std::pair<std::string_view, std::string>> refusals;  // faster kernels, and why each is not for the node
  std::vector<Ref> inputs;
  std::vector<std::uint32_t> outputs;  // slots of this frame
  std::vector<std::uint32_t> dead;     // slots that no later step reads: their memory is given back
};

/// A value that is the same in every run.
struct Constant {
  std::uint32_t slot = kNoSlot;
  Tensor tensor;  // as the file holds it, perhaps in a mapped file and at any alignment; empty where it was computed
  Datum value;    // as kernels read it; made when it is first asked for

  /// The same, for kernels.
  const Datum& ready();
};

/// One graph in running order, with a slot for each value it defines.
struct Program {
  const Graph* graph = nullptr;
  std::vector<Step> steps;
  std::size_t first_update = static_cast<std::size_t>(-1);  // steps from here on replace what came in
  std::vector<std::uint32_t> inputs;
  std::vector<Ref> outputs;
  std::unordered_map<const Value*, std::uint32_t> slots;
  std::vector<Constant> constants;  // ascending by slot

  Constant* constant(std::uint32_t slot);
};

using Programs = std::unordered_map<const Graph*, std::unique_ptr<Program>>;

/// Refuses cycles and values that nothing defines, in the graph and all graphs nested in it.
void require_order(Graph& root);

/// Programs of the graph and all graphs nested in it, which have no sparse initializers. Refuses what require_order
/// does.
Programs make_programs(Graph& root);

/// Gives each step the first fast kernel that takes its node.
void choose_kernels(Programs& programs);

/// Makes the constants ready that a step reads when it is run, and lets go of the others: a fast kernel has its own
/// form of most weights.
void materialize_constants(Programs& programs);

}  // namespace ingot::engine
