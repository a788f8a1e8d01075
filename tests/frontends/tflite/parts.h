#pragma once
#include <optional>
#include <random>
#include <vector>

#include "ingot/formats/tflite/model.h"
#include "ingot/ir/tensor.h"

namespace ingot::test {

/// A model of one operator of the main subgraph, with the constants that it reads.
formats::tflite::Model part_of(const formats::tflite::Model& model, std::size_t op);

/// The model with every value that it computes as an output.
formats::tflite::Model with_all_outputs(const formats::tflite::Model& model);

/// Whether what the operator reads and gives are quantised integers, and it is computed (not control flow).
bool is_integer_layer(const formats::tflite::Model& model, const formats::tflite::Operator& op);

/// Random elements for each input of the main subgraph, over the whole range of 8-bit types. Nothing: a type that is
/// not drawn here, or an open dimension.
std::optional<std::vector<Tensor>> random_inputs(const formats::tflite::Model& model, std::mt19937& random);

/// What Ingot computes for the model.
std::vector<Tensor> run_in_ingot(const formats::tflite::Model& model, const std::vector<Tensor>& inputs);

/// How far integers lie apart; nothing if type or shape differ.
std::optional<std::vector<std::int64_t>> steps_apart(const Tensor& a, const Tensor& b);

}  // namespace ingot::test
