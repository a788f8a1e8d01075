#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "ingot/ops/builder.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::passes {

/// What a node asks of the layout of one input or output.
enum class Port : std::uint8_t {
  as_is,    // as the model has it
  tied,     // the node's own layout, whatever that is
  lowered,  // an operand of fewer dimensions, broadcast against tied ones
};

/// How the layouts of a node's ports depend on each other.
struct Ports {
  std::vector<Port> in, out;
  void tie_in(std::size_t i) { in[i] = Port::tied; }
  void tie_out(std::size_t i) { out[i] = Port::tied; }
};

/// A node whose data get the other layout.
struct Move {
  Node& node;
  Layout from, to;
  Perm perm;  // of tied values of the node's own rank
  GraphBuilder g;

  std::int64_t axis(std::int64_t old) const { return moved_axis(perm, old); }
  void set_axis(std::int64_t fallback);
  void set_input(std::size_t i, const std::vector<std::int64_t>& ints);
};

/// How one operator takes part.
struct LayoutRule {
  std::string_view op;
  /// Fills in which ports are tied; false: all stay as they are. `from` is the layout that the model's data have;
  /// while that is not known yet, ports are tied that might be.
  bool (*plan)(const Node&, std::optional<Layout> from, Ports&);
  /// Changes axes and the like; null: nothing depends on the order of axes.
  void (*move)(Move&) = nullptr;
};

/// Null: an operator whose data stay as they are.
const LayoutRule* layout_rule(const Node& node);
/// Whether ONNX defines the operator for channels first only (Conv, MaxPool, ...); its data are input 0 and output 0.
bool is_spatial(const Node& node);

}  // namespace ingot::passes
