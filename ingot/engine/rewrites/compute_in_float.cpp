// Half-precision networks run as float ones, so that whatever is fast for float is fast for them.
#include "ingot/engine/rewrites/compute_in_float.h"

#include <algorithm>
#include <unordered_map>

#include "ingot/base/mapped_file.h"
#include "ingot/engine/kernels/half.h"
#include "ingot/engine/rewrites/pattern.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/schema.h"

namespace ingot::engine {
namespace {

// A number that was not rounded to half may lie on the other side of a step of these.
constexpr std::string_view kStepwise[] = {"Ceil", "Equal", "Floor", "Mod", "Round"};
// They make numbers of a type of their own.
constexpr std::string_view kTyped[] = {"Bernoulli", "BitCast",          "CastLike",
                                       "EyeLike",   "RandomNormalLike", "RandomUniformLike"};

// They only move elements: in half the size, where nothing around them computes.
constexpr std::string_view kMoving[] = {
    "Compress", "Concat",  "DepthToSpace",    "Expand",  "Flatten",   "Gather", "GatherElements",
    "GatherND", "Pad",     "ReverseSequence", "Reshape", "ScatterND", "Slice",  "ScatterElements",
    "Split",    "Squeeze", "SpaceToDepth",    "Tile",    "Transpose", "Trilu",  "Unsqueeze",
    "Where"};

template <std::size_t N> bool is_one_of(const Node& node, const std::string_view (&names)[N]) {
  return node.domain.empty() && std::ranges::find(names, node.op) != std::end(names);
}

bool is_half_tensor(const Type& type) { return type.is_tensor() && is_half(type.elem); }

bool holds_graphs(const Node& node) {
  bool found = false;
  for_each_subgraph(node, [&](Graph&) { found = true; });
  return found;
}

class Widening {
 public:
  explicit Widening(Ledger& ledger) : ledger_(ledger) {}

  void visit(Graph& graph) {
    const auto order = topological_order(graph);
    if (!order) return;
    for (Node* node : *order) visit(*node);
    for (std::size_t i = 0; i < graph.output_count(); ++i)
      if (graph.output(i) && halves_.contains(graph.output(i))) graph.set_output(i, narrow(graph, graph.output(i)));
  }

  /// When all graphs were visited: only then may a half value's float be read as a float of the model.
  void finish() {
    for (Node* cast : idle_) {
      cast->graph().replace_all_uses(cast->output(0), cast->input(0));
      cast->graph().erase(cast);
    }
  }

 private:
  bool was_half(const Value* v) const { return v && (is_half_tensor(v->type) || halves_.contains(v)); }

  void visit(Node& node) {
    if (node.is("Cast") && was_half(node.input(0))) return visit_cast(node);
    if (!can_widen(node)) {
      for (std::size_t i = 0; i < node.input_count(); ++i)
        if (node.input(i) && halves_.contains(node.input(i)) && !only_asks_shape(node))
          node.set_input(i, narrow(node.graph(), node.input(i)));
      return;
    }
    const bool is_stepwise = is_one_of(node, kStepwise);
    for (std::size_t i = 0; i < node.input_count(); ++i)
      if (was_half(node.input(i))) node.set_input(i, is_stepwise ? rounded(node, i) : wide(node, node.input(i)));
    for (Value* output : node.outputs())
      if (output && is_half_tensor(output->type)) {
        halves_[output] = output->type.elem;
        output->type.elem = DType::f32;
      }
  }

  static bool only_asks_shape(const Node& node) { return node.is("Shape") || node.is("Size"); }

  /// Float out of half is what was there before; for other types the rounded number counts.
  void visit_cast(Node& node) {
    if (node.attributes.int_or("to", 0) == static_cast<std::int64_t>(DType::f32)) {
      node.set_input(0, wide(node, node.input(0)));
      idle_.push_back(&node);
    } else if (halves_.contains(node.input(0))) {
      node.set_input(0, narrow(node.graph(), node.input(0)));
    }
  }

  /// Whether the operator does the same to floats, and its half outputs are half because its inputs are.
  bool can_widen(const Node& node) const {
    const ops::Schema* schema = ops::newest_schema(node.domain, node.op);
    if (!schema || holds_graphs(node) || is_one_of(node, kTyped) || only_asks_shape(node)) return false;
    if (reads_table(node) || moves_halves(node)) return false;
    std::vector<const ops::TypeConstraint*> variables;
    for (std::size_t i = 0; i < node.input_count(); ++i) {
      const Value* input = node.input(i);
      if (!input) continue;
      if (!input->type.is_tensor()) return false;
      const ops::ParamSchema* parameter = schema->input(i);
      if (!parameter) return false;
      if (!was_half(input)) continue;
      if (!parameter->type->tensors.has(DType::f32)) return false;
      variables.push_back(parameter->type);
    }
    if (variables.empty()) return false;
    for (std::size_t i = 0; i < node.output_count(); ++i) {
      const Value* output = node.output(i);
      if (!output) continue;
      if (!output->type.is_tensor()) return false;
      if (!is_half(output->type.elem)) continue;
      // Without output_dtype, numbers have the type of the scale.
      if (node.is("DequantizeLinear")) continue;
      const ops::ParamSchema* parameter = schema->output(i);
      if (!parameter || std::ranges::find(variables, parameter->type) == variables.end()) return false;
    }
    return !node.attributes.has("output_dtype") && !node.attributes.has("dtype");
  }

  /// Whether it moves elements that come as halves, not as floats that stand for them.
  bool moves_halves(const Node& node) const {
    if (!is_one_of(node, kMoving) || node.attributes.string_or("reduction", "none") != "none") return false;
    return std::ranges::none_of(node.inputs(), [&](const Value* v) { return v && halves_.contains(v); });
  }

  /// Of a constant table, such as an embedding, few rows are read.
  static bool reads_table(const Node& node) {
    return (node.is("Gather") || node.is("GatherND")) && constant_of(node.input(0)) &&
           is_half_tensor(node.input(0)->type);
  }

  /// A half value as floats, for a node of any graph below the value's.
  Value* wide(Node& reader, Value* v) {
    if (halves_.contains(v)) return v;
    if (constant_of(v)) return wide_constant(v);
    auto& made = wide_[{&reader.graph(), v}];
    if (!made) {
      GraphBuilder g(reader.graph(), first_place(reader.graph(), v));
      made = g.cast(v, DType::f32);
    }
    return made;
  }

  Value* wide_constant(Value* v) {
    Value*& made = constants_[v];
    if (made) return made;
    const Tensor& half = *v->initializer;
    Array floats = ledger_.allocate_raw(DType::f32, half.dims());
    widen(half.dtype(), half.bytes().data(), floats.mutable_data<float>().data(), half.size());
    drop_pages(half.bytes());
    made = v->graph().add_initializer(v->graph().fresh_name(v->name()), floats.to_tensor());
    made->type = floats.type();
    return made;
  }

  /// What was made as float, as the half that it stands for.
  Value* narrow(Graph& graph, Value* v) {
    auto& made = narrow_[{&graph, v}];
    if (!made) {
      GraphBuilder g(graph, first_place(graph, v));
      made = g.cast(v, halves_.at(v));
    }
    return made;
  }

  Value* rounded(Node& reader, std::size_t i) {
    Value* v = reader.input(i);
    if (!halves_.contains(v)) return wide(reader, v);
    GraphBuilder g(reader.graph(), &reader);
    return g.cast(narrow(reader.graph(), v), DType::f32);
  }

  /// Before which node of a graph a value can be read first; null: at its end.
  static Node* first_place(const Graph& graph, const Value* v) {
    return v->producer() && &v->graph() == &graph ? v->producer()->next() : graph.first();
  }

  struct HashPlace {
    std::size_t operator()(const std::pair<const Graph*, const Value*>& p) const {
      return std::hash<const void*>()(p.first) ^ (std::hash<const void*>()(p.second) << 1);
    }
  };
  using ByPlace = std::unordered_map<std::pair<const Graph*, const Value*>, Value*, HashPlace>;

  Ledger& ledger_;
  std::unordered_map<const Value*, DType> halves_;  // that are float now, with the type they had
  ByPlace wide_, narrow_;
  std::unordered_map<const Value*, Value*> constants_;
  std::vector<Node*> idle_;  // casts from float to float
};

bool has_halves(Graph& root) {
  bool found = false;
  for_each_graph(root, [&](Graph& graph) {
    for (const Value* input : graph.inputs()) found |= is_half_tensor(input->type);
    for (const Node& node : graph.nodes())
      for (const Value* output : node.outputs()) found |= output && is_half_tensor(output->type);
  });
  return found;
}

}  // namespace

void compute_in_float(Graph& root, Ledger& ledger) {
  if (!has_halves(root)) return;
  Widening widening(ledger);
  for_each_graph(root, [&](Graph& graph) { widening.visit(graph); });
  widening.finish();
}

}  // namespace ingot::engine
