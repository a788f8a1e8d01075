#pragma once
#include <string>
#include <vector>

#include "ingot/frontends/torch/item.h"
#include "ingot/frontends/torch/translation.h"

namespace ingot::frontends::torch {

/// What is known of the model's inputs; it grows while operators tell more.
struct InputFacts {
  std::string name;
  std::optional<Shape> shape{};
  DType dtype = DType::undefined;
  bool is_told = false;           // the user gave the shape
  bool is_guess = false;          // an operator took this rank, and would take others
  std::optional<double> value{};  // of a number that is fixed
};

/// What is known of this one, begun where nothing is.
InputFacts& facts_of(std::vector<InputFacts>& facts, const std::string& name);

/// Makes inputs of the model for an argument of this type: one for a tensor or number, several for a tuple. A default
/// stands for what cannot be an input.
Item make_input(Translation& t, const script::Parameter& parameter, std::vector<InputFacts>& facts);

/// The tensors of a result, in order, become outputs: "output", "output_0" ..., or by their names in a dictionary or
/// NamedTuple.
void add_outputs(Translation& t, const Item& result);

/// Calls the outputs as the archive says, where it says it of each of them.
void name_outputs(Graph& graph, const std::vector<std::string>& names);

/// What the buffer of this name is after the run, as an output "NAME.next".
void add_state_output(Translation& t, const std::string& name, Value* now);
/// Inputs that are buffers stand behind the user's.
void put_state_last(Graph& graph);

}  // namespace ingot::frontends::torch
