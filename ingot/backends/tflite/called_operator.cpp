// Operators that come back from a model as they were in the TFLite file that it was made from.
#include "ingot/backends/tflite/called_operator.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ingot/backends/tflite/type_tables.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/lone_operator.h"
#include "ingot/ir/operator_pattern.h"
#include "ingot/ir/source_notes.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::backends::tflite {
namespace {

using fmt_tflite::SubGraph;

std::optional<fmt_tflite::Model> description_of(const Node& call) {
  const auto* text = call.attributes.get<std::string>(kOperator);
  if (!text) return std::nullopt;
  try {
    return fmt_tflite::read_lone_operator(Bytes::copy(bytes_of(*text)));
  } catch (const Error&) {
    return std::nullopt;
  }
}

const fmt_tflite::Tensor& input_of(const SubGraph& lone, std::size_t i) {
  return lone.tensors[static_cast<std::size_t>(lone.inputs[i])];
}
const fmt_tflite::Tensor& output_of(const SubGraph& lone, std::size_t i) {
  return lone.tensors[static_cast<std::size_t>(lone.outputs[i])];
}

/// Values that have no type yet may have any.
bool may_be(const Value* v, const fmt_tflite::Tensor& t) {
  if (!v || !v->type || v->type.elem == DType::undefined) return true;
  return tensor_type_of(v->type.elem) == t.type;
}

/// A variable of TFLite starts at zero, of int8 at its zero point.
bool starts_as(const Tensor& first, const fmt_tflite::Tensor& t) {
  const bool has_zero = t.type == TensorType::INT8 && t.quantization && t.quantization->zero_point.size() == 1;
  const auto fill = static_cast<std::byte>(has_zero ? t.quantization->zero_point[0] : 0);
  return first.dims() == t.shape && std::ranges::all_of(first.bytes().span(), [&](std::byte b) { return b == fill; });
}

/// Whether input `i` and output `o` of the call are a variable of the model that nothing else reads or writes.
bool is_own_state(const Node& call, std::size_t i, std::size_t o, const fmt_tflite::Tensor& t) {
  const Value *x = call.input(i), *y = call.output(o);
  if (!x || !y || !x->is_input() || !x->initializer || x->uses().size() != 1 || y->uses().size() != 1) return false;
  const bool is_output = y->uses()[0].node == nullptr && y->uses()[0].graph == &call.graph();
  return is_output && !call.graph().parent() && note_of(x->metadata, kNextState) == y->name() &&
         starts_as(*x->initializer, t);
}

/// Where a variable that comes in goes out.
std::optional<std::size_t> next_of(const SubGraph& lone, std::size_t input) {
  const auto found = std::ranges::find(lone.outputs, lone.inputs[input]);
  if (found == lone.outputs.end()) return std::nullopt;
  return static_cast<std::size_t>(found - lone.outputs.begin());
}

bool fits(const Node& call, const ExportOptions& options) {
  const auto model = description_of(call);
  if (!model) return false;
  const SubGraph& lone = model->subgraphs[0];
  const auto& code = lone.operators[0].code;
  const auto is_allowed = [&](const std::string& allowed) { return OperatorPattern::parse(allowed).op == code.custom; };
  if (code.builtin == BuiltinOperator::CUSTOM && std::ranges::none_of(options.allow_custom, is_allowed)) return false;
  if (!has_known_types(*model)) return false;
  if (lone.inputs.size() > call.input_count() || lone.outputs.size() != call.output_count()) return false;
  for (std::size_t i = 0; i < lone.inputs.size(); ++i) {
    const fmt_tflite::Tensor& t = input_of(lone, i);
    if (!call.input(i) || !may_be(call.input(i), t)) return false;
    if (!t.is_variable) continue;
    const auto next = next_of(lone, i);
    if (!next || !is_own_state(call, i, *next, t)) return false;
  }
  for (std::size_t i = 0; i < lone.outputs.size(); ++i)
    if (!may_be(call.output(i), output_of(lone, i))) return false;
  return true;
}

}  // namespace

bool is_called_operator(const Node& node) { return node.domain == kTfliteDomain; }

std::function<bool(const Function&)> called_operators(const Model& model, const ExportOptions& options) {
  const passes::FunctionIndex index(model);
  std::unordered_map<const Function*, bool> all_fit;
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes())
      if (const Function* f = is_called_operator(node) ? index.find(node) : nullptr) {
        const bool is_fit = !place.function && fits(node, options);
        const auto [found, is_new] = all_fit.try_emplace(f, is_fit);
        found->second &= is_fit;
      }
  return [all_fit](const Function& f) {
    const auto found = all_fit.find(&f);
    return found != all_fit.end() && found->second;
  };
}

void take_own_states(Graph& graph) {
  std::unordered_set<const Value*> gone;
  for (Node& node : graph.nodes()) {
    const auto model = is_called_operator(node) ? description_of(node) : std::nullopt;
    if (!model) continue;
    const SubGraph& lone = model->subgraphs[0];
    for (std::size_t i = 0; i < lone.inputs.size() && i < node.input_count(); ++i) {
      if (!input_of(lone, i).is_variable) continue;
      Value* x = node.input(i);
      const Value* y = node.output(next_of(lone, i).value_or(node.output_count()));
      if (!x || !y || !x->initializer) continue;
      node.set_input(i, nullptr);
      graph.set_is_input(x, false);
      gone.insert({x, y});
    }
  }
  if (gone.empty()) return;
  Values kept;
  for (Value* output : graph.outputs())
    if (!gone.contains(output)) kept.push_back(output);
  graph.resize_outputs(0);
  for (Value* output : kept) graph.add_output(output);
  graph.erase_initializers_if([&](const Value& one) { return gone.contains(&one); });
}

Refused refuse_called_operator(const Node& node) {
  const auto model = description_of(node);
  if (!model)
    return Refusal{Kind::structure,
                   "its function is not in the model, nor a description of the operator that can be read"};
  const SubGraph& lone = model->subgraphs[0];
  bool is_same = lone.inputs.size() <= node.input_count() && lone.outputs.size() == node.output_count();
  for (std::size_t i = 0; i < lone.inputs.size() && is_same; ++i)
    is_same = input_of(lone, i).is_variable == !node.input(i) && may_be(node.input(i), input_of(lone, i));
  for (std::size_t i = 0; i < lone.outputs.size() && is_same; ++i)
    is_same = node.output(i) && may_be(node.output(i), output_of(lone, i));
  if (is_same) return {};
  return Refusal{Kind::structure, "its inputs and outputs are not those of the operator that its description has"};
}

void emit_called_operator(NodeOut& n) {
  const fmt_tflite::Model model = *description_of(n.node);
  const SubGraph& lone = model.subgraphs[0];
  std::vector<std::int32_t> places(lone.tensors.size(), fmt_tflite::kNoTensor);
  const auto bind = [&](std::int32_t own, std::int32_t tensor) {
    places[static_cast<std::size_t>(own)] = tensor;
    const auto& parameters = lone.tensors[static_cast<std::size_t>(own)].quantization;
    if (parameters && !n.e.subgraph().tensors[static_cast<std::size_t>(tensor)].quantization)
      n.e.quantize(tensor, *parameters);
  };
  for (std::size_t i = 0; i < lone.inputs.size(); ++i)
    if (n.has(i)) bind(lone.inputs[i], n.in(i));
  for (std::size_t i = 0; i < lone.outputs.size(); ++i)
    if (!output_of(lone, i).is_variable) bind(lone.outputs[i], n.out(i));
  const auto place = [&](std::int32_t own) {
    if (own == fmt_tflite::kNoTensor) return own;
    std::int32_t& found = places[static_cast<std::size_t>(own)];
    if (found != fmt_tflite::kNoTensor) return found;
    fmt_tflite::Tensor copy = lone.tensors[static_cast<std::size_t>(own)];
    copy.buffer = n.e.output().buffer(fmt_tflite::constant_data(model, copy));
    n.e.subgraph().tensors.push_back(std::move(copy));
    return found = static_cast<std::int32_t>(n.e.subgraph().tensors.size() - 1);
  };
  fmt_tflite::Operator op = lone.operators[0];
  for (auto* list : {&op.inputs, &op.outputs, &op.intermediates})
    for (std::int32_t& t : *list) t = place(t);
  n.e.subgraph().operators.push_back(std::move(op));
}

}  // namespace ingot::backends::tflite
