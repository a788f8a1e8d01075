#pragma once
#include <string>
#include <string_view>

#include "ingot/ir/graph.h"

namespace ingot {

// What a frontend writes into the metadata of nodes and values, so that the way back finds what ONNX has no words for.

/// Of a node: the tensor of the source that it comes from.
inline constexpr std::string_view kSource = "ingot.source";
/// Of a node: the operator that it comes from, by the source's name.
inline constexpr std::string_view kSourceOp = "ingot.source_op";
/// Of a product with integer weights: the source rounds its activations to 8 bits while it runs, around zero
/// ("symmetric") or not ("asymmetric").
inline constexpr std::string_view kDynamicRange = "ingot.dynamic_range";
/// Of an input with a default: the output that has its value for the next run.
inline constexpr std::string_view kNextState = "ingot.next_state";
/// Of an input of integers: scale and zero point, where no operator of the graph tells.
inline constexpr std::string_view kQuantization = "ingot.quantization";

/// Of a node that says a custom operator of TFLite: that operator's options, in hexadecimal.
inline constexpr std::string_view kCustomOptions = "ingot.custom_options";
/// Domain of the functions that stand for operators of TFLite that ONNX has no words for.
inline constexpr std::string_view kTfliteDomain = "ingot.tflite";
/// Of a call of such a function: the operator as formats/tflite/lone_operator writes it.
inline constexpr std::string_view kOperator = "operator";

/// Empty: nothing was noted.
inline std::string_view note_of(const Metadata& metadata, std::string_view key) {
  for (const auto& [name, text] : metadata)
    if (name == key) return text;
  return {};
}

}  // namespace ingot
