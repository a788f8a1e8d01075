#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "ingot/ir/opaque_model.h"

namespace ingot::train {

/// How many classes an output tells apart, [batch, classes, ...]; nothing if it does not say. Empty: the first output.
std::optional<std::int64_t> class_count(const Model& model, const std::string& prediction = {});

/// Whether an output is probabilities by the graph's own word.
bool ends_in_softmax(const Model& model, const std::string& prediction = {});

/// Gives a classifier another number of classes: the last layer before the output (Gemm, MatMul or Conv) gets new
/// weights, drawn by the seed, and a bias of zeros; whatever follows it, such as Softmax or a Reshape by constant
/// sizes, follows. Returns what was done. Refuses models whose output is no layer's.
std::string replace_head(Model& model, std::int64_t classes, std::uint64_t seed, const std::string& prediction = {});

}  // namespace ingot::train
