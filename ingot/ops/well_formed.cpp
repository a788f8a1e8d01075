// Whether a node is as its operator's schema says: what rules about operators may take for granted.
#include "ingot/ops/well_formed.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ops/schema.h"

namespace ingot::ops {
namespace {

std::string flaw_of_inputs(const Node& node, const Schema& schema) {
  const std::size_t count = node.input_count();
  for (std::size_t i = 0; i < count || i < static_cast<std::size_t>(schema.min_inputs); ++i) {
    const ParamSchema* formal = schema.input(i);
    if (node.input(i)) {
      if (!formal) return "there are more inputs than the operator has";
      continue;
    }
    if (formal && formal->option != ParamOption::optional)
      return "input " + std::to_string(i) + " ('" + std::string(formal->name) + "') is missing";
  }
  return {};
}

std::string flaw_of_outputs(const Node& node, const Schema& schema) {
  const auto count = static_cast<std::int64_t>(node.output_count());
  // Fewer than the schema counts are common: exporters leave out at the end what nobody reads.
  if ((count == 0 && schema.min_outputs > 0) || count > schema.max_outputs)
    return "the operator does not have " + std::to_string(count) + (count == 1 ? " output" : " outputs");
  for (std::size_t i = 0; i < node.output_count(); ++i) {
    const ParamSchema* formal = schema.output(i);
    if (!node.output(i) && formal && formal->option == ParamOption::single)
      return "output " + std::to_string(i) + " ('" + std::string(formal->name) + "') is missing";
  }
  return {};
}

std::string flaw_of_attributes(const Node& node, const Schema& schema) {
  for (const AttrSchema& known : schema.attributes) {
    const Attribute* given = node.attributes.find(known.name);
    if (!given && known.required) return "attribute '" + std::string(known.name) + "' is missing";
    if (!given || given->is_reference()) continue;
    if (given->value.index() == 0 || given->type() != known.type)
      return "attribute '" + std::string(known.name) + "' is of another type";
    if (const auto* graph = std::get_if<GraphPtr>(&given->value); graph && !*graph)
      return "attribute '" + std::string(known.name) + "' holds no graph";
  }
  return {};
}

}  // namespace

std::string flaw_of(const Node& node, const Schema& schema) {
  if (std::string flaw = flaw_of_inputs(node, schema); !flaw.empty()) return flaw;
  if (std::string flaw = flaw_of_outputs(node, schema); !flaw.empty()) return flaw;
  return flaw_of_attributes(node, schema);
}

void require_well_formed(const Node& node) {
  const auto versions = versions_of(node.domain, node.op);
  // What is deprecated may still run, as it was before.
  const auto newest = std::find_if(versions.rbegin(), versions.rend(), [](const Schema& s) { return !s.deprecated; });
  if (newest == versions.rend()) return;
  if (std::string flaw = flaw_of(node, *newest); !flaw.empty())
    throw Error(Code::bad_arity, std::move(flaw)).in_node(node.name, node.op, node.label());
}

namespace {

void require_defined(const Value& v) {
  if (v.is_undefined()) throw Error(Code::undefined_value, "nothing defines the value '" + v.name() + "'");
}

}  // namespace

void require_well_formed(Graph& graph) {
  for_each_graph(graph, [](Graph& inner) {
    for (const Node& node : inner.nodes()) {
      require_well_formed(node);
      for (const Value* v : node.inputs())
        if (v) require_defined(*v);
    }
    for (const Value* v : inner.outputs())
      if (v) require_defined(*v);
  });
}

}  // namespace ingot::ops
