// Which integers make sense as an input.
#include "ingot/driver/index_bounds.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ingot/base/error.h"
#include "ingot/ir/array.h"
#include "ingot/ir/graph.h"
#include "ingot/passes/infer.h"

namespace ingot::driver {
namespace {

std::optional<std::int64_t> size_of(const Value* v, std::int64_t axis) {
  if (!v) return std::nullopt;
  Shape shape;
  if (v->initializer) {
    for (const std::int64_t n : v->initializer->dims()) shape.push_back(n);
  } else if (v->type.shape) {
    shape = *v->type.shape;
  } else {
    return std::nullopt;
  }
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return shape[static_cast<std::size_t>(axis)].as_int();
}

std::optional<double> constant_of(const Value* v) {
  if (!v) return std::nullopt;
  const Tensor* tensor = v->initializer && !v->is_input() ? &*v->initializer : nullptr;
  if (!tensor && v->producer() && v->producer()->is("Constant"))
    tensor = v->producer()->attributes.get<Tensor>("value");
  if (!tensor || Array::from(*tensor).size() != 1 || tensor->dtype() == DType::string) return std::nullopt;
  return Array::from(*tensor).to_doubles()[0];
}

bool is_any(const Node& node, std::initializer_list<const char*> ops) {
  return std::ranges::any_of(ops, [&](const char* op) { return node.is(op); });
}

/// Whether elements of input `index` are elements of the output.
bool passes_on(const Node& node, std::uint32_t index) {
  if (is_any(node, {"Identity", "Cast", "Unsqueeze", "Squeeze", "Reshape", "Flatten", "Transpose", "Expand", "Tile",
                    "Slice", "Split", "Gather", "GatherElements", "GatherND", "Clip", "Pad"}))
    return index == 0;
  return node.is("Concat") || (node.is("Where") && index > 0);
}

/// Of what tuples of indices address, the shortest axis: an element may stand at any place of a tuple.
std::optional<std::int64_t> least_size(const Node& node) {
  const std::int64_t first = node.attributes.int_or("batch_dims", 0);
  const auto length = size_of(node.input(1), -1);
  std::optional<std::int64_t> least;
  for (std::int64_t axis = first; length && axis < first + *length; ++axis) {
    const auto size = size_of(node.input(0), axis);
    if (!size) return std::nullopt;
    least = std::min(least.value_or(*size), *size);
  }
  return least;
}

std::optional<std::int64_t> rank_of(const Value* v) {
  if (v && v->initializer) return static_cast<std::int64_t>(v->initializer->dims().size());
  if (!v || !v->type.is_tensor() || !v->type.shape) return std::nullopt;
  return static_cast<std::int64_t>(v->type.shape->size());
}

/// Of operators that pick rows of tables: the input with the places, the one with the table, and the table's axis.
struct Lookup {
  std::string_view op;
  std::uint32_t places, table;
  std::int64_t axis;
};
constexpr Lookup kLookups[] = {
    {"ArrayFeatureExtractor", 1, 0, -1},
    {"EmbedLayerNormalization", 0, 2, 0},
    {"EmbedLayerNormalization", 1, 4, 0},
    {"EmbedLayerNormalization", 8, 3, 0},
    {"GatherBlockQuantized", 1, 0, 0},
    {"NegativeLogLikelihoodLoss", 1, 0, 1},
    {"RoiAlign", 2, 0, 0},
    {"SoftmaxCrossEntropyLoss", 1, 0, 1},
    {"TensorScatter", 2, 0, -2},
};

/// RotaryEmbedding of ONNX and of ONNX Runtime have their inputs in different orders.
std::optional<std::int64_t> rows_of_angles(const Node& node, std::uint32_t index) {
  if (node.op != "RotaryEmbedding") return std::nullopt;
  const bool is_standard = node.is("RotaryEmbedding");
  return index == (is_standard ? 3U : 1U) ? size_of(node.input(is_standard ? 1 : 2), 0) : std::nullopt;
}

/// The bounds that a node sets for what it reads as input `index`.
std::optional<IndexBounds> bounds_at(const Node& node, std::uint32_t index) {
  const auto below = [](std::optional<std::int64_t> size, std::int64_t least = 0) -> std::optional<IndexBounds> {
    if (!size || *size < 1) return std::nullopt;
    return IndexBounds{least, *size - 1 + least};
  };
  if (is_any(node, {"Gather", "GatherElements", "ScatterElements", "Scatter"}) && index == 1)
    return below(size_of(node.input(0), node.attributes.int_or("axis", 0)));
  if (is_any(node, {"GatherND", "ScatterND"}) && index == 1) return below(least_size(node));
  if (node.is("OneHot") && index == 0) {
    const auto depth = constant_of(node.input(1));
    return below(depth ? std::optional(static_cast<std::int64_t>(*depth)) : std::nullopt);
  }
  if (node.is("ReverseSequence") && index == 1)
    return below(size_of(node.input(0), node.attributes.int_or("time_axis", 0)), 1);
  if (is_any(node, {"LSTM", "GRU", "RNN"}) && index == 4)
    return below(size_of(node.input(0), node.attributes.int_or("layout", 0) ? 1 : 0), 1);
  if (is_any(node, {"CumSum", "CumProd"}) && index == 1) return below(rank_of(node.input(0)));
  if (node.is("TopK") && index == 1) return below(size_of(node.input(0), node.attributes.int_or("axis", -1)), 1);
  for (const Lookup& lookup : kLookups)
    if (node.op == lookup.op && index == lookup.places) return below(size_of(node.input(lookup.table), lookup.axis));
  return below(rows_of_angles(node, index));
}

/// Masks: asked whether they are true, or taken from 1.
bool is_mask_at(const Node& node, std::uint32_t index) {
  if (node.is("Cast")) return node.attributes.int_or("to", 0) == static_cast<std::int64_t>(DType::boolean);
  if (node.is("Sub") && index == 1) return constant_of(node.input(0)) == 1.0;
  if (node.is("Equal")) return constant_of(node.input(1 - index)) == 0.0 || constant_of(node.input(1 - index)) == 1.0;
  return false;
}

/// Sizes of tables may have to be inferred.
Model with_types(const Model& model) {
  Model typed = model.clone();
  try {
    passes::InferOptions options;
    options.keep_declared = true;
    options.tolerate_errors = true;
    passes::infer(typed, options);
  } catch (const Error&) {
    return model.clone();  // whoever runs it will tell what is wrong
  }
  return typed;
}

/// What the input reaches through nodes that hand its elements on.
std::optional<IndexBounds> bounds_of(const Value* input) {
  std::optional<IndexBounds> bounds;
  bool is_mask = false;
  std::vector<const Value*> pending{input};
  std::unordered_set<const Value*> seen{input};
  while (!pending.empty()) {
    const Value* v = pending.back();
    pending.pop_back();
    for (const Use& use : v->uses()) {
      if (!use.node) continue;
      if (const auto at = bounds_at(*use.node, use.index))
        bounds = bounds ? IndexBounds{std::max(bounds->least, at->least), std::min(bounds->most, at->most)} : *at;
      is_mask |= is_mask_at(*use.node, use.index);
      if (!passes_on(*use.node, use.index)) continue;
      for (const Value* out : use.node->outputs())
        if (out && seen.insert(out).second) pending.push_back(out);
    }
  }
  if (bounds) return bounds;
  if (is_mask || input->name().find("mask") != std::string::npos) return IndexBounds{0, 1};
  return std::nullopt;
}

}  // namespace

std::unordered_map<std::string, IndexBounds> index_bounds(const Model& model) {
  const auto may_be_index = [](const Value* v) {
    return !v->initializer && v->type.is_tensor() && (v->type.elem == DType::i32 || v->type.elem == DType::i64);
  };
  std::unordered_map<std::string, IndexBounds> all;
  if (std::ranges::none_of(model.graph->inputs(), may_be_index)) return all;
  const Model typed = with_types(model);
  for (const Value* v : typed.graph->inputs()) {
    if (!may_be_index(v)) continue;
    if (const auto bounds = bounds_of(v)) all.emplace(v->name(), *bounds);
  }
  return all;
}

}  // namespace ingot::driver
