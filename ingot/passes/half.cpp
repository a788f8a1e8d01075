// The same model in half precision.
#include "ingot/passes/half.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/base/float_types.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ir/operator_pattern.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/passes/sort_nodes.h"

namespace ingot::passes {
namespace {

/// Numbers that these make or read are positions, sizes, scales or counts, not signals.
constexpr std::string_view kExact[] = {"CumSum",
                                       "DequantizeLinear",
                                       "DynamicQuantizeLinear",
                                       "LpNormalization",
                                       "Multinomial",
                                       "NonMaxSuppression",
                                       "QuantizeLinear",
                                       "RandomNormal",
                                       "RandomUniform",
                                       "Range",
                                       "ReduceSumSquare",
                                       "Resize",
                                       "RoiAlign",
                                       "TopK",
                                       "Upsample"};

bool has_subgraphs(const Node& node) {
  bool has_any = false;
  for_each_subgraph(node, [&](Graph&) { has_any = true; });
  return has_any;
}

/// A number alone that would become 0 is the smallest there is instead: it may be all that keeps a divisor from 0.
template <class Half> Tensor halved(const Tensor& tensor) {
  std::vector<Half> values;
  values.reserve(static_cast<std::size_t>(tensor.size()));
  for (const float v : tensor.to_vector<float>()) values.push_back(Half(v));
  if (const float v = tensor.size() == 1 ? tensor.to_vector<float>()[0] : 0;
      v != 0 && static_cast<float>(values[0]) == 0)
    values[0] = Half::from_bits(v < 0 ? 0x8001 : 1);
  return Tensor::of<Half>(tensor.dims(), values);
}

class Halving {
 public:
  Halving(Model& model, const HalfOptions& options)
      : model_(model),
        graph_(*model.graph),
        options_(options),
        largest_(options.ranges.begin(), options.ranges.end()) {}

  HalfReport run() {
    require_kept();
    for (const Value* v : graph_.initializers())
      if (v->initializer) report_.bytes_before += v->initializer->bytes().size();
    for (Node& node : graph_.nodes())
      if (reads_or_makes_float(node)) decide(node);
    keep_exact_constants();
    if (options_.converts_ports) convert_inputs();
    std::vector<Node*> nodes;
    for (Node& node : graph_.nodes()) nodes.push_back(&node);
    for (Node* node : nodes) convert(*node);
    for (Node* node : nodes) feed_subgraphs(*node);
    settle_outputs();
    drop_idle_casts();
    drop_unread(graph_);
    // Where nobody reads the float weight any more, the other takes its name.
    std::vector<Value*> left(graph_.initializers().begin(), graph_.initializers().end());
    for (Value* v : left)
      if (const auto it = stored_.find(v); it != stored_.end() && !graph_.find(it->second))
        graph_.rename(v, it->second);
    for (const Value* v : graph_.initializers())
      if (v->initializer) report_.bytes_after += v->initializer->bytes().size();
    return std::move(report_);
  }

 private:
  static bool is_no_tensor(const Value* v) { return v && v->type && !v->type.is_tensor(); }
  static bool is_float_tensor(const Value* v) { return v && v->type.is_tensor() && v->type.elem == DType::f32; }

  static bool reads_or_makes_float(const Node& node) {
    return std::ranges::any_of(node.inputs(), is_float_tensor) || std::ranges::any_of(node.outputs(), is_float_tensor);
  }

  double most() const { return options_.to == DType::f16 ? 65504.0 : 3.38953139e38; }
  double least() const { return options_.to == DType::f16 ? 5.9604645e-8 : 9.1835e-41; }

  static bool is_called(const Node& node, const std::string& word) {
    return word == node.name || OperatorPattern::parse(word).matches(node.op, node.domain);
  }

  /// What shall stay float must be there: a name with a slip would change numbers in silence.
  void require_kept() const {
    for (const std::string& word : options_.keep) {
      bool is_there = false;
      for (const Node& node : graph_.nodes()) is_there |= is_called(node, word);
      if (!is_there)
        throw Error(Code::unknown_name, "no node and no operator that could stay float is called '" + word + "'")
            .hint("'ingot inspect' lists the operators, with --text the names of nodes");
    }
  }

  void decide(const Node& node) {
    const std::string reason = why_kept(node);
    if (reason.empty()) {
      half_.insert(&node);
      ++report_.converted;
      return;
    }
    ++report_.kept;
    report_.islands.push_back({node.name.empty() ? node.label() : node.name, node.op, reason});
  }

  /// A number that a node needs in float is not rounded on its way.
  void keep_exact_constants() {
    for (const Node& node : graph_.nodes()) {
      if (!node.is("Constant") || !half_.contains(&node)) continue;
      const auto uses = node.output()->uses();
      if (std::ranges::none_of(uses, [&](const Use& use) { return use.node && !half_.contains(use.node); })) continue;
      half_.erase(&node);
      --report_.converted;
    }
  }

  std::string why_kept(const Node& node) {
    for (const std::string& word : options_.keep)
      if (is_called(node, word)) return "as asked for";
    if (has_subgraphs(node)) return "its subgraphs stay float";
    if (std::ranges::any_of(node.inputs(), is_no_tensor) || std::ranges::any_of(node.outputs(), is_no_tensor))
      return "it reads or gives what is no tensor, and keeps its type";
    const bool is_known = node.domain.empty() || node.domain == "com.microsoft";
    if (is_known && std::ranges::find(kExact, node.op) != std::end(kExact))
      return "its numbers are positions, scales or counts";
    if (!node.is("Constant") && node.attributes.has("dtype")) return "it says of what type its numbers are";
    const ops::Schema* schema = ops::schema_for(node.domain, node.op, model_.opsets.version(node.domain));
    if (!schema) return "nothing is known of the operator";
    const auto lacks = [&](const ops::ParamSchema* p, const Value* v) {
      return is_float_tensor(v) && (!p || !p->type->tensors.has(options_.to));
    };
    for (std::size_t i = 0; i < node.input_count(); ++i)
      if (lacks(schema->input(i), node.input(i))) return "the operator has no form for it in this operator set";
    for (std::size_t i = 0; i < node.output_count(); ++i)
      if (lacks(schema->output(i), node.output(i))) return "the operator has no form for it in this operator set";
    return why_out_of_range(node);
  }

  std::string why_out_of_range(const Node& node) {
    for (const Value* v : node.inputs())
      if (is_float_tensor(v) && v->initializer && range_of(*v).too_large)
        return "weight '" + v->name() + "' has numbers that are too large";
    const auto reached = [&](const Value* v) {
      const auto found = v ? largest_.find(v->name()) : largest_.end();
      if (found == largest_.end() || !(found->second > most())) return std::string();
      std::ostringstream size;
      size << found->second;
      return "'" + v->name() + "' reaches " + size.str();
    };
    for (const Value* v : node.inputs())
      if (std::string why = reached(v); !why.empty()) return why;
    for (const Value* v : node.outputs())
      if (std::string why = reached(v); !why.empty()) return why;
    return {};
  }

  const HalfRange& range_of(const Value& v) {
    const auto [it, is_new] = ranges_.try_emplace(&v);
    HalfRange& range = it->second;
    if (!is_new) return range;
    range.name = v.name();
    range.smallest = std::numeric_limits<double>::infinity();
    for (const float number : v.initializer->to_vector<float>()) {
      const double size = std::abs(static_cast<double>(number));
      ++range.elements;
      if (size == 0 || std::isnan(size)) continue;
      // An infinity is meant; what becomes one is not.
      if (!std::isinf(size)) {
        range.largest = std::max(range.largest, size);
        range.too_large += size > most();
      }
      range.smallest = std::min(range.smallest, size);
      range.vanishing += size < least() / 2;
    }
    if (range.largest == 0) range.smallest = 0;
    if (range.too_large || range.vanishing) report_.ranges.push_back(range);
    return range;
  }

  void convert_inputs() {
    for (Value* v : graph_.inputs())
      if (is_float_tensor(v)) {
        v->type.elem = options_.to;
        if (v->initializer) v->initializer = halved(*v->initializer);
      }
  }

  Tensor halved(const Tensor& tensor) const {
    return options_.to == DType::f16 ? passes::halved<Float16>(tensor) : passes::halved<BFloat16>(tensor);
  }

  void convert(Node& node) {
    const bool is_half = half_.contains(&node);
    for (std::size_t i = 0; i < node.input_count(); ++i)
      if (Value* v = node.input(i); v && v->type.is_tensor()) {
        if (is_half && v->type.elem == DType::f32) node.set_input(i, as(v, options_.to));
        if (!is_half && was_float(v)) node.set_input(i, as(v, DType::f32));
      }
    if (!is_half) return;
    for (Value* v : node.outputs())
      if (is_float_tensor(v)) {
        v->type.elem = options_.to;
        halves_.insert(v);
      }
    convert_attributes(node);
  }

  bool was_float(const Value* v) const {
    return halves_.contains(v) || (options_.converts_ports && v->is_input() && v->type.elem == options_.to);
  }

  void convert_attributes(Node& node) const {
    if (node.is("Constant")) {
      std::optional<Tensor> value;
      if (const auto* number = node.attributes.get<float>("value_float")) value = Tensor::scalar<float>(*number);
      if (const auto* list = node.attributes.get<std::vector<float>>("value_floats"))
        value = Tensor::of<float>({std::ssize(*list)}, *list);
      if (value) {
        node.attributes.erase("value_float");
        node.attributes.erase("value_floats");
        node.attributes.set({"value", AttrValue(halved(*value))});
      }
    }
    for (Attribute& a : node.attributes) {
      if (auto* tensor = std::get_if<Tensor>(&a.value); tensor && tensor->dtype() == DType::f32)
        a.value = halved(*tensor);
      if (auto* number = std::get_if<std::int64_t>(&a.value); number && a.name == "to")
        if (*number == static_cast<std::int64_t>(DType::f32)) *number = static_cast<std::int64_t>(options_.to);
    }
    // Without a value it is a float.
    if (node.is("ConstantOfShape") && !node.attributes.has("value"))
      node.attributes.set({"value", AttrValue(halved(Tensor::of<float>({1}, {0.0f})))});
  }

  /// The value in that type: a weight is stored in it, another is cast once, where it is made.
  Value* as(Value* v, DType to) {
    auto& made = made_[{v, to}];
    if (made) return made;
    if (v->initializer && !v->is_input() && to == options_.to) {
      const std::string name = v->name();
      made = graph_.add_initializer(graph_.fresh_name(name + "_half"), halved(*v->initializer));
      stored_.emplace(made, name);
      return made;
    }
    Node* cast = graph_.add_node("Cast", "", v->producer() ? v->producer()->next() : graph_.first());
    cast->attributes.set({"to", to});
    cast->set_input(0, v);
    made = cast->add_output(graph_.fresh_name(v->name() + "_" + std::string(name_of(to))));
    cast->name = made->name();
    made->type = v->type;
    made->type.elem = to;
    ++report_.casts;
    return made;
  }

  /// Graphs inside read what they read before.
  void feed_subgraphs(Node& owner) {
    for_each_subgraph(owner, [&](Graph& sub) {
      for_each_graph(sub, [&](Graph& nested) {
        for (Node& node : nested.nodes())
          for (std::size_t i = 0; i < node.input_count(); ++i)
            if (Value* v = node.input(i); v && was_float(v)) node.set_input(i, as(v, DType::f32));
        for (std::size_t i = 0; i < nested.output_count(); ++i)
          if (Value* v = nested.output(i); v && was_float(v)) nested.set_output(i, as(v, DType::f32));
      });
    });
  }

  void settle_outputs() {
    if (options_.converts_ports) {
      for (std::size_t i = 0; i < graph_.output_count(); ++i)
        if (Value* v = graph_.output(i); is_float_tensor(v) && v->producer())
          graph_.set_output(i, renamed(v, as(v, options_.to)));
      return;
    }
    for (std::size_t i = 0; i < graph_.output_count(); ++i)
      if (Value* v = graph_.output(i); halves_.contains(v)) graph_.set_output(i, renamed(v, as(v, DType::f32)));
  }

  /// Casts to the type that a value has by now. ONNX Runtime does not load all of them.
  void drop_idle_casts() {
    for (Node& node : graph_.nodes()) {
      Value *x = node.is("Cast") ? node.input(0) : nullptr, *y = x ? node.output(0) : nullptr;
      if (!y || x->type.elem != options_.to || y->type.elem != options_.to) continue;
      if (std::ranges::any_of(y->uses(), [](const Use& use) { return !use.node; })) {
        node.op = "Identity";
        node.attributes.erase("to");
      } else {
        graph_.replace_all_uses(y, x);
      }
    }
  }

  /// The outside knows the name.
  Value* renamed(Value* inner, Value* outer) {
    if (outer->is_declared) return outer;
    std::string name = inner->name();
    graph_.rename(inner, graph_.fresh_name(name + "_inner"));
    graph_.rename(outer, std::move(name));
    outer->is_declared = true;
    inner->is_declared = false;
    outer->doc_string = inner->doc_string;
    return outer;
  }

  struct Hash {
    std::size_t operator()(const std::pair<Value*, DType>& key) const {
      return std::hash<Value*>()(key.first) * 31 + static_cast<std::size_t>(key.second);
    }
  };

  Model& model_;
  Graph& graph_;
  const HalfOptions& options_;
  HalfReport report_;
  std::unordered_set<const Node*> half_;
  std::unordered_set<const Value*> halves_;
  std::unordered_map<const Value*, HalfRange> ranges_;
  std::unordered_map<std::string, double> largest_;       // of options_.ranges
  std::unordered_map<const Value*, std::string> stored_;  // weights, and what they were called
  std::unordered_map<std::pair<Value*, DType>, Value*, Hash> made_;
};

}  // namespace

HalfReport to_half(Model& model, const HalfOptions& options) {
  if (model.opsets.version("") < 7)
    throw Error(Code::unsupported_feature, "operator sets before 7 have other casts")
        .hint("convert with --opset 13 first");
  if (!model.training.empty())
    throw Error(Code::bad_usage, "a model with training information stays float")
        .hint("'ingot strip-training' takes it out");
  inline_functions(model);
  sort_nodes(*model.graph);
  InferOptions tolerant;
  tolerant.tolerate_errors = true;
  infer(model, tolerant);
  return Halving(model, options).run();
}

}  // namespace ingot::passes
