// The same model in double precision.
#include "ingot/passes/widen.h"

#include <algorithm>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::passes {
namespace {

/// float, seq(float) and optional(float) become double.
bool widen(Type& type) {
  if (type.is_sequence() || type.is_optional()) {
    Type inner = type.inner();
    if (!widen(inner)) return false;
    type.element = std::make_shared<const Type>(std::move(inner));
    return true;
  }
  if (!type.is_tensor() || type.elem != DType::f32) return false;
  type.elem = DType::f64;
  return true;
}

bool is_float(const Value* value) {
  Type type = value ? value->type : Type();
  return widen(type);
}

Tensor widened(const Tensor& tensor) { return Tensor::of<double>(tensor.dims(), tensor.to_doubles()); }

Value* add_cast(Value* value, DType to, Graph& graph, Node* before) {
  Node* cast = graph.add_node("Cast", "", before);
  cast->attributes.set({"to", to});
  cast->set_input(0, value);
  Value* result = cast->add_output(graph.fresh_name(value->name() + "/widened"));
  result->type = value->type;
  result->type.elem = to;
  return result;
}

class Widening {
 public:
  explicit Widening(Model& model) : model_(model) {}

  void run() {
    const std::vector<GraphPlace> places = all_graphs(model_);
    for (const GraphPlace& place : places) {
      for (Value* v : place.graph->inputs()) note(v);
      for (Value* v : place.graph->initializers()) note(v);
      for (Node& node : place.graph->nodes())
        for (Value* v : node.outputs()) note(v);
    }
    for (const GraphPlace& place : places) widen_graph(*place.graph);
    widen_inputs();
  }

 private:
  void note(Value* v) {
    if (is_float(v)) floats_.insert(v);
  }
  bool was_float(const Value* v) const { return v && floats_.contains(v); }

  void widen_graph(Graph& graph) {
    for (Value* v : graph.initializers()) {
      if (!was_float(v) || v->is_input()) continue;
      if (!v->initializer) throw Error(Code::unsupported_feature, "a sparse constant has no form in double yet");
      v->initializer = widened(*v->initializer);
      widen(v->type);
    }
    if (&graph != model_.graph.get())
      for (Value* v : graph.inputs()) widen(v->type);
    for (Node& node : graph.nodes()) widen_node(node);
  }

  /// Those of the model stay float: their readers get them through a cast.
  void widen_inputs() {
    Graph& graph = *model_.graph;
    for (Value* v : graph.inputs()) {
      if (!was_float(v)) continue;
      if (!v->type.is_tensor()) throw Error(Code::unsupported_feature, "inputs that are no tensors are not widened");
      Value* wide = add_cast(v, DType::f64, graph, graph.first());
      Node* cast = wide->producer();
      graph.replace_all_uses(v, wide);
      cast->set_input(0, v);
    }
  }

  /// Whether the parameter has a form for double.
  static bool takes_double(const ops::ParamSchema* param, const Value* value) {
    if (!param) return false;
    Type wide = value->type;
    widen(wide);
    return param->type->allows(wide);
  }

  void widen_node(Node& node) {
    const ops::Schema* schema = ops::newest_schema(node.domain, node.op);
    const auto input_schema = [&](std::size_t i) { return schema ? schema->input(i) : nullptr; };
    const auto output_schema = [&](std::size_t i) { return schema ? schema->output(i) : nullptr; };
    // Parameters of one type variable go together.
    std::vector<const ops::TypeConstraint*> kept;
    const bool reads_bits = node.op == "BitCast";
    const auto look = [&](const ops::ParamSchema* param, const Value* value) {
      if (was_float(value) && param && (reads_bits || !takes_double(param, value))) kept.push_back(param->type);
    };
    for (std::size_t i = 0; i < node.input_count(); ++i) look(input_schema(i), node.input(i));
    for (std::size_t i = 0; i < node.output_count(); ++i) look(output_schema(i), node.output(i));
    const auto is_kept = [&](const ops::ParamSchema* param) {
      return !param || std::ranges::find(kept, param->type) != kept.end();
    };
    for (std::size_t i = 0; i < node.input_count(); ++i) {
      Value* v = node.input(i);
      if (was_float(v) && is_kept(input_schema(i))) node.set_input(i, narrow(v, node));
    }
    bool is_widened = false;
    for (std::size_t i = 0; i < node.output_count(); ++i) {
      Value* v = node.output(i);
      if (!was_float(v)) continue;
      if (is_kept(output_schema(i)))
        widen_behind(node, v);
      else
        is_widened |= widen(v->type);
    }
    if (is_widened) widen_attributes(node);
  }

  static Value* narrow(Value* v, Node& node) {
    if (!v->type.is_tensor()) throw Error(Code::unsupported_feature, "an operator has no form for double");
    return add_cast(v, DType::f32, node.graph(), &node);
  }

  /// The operator gives float; its readers get double under the same name.
  static void widen_behind(Node& node, Value* v) {
    if (!v->type.is_tensor()) throw Error(Code::unsupported_feature, "an operator has no form for double");
    Graph& graph = node.graph();
    Value* wide = add_cast(v, DType::f64, graph, node.next());
    Node* cast = wide->producer();
    graph.replace_all_uses(v, wide);
    cast->set_input(0, v);
    const std::string name = v->name();
    graph.rename(v, graph.fresh_name(name + "/float"));
    graph.rename(wide, name);
  }

  static void widen_attributes(Node& node) {
    for (const char* name : {"to", "dtype", "output_datatype"})
      if (node.attributes.int_or(name, 0) == static_cast<std::int64_t>(DType::f32))
        node.attributes.set({name, DType::f64});
    if ((node.is("RandomNormal") || node.is("RandomUniform")) && !node.attributes.has("dtype"))
      node.attributes.set({"dtype", DType::f64});
    if ((node.is("HannWindow") || node.is("HammingWindow") || node.is("BlackmanWindow") ||
         node.is("MelWeightMatrix")) &&
        !node.attributes.has("output_datatype"))
      node.attributes.set({"output_datatype", DType::f64});
    if (node.is("ConstantOfShape") && !node.attributes.has("value"))
      node.attributes.set(Attribute("value", AttrValue(Tensor::of<double>({1}, {0.0}))));
    if (const auto* number = node.attributes.get<float>("value_float"); number && node.is("Constant")) {
      const double value = *number;
      node.attributes.erase("value_float");
      node.attributes.set(Attribute("value", AttrValue(Tensor::scalar<double>(value))));
    }
    if (const auto* numbers = node.attributes.get<std::vector<float>>("value_floats"); numbers && node.is("Constant")) {
      const std::vector<double> values(numbers->begin(), numbers->end());
      node.attributes.erase("value_floats");
      node.attributes.set(
          Attribute("value", AttrValue(Tensor::of<double>({static_cast<std::int64_t>(values.size())}, values))));
    }
    if (const Tensor* value = node.attributes.get<Tensor>("value"); value && value->dtype() == DType::f32) {
      Tensor wide = widened(*value);
      node.attributes.set(Attribute("value", AttrValue(std::move(wide))));
    }
  }

  Model& model_;
  std::unordered_set<const Value*> floats_;
};

}  // namespace

void widen_floats(Model& model) {
  model.training.clear();
  inline_functions(model);
  canonicalize(model);
  Widening(model).run();
}

}  // namespace ingot::passes
