// The same model in double precision.
#include "ingot/passes/widen.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ops/extra_operators.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::passes {
namespace {

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// Which types become which: all below double, or halves alone.
struct Widths {
  DType to = DType::f64;
  bool takes_halves = false;

  bool has(DType dtype) const {
    return to == DType::f32 ? is_half(dtype) : dtype == DType::f32 || (takes_halves && is_half(dtype));
  }
  Tensor widened(const Tensor& tensor) const {
    const std::vector<double> numbers = tensor.to_doubles();
    if (to == DType::f64) return Tensor::of<double>(tensor.dims(), numbers);
    return Tensor::of<float>(tensor.dims(), std::vector<float>(numbers.begin(), numbers.end()));
  }
};

Value* add_cast(Value* value, DType to, Graph& graph, Node* before) {
  Node* cast = graph.add_node("Cast", "", before);
  cast->attributes.set({"to", to});
  cast->set_input(0, value);
  Value* result = cast->add_output(graph.fresh_name(value->name() + "/widened"));
  result->type = value->type;
  result->type.elem = to;
  return result;
}

/// Attributes that hold numbers, or say of what type numbers are.
class AttributeWidening {
 public:
  AttributeWidening(Node& node, const WidenOptions& options, const Widths& widths)
      : node_(node), attributes_(node.attributes), options_(options), widths_(widths) {}

  void run() {
    if (widths_.to == DType::f64) {
      write_defaults();
      write_constants();
    }
    for (Attribute& a : attributes_) {
      if (const auto* tensor = std::get_if<Tensor>(&a.value); tensor && widths_.has(tensor->dtype()))
        a.value = widths_.widened(*tensor);
      if (auto* number = std::get_if<std::int64_t>(&a.value); number && names_type(a.name))
        if (widths_.has(static_cast<DType>(*number))) *number = static_cast<std::int64_t>(widths_.to);
    }
  }

 private:
  bool names_type(std::string_view name) const {
    constexpr std::string_view kTypes[] = {"to", "dtype", "output_datatype"};
    // Of these the standard knows no double.
    constexpr std::string_view kInner[] = {"stash_type", "output_dtype", "softmax_precision"};
    return std::ranges::find(kTypes, name) != std::end(kTypes) ||
           (!options_.follows_schemas && std::ranges::find(kInner, name) != std::end(kInner));
  }

  /// What is float by default is said to be double.
  void write_defaults() {
    const auto say = [&](std::initializer_list<const char*> ops, const char* name) {
      for (const char* op : ops)
        if (node_.is(op) && !attributes_.has(name)) attributes_.set({name, DType::f64});
    };
    say({"RandomNormal", "RandomUniform", "SequenceEmpty"}, "dtype");
    say({"HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix"}, "output_datatype");
    if (!options_.follows_schemas) say({"LayerNormalization", "RMSNormalization", "GroupNormalization"}, "stash_type");
    if (node_.is("ConstantOfShape") && !attributes_.has("value"))
      attributes_.set(Attribute("value", AttrValue(Tensor::of<double>({1}, {0.0}))));
  }

  /// What can only be said in float is said as a tensor.
  void write_constants() {
    if (!node_.is("Constant")) return;
    if (const auto* number = attributes_.get<float>("value_float")) {
      const double value = *number;
      attributes_.erase("value_float");
      attributes_.set(Attribute("value", AttrValue(Tensor::scalar<double>(value))));
    } else if (const auto* numbers = attributes_.get<std::vector<float>>("value_floats")) {
      const std::vector<double> values(numbers->begin(), numbers->end());
      attributes_.erase("value_floats");
      const auto count = static_cast<std::int64_t>(values.size());
      attributes_.set(Attribute("value", AttrValue(Tensor::of<double>({count}, values))));
    }
  }

  Node& node_;
  Attributes& attributes_;
  const WidenOptions& options_;
  const Widths& widths_;
};

class Widening {
 public:
  Widening(Model& model, const WidenOptions& options, const Widths& widths)
      : model_(model), options_(options), widths_(widths) {}

  std::size_t count() const { return floats_.size(); }

  void run() {
    const std::vector<GraphPlace> places = all_graphs(model_);
    for (const GraphPlace& place : places) {
      for (const Value* v : place.graph->inputs()) note(v);
      for (const Value* v : place.graph->initializers()) note(v);
      for (const Node& node : place.graph->nodes())
        for (const Value* v : node.outputs()) note(v);
    }
    for (const GraphPlace& place : places)
      for (const Node& node : place.graph->nodes()) kept_.emplace(&node, kept_of(node));
    for (const GraphPlace& place : places) leave_settings(*place.graph);
    for (const GraphPlace& place : places) widen_graph(*place.graph);
    if (!options_.reads_double) cast_inputs();
  }

 private:
  /// Which inputs and outputs of a node stay float.
  struct Kept {
    std::vector<bool> inputs, outputs;
  };

  /// float, seq(float) and optional(float) become double, or halves float.
  bool widen(Type& type) const {
    if (type.is_sequence() || type.is_optional()) {
      Type inner = type.inner();
      if (!widen(inner)) return false;
      type.element = std::make_shared<const Type>(std::move(inner));
      return true;
    }
    if (!type.is_tensor() || !widths_.has(type.elem)) return false;
    type.elem = widths_.to;
    return true;
  }

  void note(const Value* v) {
    Type type = v ? v->type : Type();
    if (widen(type)) floats_.insert(v);
  }
  bool was_float(const Value* v) const { return v && floats_.contains(v); }

  Kept kept_of(const Node& node) const {
    Kept kept{std::vector<bool>(node.input_count()), std::vector<bool>(node.output_count())};
    if (ops::is_extra_operator(node.domain, node.op)) {  // nothing is said of the types that it takes
      kept.inputs.flip();
      kept.outputs.flip();
      return kept;
    }
    if (!options_.follows_schemas) {
      for (std::size_t i = 0; i < node.input_count(); ++i)
        kept.inputs[i] = (node.is("Resize") && i == 2) || (node.is("Upsample") && i == 1);
      return kept;
    }
    const ops::Schema* schema = ops::newest_schema(node.domain, node.op);
    const auto input_schema = [&](std::size_t i) { return schema ? schema->input(i) : nullptr; };
    const auto output_schema = [&](std::size_t i) { return schema ? schema->output(i) : nullptr; };
    // Parameters of one type variable go together.
    std::vector<const ops::TypeConstraint*> narrow;
    const bool reads_bits = node.op == "BitCast";
    const auto look = [&](const ops::ParamSchema* param, const Value* value) {
      if (was_float(value) && param && (reads_bits || !takes_double(param, value))) narrow.push_back(param->type);
    };
    for (std::size_t i = 0; i < node.input_count(); ++i) look(input_schema(i), node.input(i));
    for (std::size_t i = 0; i < node.output_count(); ++i) look(output_schema(i), node.output(i));
    const auto is_kept = [&](const ops::ParamSchema* param) {
      return !param || std::ranges::find(narrow, param->type) != narrow.end();
    };
    for (std::size_t i = 0; i < node.input_count(); ++i) kept.inputs[i] = is_kept(input_schema(i));
    for (std::size_t i = 0; i < node.output_count(); ++i) kept.outputs[i] = is_kept(output_schema(i));
    return kept;
  }

  /// Whether the parameter has a form for double.
  bool takes_double(const ops::ParamSchema* param, const Value* value) const {
    Type wide = value->type;
    widen(wide);
    return param->type->allows(wide);
  }

  /// Constants that only parameters without a form for double read, such as the scales of Resize, stay as they are:
  /// behind a cast they would be no constants.
  void leave_settings(Graph& graph) {
    const auto leave = [&](const Value* v) {
      if (v && !v->uses().empty() && std::ranges::all_of(v->uses(), [&](const Use& use) {
            return use.node && kept_.at(use.node).inputs[use.index];
          }))
        floats_.erase(v);
    };
    for (const Value* v : graph.initializers()) leave(v);
    if (options_.reads_double)
      for (const Value* v : graph.inputs()) leave(v);
    for (const Node& node : graph.nodes())
      if (node.is("Constant")) leave(node.output());
  }

  void widen_graph(Graph& graph) {
    for (Value* v : graph.initializers()) {
      if (!was_float(v) || (v->is_input() && !options_.reads_double)) continue;
      if (!v->initializer) throw Error(Code::unsupported_feature, "a sparse constant has no wider form yet");
      v->initializer = widths_.widened(*v->initializer);
      widen(v->type);
    }
    if (&graph != model_.graph.get() || options_.reads_double)
      for (Value* v : graph.inputs())
        if (was_float(v)) widen(v->type);
    for (Node& node : graph.nodes()) widen_node(node);
  }

  /// Those of the model stay float: their readers get them through a cast.
  void cast_inputs() {
    Graph& graph = *model_.graph;
    for (Value* v : graph.inputs()) {
      if (!was_float(v)) continue;
      if (!v->type.is_tensor()) throw Error(Code::unsupported_feature, "inputs that are no tensors are not widened");
      Value* wide = add_cast(v, widths_.to, graph, graph.first());
      Node* cast = wide->producer();
      graph.replace_all_uses(v, wide);
      cast->set_input(0, v);
    }
  }

  void widen_node(Node& node) {
    const auto found = kept_.find(&node);
    if (found == kept_.end()) return;  // a cast that was added
    const Kept& kept = found->second;
    bool is_widened = false;
    for (std::size_t i = 0; i < kept.inputs.size(); ++i) {
      Value* v = node.input(i);
      if (!was_float(v)) continue;
      if (kept.inputs[i])
        node.set_input(i, narrow(v, node));
      else
        is_widened = true;
    }
    for (std::size_t i = 0; i < kept.outputs.size(); ++i) {
      Value* v = node.output(i);
      if (!was_float(v)) continue;
      if (kept.outputs[i])
        widen_behind(node, v);
      else
        is_widened |= widen(v->type);
    }
    if (is_widened) AttributeWidening(node, options_, widths_).run();
  }

  Value* narrow(Value* v, Node& node) const {
    if (!v->type.is_tensor()) throw Error(Code::unsupported_feature, "an operator has no form for double");
    return add_cast(v, widths_.to == DType::f64 ? DType::f32 : DType::f16, node.graph(), &node);
  }

  /// The operator gives float; its readers get double under the same name.
  void widen_behind(Node& node, Value* v) {
    if (!v->type.is_tensor()) throw Error(Code::unsupported_feature, "an operator has no form for double");
    Graph& graph = node.graph();
    Value* wide = add_cast(v, widths_.to, graph, node.next());
    Node* cast = wide->producer();
    graph.replace_all_uses(v, wide);
    cast->set_input(0, v);
    floats_.insert(wide);  // for those behind that keep float
    const std::string name = v->name();
    graph.rename(v, graph.fresh_name(name + "/float"));
    graph.rename(wide, name);
  }

  Model& model_;
  const WidenOptions& options_;
  const Widths& widths_;
  std::unordered_set<const Value*> floats_;
  std::unordered_map<const Node*, Kept> kept_;
};

}  // namespace

bool is_narrow_float(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

void widen_floats(Model& model, const WidenOptions& options) {
  model.training.clear();
  inline_functions(model);
  canonicalize(model);
  const Widths widths{.takes_halves = options.widens_halves};
  Widening(model, options, widths).run();
}

std::size_t widen_halves(Model& model) {
  const WidenOptions options{.reads_double = true};
  const Widths widths{.to = DType::f32};
  Widening widening(model, options, widths);
  widening.run();
  return widening.count();
}

}  // namespace ingot::passes
