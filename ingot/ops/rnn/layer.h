#pragma once
#include <span>

#include "ingot/ops/compute.h"
#include "ingot/ops/rnn/activation.h"

namespace ingot::ops {

/// One step of one sequence of a recurrent layer, in double.
struct RecurrentStep {
  std::span<double> hidden;            // the state, which the step renews
  std::span<double> cell;              // LSTM's second state
  std::span<const double> input;       // gate after gate: W x + the input's bias
  std::span<const double> recurrence;  // R, rows of a gate after those of the gate before
  std::span<const double> bias;        // the recurrence's bias, gate after gate
  std::span<const double> peephole;    // empty: none
  std::span<const RecurrentActivation> activations;
  std::span<double> scratch;  // gates * hidden
  double clip = 0;            // no input of an activation is larger

  std::size_t size() const { return hidden.size(); }
  /// Row i of gate g of the recurrence times a vector.
  double recur(std::size_t gate, std::size_t i, std::span<const double> state) const;
  double activate(std::size_t function, double x) const;
};

/// Runs a recurrent layer: X, W, R, B, sequence_lens, initial_h and, with_cell, initial_c and P; outputs Y, Y_h, Y_c.
void run_recurrent(KernelContext& c, std::int64_t gates, bool with_cell, const std::vector<std::string>& activations,
                   void (*step)(const KernelContext&, RecurrentStep&));

}  // namespace ingot::ops
