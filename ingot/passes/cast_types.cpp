// Casts around operators that lack an element type.
#include "ingot/passes/cast_types.h"

#include <algorithm>
#include <map>

#include "ingot/ops/builder.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/hand_over.h"

namespace ingot::passes {
namespace {

struct Wider {
  DType from;
  std::vector<DType> up, down;
};

/// In the order in which they are tried. Integers stay integers and floats floats, so that division means the same.
const std::vector<DType>& candidates(DType from, CastRule rule) {
  static const std::map<std::pair<DType, CastRule>, std::vector<DType>> table = [] {
    const Wider rows[] = {
        {DType::f16, {DType::f32, DType::f64}, {}},
        {DType::bf16, {DType::f32, DType::f64}, {}},
        {DType::f32, {DType::f64}, {DType::f16}},
        {DType::f64, {}, {DType::f32, DType::f16}},
        {DType::i8, {DType::i16, DType::i32, DType::i64}, {}},
        {DType::i16, {DType::i32, DType::i64}, {DType::i8}},
        {DType::i32, {DType::i64}, {DType::i16, DType::i8}},
        {DType::i64, {}, {DType::i32, DType::i16, DType::i8}},
        {DType::u8, {DType::u16, DType::i16, DType::u32, DType::i32, DType::u64, DType::i64}, {}},
        {DType::u16, {DType::u32, DType::i32, DType::u64, DType::i64}, {DType::u8}},
        {DType::u32, {DType::u64, DType::i64}, {DType::i32, DType::u16, DType::u8}},
        {DType::u64, {}, {DType::i64, DType::u32, DType::i32}},
        {DType::boolean, {DType::u8, DType::i32, DType::i64}, {}},
    };
    std::map<std::pair<DType, CastRule>, std::vector<DType>> made;
    for (const Wider& row : rows) {
      std::vector<DType> all = row.up;
      made[{row.from, CastRule::up}] = all;
      all.insert(all.end(), row.down.begin(), row.down.end());
      made[{row.from, CastRule::all}] = all;
    }
    return made;
  }();
  static const std::vector<DType> none;
  const auto found = table.find({from, rule});
  return found == table.end() ? none : found->second;
}

bool has_subgraphs(const Node& node) {
  bool has_any = false;
  for_each_subgraph(node, [&](Graph&) { has_any = true; });
  return has_any;
}

/// Which type the node's parameters of a constraint would have, where the present one is not allowed.
std::map<const ops::TypeConstraint*, DType> wanted_types(const Node& node, const ops::Schema& schema, CastRule rule) {
  std::map<const ops::TypeConstraint*, DType> wanted;
  const ops::Schema* newest = ops::newest_schema(schema.domain, schema.name);
  const auto look = [&](const ops::ParamSchema* parameter, const ops::ParamSchema* now, const Value* value) {
    if (!parameter || !value || !value->type.is_tensor() || parameter->type->allows(value->type)) return;
    for (const DType type : candidates(value->type.elem, rule))
      if (parameter->type->tensors.has(type) && now && now->type->tensors.has(type)) {
        wanted.emplace(parameter->type, type);
        return;
      }
  };
  for (std::size_t i = 0; i < node.input_count(); ++i) look(schema.input(i), newest->input(i), node.input(i));
  for (std::size_t i = 0; i < node.output_count(); ++i) look(schema.output(i), newest->output(i), node.output(i));
  return wanted;
}

void cast_output(Node& node, std::size_t i, DType inside) {
  Value* y = node.output(i);
  Graph& graph = node.graph();
  const Type outside = y->type;
  const std::vector<Use> uses(y->uses().begin(), y->uses().end());
  y->type.elem = inside;
  GraphBuilder g(graph, node.next());
  g.name_after(node);
  Value* made = g.cast(y, outside.elem);
  made->type = outside;
  hand_over(y, made, uses);
}

}  // namespace

std::vector<std::string> cast_types(Graph& root, std::int64_t opset, CastRule rule) {
  std::vector<std::string> lines;
  if (rule == CastRule::none) return lines;
  for_each_graph(root, [&](Graph& graph) {
    for (Node& node : graph.nodes()) {
      const ops::Schema* schema = node.domain.empty() ? ops::schema_for("", node.op, opset) : nullptr;
      if (!schema || node.is("Cast") || has_subgraphs(node)) continue;
      const auto wanted = wanted_types(node, *schema, rule);
      if (wanted.empty()) continue;
      const std::string label = node.label();
      for (std::size_t i = 0; i < node.input_count(); ++i) {
        const auto* parameter = schema->input(i);
        const auto type = parameter ? wanted.find(parameter->type) : wanted.end();
        if (type == wanted.end() || !node.input(i) || node.input(i)->type.elem == type->second) continue;
        lines.push_back("cast: " + label + " computes in " + std::string(name_of(type->second)) + " instead of " +
                        std::string(name_of(node.input(i)->type.elem)) + ", which opset " + std::to_string(opset) +
                        " lacks");
        GraphBuilder g(graph, &node);
        g.name_after(node);
        node.set_input(i, g.cast(node.input(i), type->second));
      }
      for (std::size_t i = 0; i < node.output_count(); ++i) {
        const auto* parameter = schema->output(i);
        const auto type = parameter ? wanted.find(parameter->type) : wanted.end();
        if (type != wanted.end() && node.output(i) && node.output(i)->type.elem != type->second)
          cast_output(node, i, type->second);
      }
    }
  });
  std::ranges::sort(lines);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

}  // namespace ingot::passes
