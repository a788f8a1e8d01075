// Inputs and outputs that were variables in the source become variables of TFLite.
#include "ingot/backends/tflite/variables.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/tflite/links.h"
#include "ingot/ir/source_notes.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;
using fmt_tflite::Operator;
using fmt_tflite::SubGraph;

Operator made(Op op, std::vector<std::int32_t> inputs, std::vector<std::int32_t> outputs) {
  Operator o;
  o.code.builtin = op;
  o.inputs = std::move(inputs);
  o.outputs = std::move(outputs);
  o.options = Options(op);
  return o;
}

/// VAR_HANDLE of the variable, and the tensor that stands for it.
std::int32_t add_handle(SubGraph& graph, std::vector<Operator>& operators, const std::string& name) {
  fmt_tflite::Tensor handle;
  handle.name = name + "/handle";
  handle.type = TensorType::RESOURCE;
  handle.has_rank = true;
  graph.tensors.push_back(std::move(handle));
  const auto tensor = static_cast<std::int32_t>(graph.tensors.size() - 1);
  operators.push_back(made(Op::VAR_HANDLE, {}, {tensor}));
  operators.back().options.set("container", std::string()).set("shared_name", name);
  return tensor;
}

/// A copy that was made to give the value a name of its own is not needed any more.
std::int32_t skip_copy(SubGraph& graph, std::int32_t tensor) {
  const Links links(graph);
  const int maker = links.maker[static_cast<std::size_t>(tensor)];
  if (maker < 0 || links.readers[static_cast<std::size_t>(tensor)] > 0) return tensor;
  const Operator& copy = graph.operators[static_cast<std::size_t>(maker)];
  if (copy.code.builtin != Op::RESHAPE) return tensor;
  const fmt_tflite::Tensor &x = graph.tensors[static_cast<std::size_t>(copy.inputs[0])],
                           &y = graph.tensors[static_cast<std::size_t>(tensor)];
  if (x.shape != y.shape || x.shape_signature != y.shape_signature || x.type != y.type) return tensor;
  const std::int32_t source = copy.inputs[0];
  std::vector<bool> gone(graph.operators.size());
  gone[static_cast<std::size_t>(maker)] = true;
  drop(graph, gone);
  return source;
}

}  // namespace

std::vector<State> take_states(Graph& graph, std::vector<std::string>& notes) {
  std::vector<State> states;
  const std::vector<Value*> initializers(graph.initializers().begin(), graph.initializers().end());
  for (Value* v : initializers) {
    const std::string next(note_of(v->metadata, kNextState));
    const Value* last = v->is_input() && v->initializer && !next.empty() ? graph.find(next) : nullptr;
    if (!last || last->type.elem != v->initializer->dtype() || std::ranges::count(graph.outputs(), last) != 1) continue;
    const std::string name = v->name();
    notes.push_back(fmt::format("input '{}' and output '{}' are a variable, which keeps its value", name, next));
    states.push_back({name, next, *v->initializer});
    Value* input = graph.add_input(graph.fresh_name(name), v->initializer->type());
    graph.replace_all_uses(v, input);
    graph.set_is_input(v, false);
    graph.erase_initializers_if([&](const Value& one) { return &one == v; });
    graph.rename(input, name);
  }
  return states;
}

void keep_states(Output& output, const std::vector<State>& states) {
  if (states.empty()) return;
  SubGraph first;
  first.name = "initialize";
  std::vector<Operator> before;
  const auto number = static_cast<std::int64_t>(output.model.subgraphs.size());
  before.push_back(made(Op::CALL_ONCE, {}, {}));
  before.back().options.set("init_subgraph_index", number);
  SubGraph& main = output.model.subgraphs[0];
  for (const State& state : states) {
    const auto tensor_of = [](std::vector<fmt_tflite::TensorMap>& names, const std::string& name) {
      const auto found = std::ranges::find(names, name, &fmt_tflite::TensorMap::name);
      const auto tensor = static_cast<std::int32_t>(found->tensor_index);
      names.erase(found);
      return tensor;
    };
    fmt_tflite::SignatureDef& signature = output.model.signature_defs[0];
    const std::int32_t x = tensor_of(signature.inputs, state.input);
    std::int32_t y = tensor_of(signature.outputs, state.output);
    std::erase(main.inputs, x);
    main.outputs.erase(std::ranges::find(main.outputs, y));
    y = skip_copy(main, y);
    const std::int32_t handle = add_handle(main, before, state.input);
    before.push_back(made(Op::READ_VARIABLE, {handle}, {x}));
    main.operators.push_back(made(Op::ASSIGN_VARIABLE, {handle, y}, {}));

    fmt_tflite::Tensor value;
    value.name = state.input;
    value.type = *tensor_type_of(state.first.dtype());
    value.shape = state.first.dims();
    value.has_rank = true;
    value.buffer = output.buffer(state.first.bytes());
    value.quantization = main.tensors[static_cast<std::size_t>(x)].quantization;
    first.tensors.push_back(std::move(value));
    const auto stored = static_cast<std::int32_t>(first.tensors.size() - 1);
    const std::int32_t inner = add_handle(first, first.operators, state.input);
    first.operators.push_back(made(Op::ASSIGN_VARIABLE, {inner, stored}, {}));
  }
  main.operators.insert(main.operators.begin(), std::make_move_iterator(before.begin()),
                        std::make_move_iterator(before.end()));
  if (main.inputs.empty()) output.model.signature_defs.clear();  // runtimes refuse a signature without inputs
  output.model.subgraphs.push_back(std::move(first));
}

}  // namespace ingot::backends::tflite
