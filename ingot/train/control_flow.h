#pragma once
#include "ingot/ops/gradient.h"

namespace ingot::train {

/// If, Loop, Scan and SequenceMap: their gradients differentiate their bodies, which no rule of an operator can.
bool is_control_flow(const Node& node);

/// The values of outer graphs that the node's subgraphs read, each once.
Values captured_values(const Node& node);
/// What the node reads: its inputs, absent ones included, then the captured values.
Values reads_of(const Node& node);

/// d loss / d what the node reads: its inputs, then what its subgraphs capture. The bodies run again, backwards, from
/// the states that a forward loop is made to record.
Values control_flow_gradient(ops::GradContext& c, const Values& reads);

}  // namespace ingot::train
