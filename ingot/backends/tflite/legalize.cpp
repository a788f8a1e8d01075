// Brings a graph into a form whose operators TFLite has.
#include "ingot/backends/tflite/legalize.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/tflite/operators.h"
#include "ingot/backends/tflite/rewrites.h"
#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tflite {
namespace {

std::size_t rank_of(const Value* v) { return v && v->type.shape ? v->type.shape->size() : 0; }

/// Takes a node out whose output 0 is its input 0, unless it carries a name from outside to outside.
bool take_out(Node& node) {
  Value *x = node.input(0), *y = node.output(0);
  if (!x || !y || x->type.elem != y->type.elem) return false;
  const bool names_output = std::ranges::any_of(y->uses(), [](const Use& u) { return !u.node; });
  if (names_output) {
    bool x_has_name = !x->producer() || &x->graph() != &node.graph();
    for (const Use& use : x->uses()) x_has_name |= !use.node;
    if (x_has_name) return false;
  }
  replace_node(node, {x});
  return true;
}

/// The name of an output of the graph moves to the value that an Identity would carry.
bool take_out_identity(Node& node) {
  Value *x = node.input(0), *y = node.output(0);
  const bool names_output = std::ranges::any_of(y->uses(), [](const Use& u) { return !u.node; });
  if (!names_output) return take_out(node);
  bool x_has_name = !x->producer() || &x->graph() != &node.graph() || x->is_declared;
  for (const Use& use : x->uses()) x_has_name |= !use.node;
  if (x_has_name) return false;
  Graph& graph = node.graph();
  const std::vector<Use> uses(y->uses().begin(), y->uses().end());
  for (const Use& use : uses) use.node ? use.node->set_input(use.index, x) : use.graph->set_output(use.index, x);
  std::string name = y->name();
  const bool is_declared = y->is_declared;
  graph.erase(&node);
  graph.rename(x, std::move(name));
  x->is_declared = is_declared;
  return true;
}

Values global_pool(Node& node, GraphBuilder& g, ops::Name reduce) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 2; i < rank_of(node.input(0)); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (axes.empty()) return {};
  Value* over = g.ints(axes);
  return {g.op(reduce, {node.input(0), over}, {{"keepdims", 1}})};
}

/// x * scale / sqrt(variance + epsilon) + (bias - mean * ...), with numbers where they are stored.
Values batch_normalization(Node& node, GraphBuilder& g) {
  const std::size_t rank = rank_of(node.input(0));
  if (rank < 2 || node.attributes.int_or("training_mode", 0) || node.input(0)->type.elem != DType::f32) return {};
  for (std::size_t i = 1; i < 5; ++i)
    if (!node.input(i) || node.input(i)->type.elem != DType::f32) return {};
  const double epsilon = static_cast<double>(node.attributes.float_or("epsilon", 1e-5f));
  std::vector<std::int64_t> shape(rank, 1);
  shape[1] = -1;
  Value *factor = nullptr, *offset = nullptr;
  const Tensor* stored[4];
  bool are_stored = true;
  for (std::size_t i = 0; i < 4; ++i) are_stored &= (stored[i] = ops::constant_of(node.input(i + 1))) != nullptr;
  if (are_stored) {
    const auto scale = stored[0]->to_doubles(), bias = stored[1]->to_doubles(), mean = stored[2]->to_doubles(),
               variance = stored[3]->to_doubles();
    std::vector<float> factors, offsets;
    for (std::size_t c = 0; c < scale.size(); ++c) {
      const double f = scale[c] / std::sqrt(variance[c] + epsilon);
      factors.push_back(static_cast<float>(f));
      offsets.push_back(static_cast<float>(bias[c] - mean[c] * f));
    }
    shape[1] = static_cast<std::int64_t>(factors.size());
    factor = g.constant(Tensor::of<float>(shape, factors));
    offset = g.constant(Tensor::of<float>(shape, offsets));
  } else {
    Value* spread = g.add(node.input(4), epsilon);
    Value* root = g.op("Sqrt", {spread});
    Value* f = g.div(node.input(1), root);
    Value* moved = g.mul(node.input(3), f);
    Value* o = g.sub(node.input(2), moved);
    factor = g.reshape(f, shape);
    offset = g.reshape(o, shape);
  }
  Value* scaled = g.mul(node.input(0), factor);
  return {g.add(scaled, offset)};
}

/// Abramowitz and Stegun 7.1.26: within 1.5e-7 of the error function, which is float's own precision there.
Values error_function(Node& node, GraphBuilder& g) {
  Value* x = node.input(0);
  if (x->type.elem != DType::f32 || !x->type.shape) return {};
  Value* size = g.op("Abs", {x});
  Value* scaled = g.mul(size, 0.3275911);
  Value* more = g.add(scaled, 1);
  Value* t = g.div(1.0, more);
  Value* p = g.mul(t, 1.061405429);
  for (const double a : {-1.453152027, 1.421413741, -0.284496736, 0.254829592}) {
    p = g.add(p, a);
    p = g.mul(p, t);
  }
  Value* square = g.mul(x, x);
  Value* negative = g.neg(square);
  Value* e = g.op("Exp", {negative});
  Value* rest = g.mul(p, e);
  Value* positive = g.sub(1.0, rest);
  Value* sign = g.op("Sign", {x});
  return {g.mul(positive, sign)};
}

/// The short forms of a Constant (value_ints, value_float, ...) become a tensor, which is what all others look for.
void spell_out(Node& constant) {
  const Attributes& a = constant.attributes;
  std::optional<Tensor> value;
  if (const auto* i = a.get<std::int64_t>("value_int")) value = Tensor::scalar<std::int64_t>(*i);
  if (const auto* f = a.get<float>("value_float")) value = Tensor::scalar<float>(*f);
  if (const auto* is = a.get<std::vector<std::int64_t>>("value_ints")) value = Tensor::ints(*is);
  if (const auto* fs = a.get<std::vector<float>>("value_floats"))
    value = Tensor::of<float>({static_cast<std::int64_t>(fs->size())}, *fs);
  if (!value) return;
  constant.attributes = {};
  constant.attributes.set(Attribute("value", AttrValue(std::move(*value))));
}

bool is_plain_dropout(const Node& node) {
  if (node.output(1) && !node.output(1)->uses().empty()) return false;
  const Tensor* training = node.input(2) ? ops::constant_of(node.input(2)) : nullptr;
  return !node.input(2) || (training && training->to_ints() == std::vector<std::int64_t>{0});
}

Values rewritten(Node& node, GraphBuilder& g, std::vector<std::string>& notes) {
  if (node.is("GlobalAveragePool")) return global_pool(node, g, "ReduceMean");
  if (node.is("GlobalMaxPool")) return global_pool(node, g, "ReduceMax");
  if (node.is("BatchNormalization")) return batch_normalization(node, g);
  if (node.is("Erf")) {
    Values made = error_function(node, g);
    if (!made.empty()) notes.push_back(node.label() + " (Erf): computed by a polynomial, within 1.5e-7");
    return made;
  }
  if (node.op.starts_with("Reduce")) return float_reduction(node, g);
  if (node.is("Range")) return counted_range(node, g);
  return {};
}

DType other_type(DType type, AutoCast allowed) {
  switch (type) {
    case DType::f16:
    case DType::bf16:
      return DType::f32;
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::u16:
      return DType::i32;
    case DType::u32:
      return DType::i64;
    case DType::i64:
      return allowed == AutoCast::all ? DType::i32 : DType::undefined;
    case DType::u64:
      return allowed == AutoCast::all ? DType::i64 : DType::undefined;
    case DType::f64:
      return allowed == AutoCast::all ? DType::f32 : DType::undefined;
    default:
      return DType::undefined;
  }
}

/// Whether the node can be emitted once values of `from` are `to`; then the casts are in place.
bool cast_around(Node& node, DType from, DType to, const ExportOptions& options) {
  Graph& graph = node.graph();
  std::vector<Node*> casts;
  const Values old = node.inputs();
  std::vector<Type> types;
  for (const Value* v : node.outputs()) types.push_back(v ? v->type : Type{});
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (!old[i] || old[i]->type.elem != from) continue;
    GraphBuilder g(graph, &node);
    g.name_after(node);
    Value* cast = g.cast(old[i], to);
    casts.push_back(cast->producer());
    node.set_input(i, cast);
  }
  const auto take_back = [&] {
    for (std::size_t i = 0; i < old.size(); ++i) node.set_input(i, old[i]);
    for (Node* cast : casts) graph.erase(cast);
    for (std::size_t i = 0; i < node.output_count(); ++i)
      if (node.output(i)) node.output(i)->type = types[i];
  };
  if (casts.empty()) return false;
  try {
    ops::InferSession session;
    for (Value* v : node.outputs())
      if (v) v->type.elem = v->type.elem == from ? to : v->type.elem;
    ops::infer_node(node, session);
  } catch (const Error&) {
    take_back();
    return false;
  }
  if (!is_native(node, options)) {
    take_back();
    return false;
  }
  for (std::size_t i = 0; i < node.output_count(); ++i) {
    Value* y = node.output(i);
    if (!y || types[i].elem != from || y->type.elem != to) continue;
    const std::vector<Use> uses(y->uses().begin(), y->uses().end());
    GraphBuilder g(graph, node.next());
    g.name_after(node);
    Value* back = g.cast(y, from);
    bool names_output = false;
    for (const Use& use : uses) {
      use.node ? use.node->set_input(use.index, back) : use.graph->set_output(use.index, back);
      names_output |= !use.node;
    }
    if (!names_output) continue;
    std::string name = y->name();
    graph.rename(y, graph.fresh_name(name));
    graph.rename(back, std::move(name));
    back->is_declared = std::exchange(y->is_declared, false);
  }
  return true;
}

}  // namespace

bool is_native(const Node& node, const ExportOptions& options) {
  if (node.is("Constant")) return true;
  for (const std::string& allowed : options.allow_custom) {
    const std::size_t colon = allowed.find(':');
    if (node.op == allowed.substr(0, colon) && (colon == std::string::npos || node.domain == allowed.substr(colon + 1)))
      return true;
  }
  return refusal(node).empty();
}

void rewrite_for_tflite(Graph& graph, std::vector<std::string>& notes) {
  for_each_graph(graph, [&](Graph& g) {
    for (Node& node : g.nodes()) {
      if (node.is("Constant")) {
        spell_out(node);
        continue;
      }
      if (node.is("Identity")) {
        take_out_identity(node);
        continue;
      }
      if ((node.is("Max") || node.is("Min") || node.is("Sum") || node.is("Mean")) && node.input_count() == 1) {
        node.op = "Identity";
        take_out_identity(node);
        continue;
      }
      if (node.is("Dropout") && is_plain_dropout(node)) {
        node.resize_inputs(1);
        node.op = "Identity";
        node.attributes = {};
        node.resize_outputs(1);
        take_out_identity(node);
        continue;
      }
      GraphBuilder builder(g, &node);
      builder.name_after(node);
      const Values made = rewritten(node, builder, notes);
      if (!made.empty()) replace_node(node, made);
    }
  });
}

void cast_for_tflite(Graph& graph, const ExportOptions& options, std::vector<std::string>& notes) {
  if (options.auto_cast == AutoCast::none) return;
  for_each_graph(graph, [&](Graph& g) {
    for (Node& node : g.nodes()) {
      if (is_native(node, options) || !row_of(node)) continue;
      std::vector<DType> types;
      for (const Value* v : node.inputs())
        if (v && std::ranges::find(types, v->type.elem) == types.end()) types.push_back(v->type.elem);
      for (const DType from : types) {
        const DType to = other_type(from, options.auto_cast);
        if (to == DType::undefined || !cast_around(node, from, to, options)) continue;
        notes.push_back(
            fmt::format("{} ({}): computed in {} instead of {}", node.label(), node.op, name_of(to), name_of(from)));
        break;
      }
    }
    // There and back again through a wider type is nothing.
    for (Node& node : g.nodes()) {
      if (!node.is("Cast") || !node.input(0)) continue;
      const Node* before = node.input(0)->producer();
      if (!before || !before->is("Cast")) continue;
      Value* x = before->input(0);
      const DType narrow = x->type.elem, wide = node.input(0)->type.elem;
      const bool widens = (narrow == DType::f32 && wide == DType::f64) ||
                          (narrow == DType::i32 && wide == DType::i64) || (narrow == DType::f16 && wide == DType::f32);
      if (!widens || node.output(0)->type.elem != narrow) continue;
      node.set_input(0, x);
      node.op = "Identity";
      node.attributes = {};
      take_out_identity(node);
    }
  });
}

}  // namespace ingot::backends::tflite
