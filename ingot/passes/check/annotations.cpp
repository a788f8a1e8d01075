// Metadata and quantization annotations.
#include <fmt/format.h>

#include <unordered_set>

#include "ingot/passes/check/rules.h"

namespace ingot::passes::rules {
namespace {

/// A key that stands twice, or null.
const std::string* repeated_key(const Metadata& entries) {
  if (entries.size() < 2) return nullptr;
  std::unordered_set<std::string_view> keys;
  for (const auto& [key, value] : entries)
    if (!keys.insert(key).second) return &key;
  return nullptr;
}

template <class Place> void check_metadata(Context& c, const Metadata& entries, bool is_model, Place&& place) {
  const std::string* key = repeated_key(entries);
  if (!key) return;
  std::string message = fmt::format("metadata key {} stands twice", quoted(*key));
  if (is_model)
    c.report.error(Code::bad_annotation, place(), std::move(message), "remove one of the entries");
  else
    c.report.warning(Code::bad_annotation, place(), std::move(message), "remove one of the entries");
}

void check_value_metadata(Context& c, const Value& value) {
  check_metadata(c, value.metadata, false, [&] { return c.places.of(value); });
}

void check_quantization(Context& c, const Graph& graph) {
  std::unordered_set<std::string_view> annotated;
  for (const QuantizationAnnotation& q : graph.quantization) {
    const std::string place = c.places.in(graph, "quantization annotation of " + quoted(q.tensor_name));
    const auto warn = [&](std::string message, std::string hint) {
      c.report.warning(Code::bad_annotation, place, std::move(message), std::move(hint));
    };
    const Value* tensor = graph.find_visible(q.tensor_name);
    if (!tensor || tensor->is_undefined())
      warn("the graph has no such value", "correct the name, or remove the annotation");
    if (!annotated.insert(q.tensor_name).second) warn("the value is annotated twice", "remove one of the annotations");
    std::unordered_set<std::string_view> keys;
    for (const auto& [key, name] : q.parameters) {
      if (key != "SCALE_TENSOR" && key != "ZERO_POINT_TENSOR")
        warn(fmt::format("key {} has no meaning", quoted(key)), "the keys are SCALE_TENSOR and ZERO_POINT_TENSOR");
      if (!keys.insert(key).second) warn(fmt::format("key {} stands twice", quoted(key)), "remove one of the entries");
      const Value* parameter = graph.find_visible(name);
      if (!parameter || parameter->is_undefined())
        warn(fmt::format("{} names {}, which the graph does not have", key, quoted(name)), "correct the name");
    }
  }
}

}  // namespace

void check_annotations(Context& c) {
  check_metadata(c, c.model.metadata, true, [] { return std::string("model"); });
  for (const auto& f : c.model.functions) check_metadata(c, f->metadata, false, [&] { return function_name(*f); });
  for (const GraphPlace& place : c.graphs) {
    const Graph& graph = *place.graph;
    check_metadata(c, graph.metadata, false, [&] { return c.places.of(graph); });
    check_quantization(c, graph);
    for (const Value* v : graph.inputs()) check_value_metadata(c, *v);
    for (const Node& node : graph.nodes()) {
      check_metadata(c, node.metadata, false, [&] { return c.places.of(node); });
      for (std::size_t i = 0; i < node.output_count(); ++i)
        if (node.output(i)) check_value_metadata(c, *node.output(i));
    }
  }
}

}  // namespace ingot::passes::rules
