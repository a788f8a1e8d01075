#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/ir/model.h"
#include "ingot/passes/layout/layout.h"
#include "ingot/passes/legalize/refusal.h"
#include "ingot/passes/legalize/rewrite.h"

namespace ingot::passes::legalize {

/// An element type in which a target computes in place of one that an operator of it lacks, if the caller allows it.
struct TypeCast {
  DType from, to;
  bool loses_digits;  // then only where narrower types are allowed
};

/// What a target has, as data: the legaliser knows none by name. What is left empty says no more than its comment.
struct Target {
  std::string title;  // what messages call it
  /// Why the target lacks a node as it stands; nothing: it has it. The node's types are inferred.
  std::function<std::optional<Refusal>(const Node&)> refuses;
  /// Whether an input or an output of a graph may have this type. Empty: any tensor.
  std::function<bool(const Type&)> has_port;
  std::size_t most_dimensions = std::numeric_limits<std::size_t>::max();

  /// Names of shared rewrites, in the order in which they are tried, after the target's own.
  std::vector<std::string_view> rewrites;
  std::span<const Rewrite> own_rewrites;
  /// Nodes that stay rather than becoming their operator's own decomposition, or being taken out as they do nothing
  /// in inference. Empty: none.
  std::function<bool(const Node&)> keeps_whole;
  /// Nodes that stay although their inputs are constant. Empty: none.
  std::function<bool(const Node&)> keeps_computed;
  /// Functions of the model that stay calls. Empty: none.
  std::function<bool(const Function&)> keeps_call;

  std::vector<TypeCast> casts;  // the first that helps is taken, and noted
  bool has_doubles = true;      // false: those that decompositions bring into models without any are floats, noted
  bool has_halves = true;       // false: float16 and bfloat16 are floats where wider types are allowed, ports too
  bool has_infinities = true;   // false: sums and maxima end at the largest float; they are guarded where it shows
  bool has_defaults = true;     // false: inputs with a default become constants, noted

  LayoutOptions layout;
  /// Inputs and outputs that keep the model's layout, whatever the caller wishes. Empty: none.
  std::function<bool(const Value&)> keeps_layout;

  /// Looks at the graph when its types are known and nothing has changed; may note something. Empty: nothing.
  std::function<void(Graph&, std::vector<std::string>& notes)> prepare;
};

}  // namespace ingot::passes::legalize
