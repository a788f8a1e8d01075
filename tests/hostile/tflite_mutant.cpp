// TFLite files with a few parts changed.
#include "ingot/base/error.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/schema.h"
#include "ingot/formats/tflite/writer.h"
#include "tests/hostile/draws.h"
#include "tests/hostile/mutants.h"

namespace ingot::test {
namespace {

namespace tfl = formats::tflite;
using tfl::BuiltinOperator, tfl::kNoTensor, tfl::Model, tfl::Operator, tfl::Options, tfl::OptionValue,
    tfl::Quantization, tfl::SubGraph, tfl::Tensor, tfl::TensorType;

void change_list(std::vector<std::int32_t>& list, std::size_t tensors, Draws& draws) {
  const auto any = [&] { return static_cast<std::int32_t>(draws.below(tensors)); };
  if (list.empty() || draws.below(6) == 0) return list.push_back(any());
  std::int32_t& place = draws.one_of(list);
  switch (draws.below(5)) {
    case 0:
      list.resize(draws.below(list.size()));
      break;
    case 1:
      place = kNoTensor;
      break;
    case 2:
      std::swap(place, draws.one_of(list));
      break;
    default:
      place = any();
  }
}

void change_dims(std::vector<std::int64_t>& dims, Draws& draws) {
  switch (draws.below(5)) {
    case 0:
      dims.clear();
      break;
    case 1:
      if (!dims.empty()) dims.pop_back();
      break;
    case 2:
      dims.push_back(1);
      break;
    default:
      if (!dims.empty()) draws.one_of(dims) = static_cast<std::int32_t>(draws.odd_number());
  }
}

void change_quantization(Tensor& tensor, const SubGraph& graph, Draws& draws) {
  if (!tensor.quantization || draws.below(4) == 0) {
    tensor.quantization = graph.tensors[draws.below(graph.tensors.size())].quantization;
    return;
  }
  Quantization& q = *tensor.quantization;
  switch (draws.below(5)) {
    case 0:
      tensor.quantization.reset();
      break;
    case 1:
      q.scale.push_back(0.5f);
      break;
    case 2:
      q.scale.clear();
      break;
    case 3:
      q.zero_point.assign(draws.below(3), draws.odd_number());
      break;
    default:
      q.quantized_dimension = static_cast<std::int32_t>(draws.odd_number());
  }
}

void change_tensor(Model& model, SubGraph& graph, Draws& draws) {
  if (graph.tensors.empty()) return;
  Tensor& tensor = draws.one_of(graph.tensors);
  switch (draws.below(8)) {
    case 0:
      tensor.type = static_cast<TensorType>(draws.below(20));
      break;
    case 1:
      tensor.buffer = static_cast<std::uint32_t>(draws.below(model.buffers.size()));
      break;
    case 2:
      change_quantization(tensor, graph, draws);
      break;
    case 3:
      tensor.is_variable = !tensor.is_variable;
      break;
    case 4:
      tensor.name = draws.coin() ? "" : draws.one_of(graph.tensors).name;
      break;
    case 5:
      change_dims(tensor.shape_signature, draws);
      break;
    case 6:
      std::swap(tensor, draws.one_of(graph.tensors));
      break;
    default:
      change_dims(tensor.shape, draws);
  }
}

OptionValue odd_option(const OptionValue& now, Draws& draws) {
  if (std::holds_alternative<bool>(now)) return draws.coin();
  if (std::holds_alternative<std::int64_t>(now))
    return draws.coin() ? static_cast<std::int64_t>(draws.below(4)) : static_cast<std::int32_t>(draws.odd_number());
  if (std::holds_alternative<float>(now)) return static_cast<float>(draws.odd_number());
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&now)) {
    std::vector<std::int64_t> changed = *list;
    change_dims(changed, draws);
    return changed;
  }
  return now;
}

void change_options(Operator& op, Draws& draws) {
  const auto values = op.options.values();
  if (values.empty()) return;
  if (draws.below(4) == 0) {
    op.options = Options::left_out(op.code.builtin);
    return;
  }
  const std::size_t at = draws.below(values.size());
  const OptionValue changed = odd_option(values[at], draws);
  try {
    op.options.set(op.options.table()->fields[at].name, changed);
  } catch (const Error&) {  // an enum that has no such number
  }
}

void change_operator(SubGraph& graph, Draws& draws) {
  if (graph.operators.empty()) return;
  Operator& op = draws.one_of(graph.operators);
  switch (draws.below(8)) {
    case 0:
      std::swap(op, draws.one_of(graph.operators));
      break;
    case 1:
      change_list(op.outputs, graph.tensors.size(), draws);
      break;
    case 2:
    case 3:
      change_options(op, draws);
      break;
    case 4:
      op.code.builtin = static_cast<BuiltinOperator>(draws.below(210));
      op.code.custom.clear();
      op.options = draws.coin() ? Options() : Options(op.code.builtin);
      break;
    default:
      change_list(op.inputs, graph.tensors.size(), draws);
  }
}

/// Control flow that leads anywhere, itself included.
void add_control(Model& model, SubGraph& graph, Draws& draws) {
  constexpr BuiltinOperator kKinds[] = {BuiltinOperator::IF, BuiltinOperator::WHILE, BuiltinOperator::CALL_ONCE,
                                        BuiltinOperator::STABLEHLO_COMPOSITE};
  Operator op;
  op.code.builtin = kKinds[draws.below(std::size(kKinds))];
  op.options = draws.coin() ? Options(op.code.builtin) : Options();
  for (const char* name : {"then_subgraph_index", "else_subgraph_index", "body_subgraph_index", "cond_subgraph_index",
                           "init_subgraph_index", "decomposition_subgraph_index"})
    if (op.options.has(name)) op.options.set(name, static_cast<std::int64_t>(draws.below(model.subgraphs.size() + 1)));
  op.inputs = graph.inputs;
  op.outputs = graph.outputs;
  graph.operators.insert(graph.operators.begin() + static_cast<std::ptrdiff_t>(draws.below(graph.operators.size() + 1)),
                         op);
}

void change(Model& model, Draws& draws) {
  if (model.subgraphs.empty()) return;
  SubGraph& graph = draws.one_of(model.subgraphs);
  switch (draws.below(12)) {
    case 0:
      change_list(draws.coin() ? graph.inputs : graph.outputs, graph.tensors.size(), draws);
      break;
    case 1:
      if (!model.buffers.empty()) {
        Bytes& buffer = draws.one_of(model.buffers);
        buffer = buffer.slice(0, draws.coin() ? 0 : buffer.size() / 2);
      }
      break;
    case 2:
      add_control(model, graph, draws);
      break;
    case 3:
      std::swap(graph, draws.one_of(model.subgraphs));
      break;
    case 4:
    case 5:
    case 6:
    case 7:
      change_tensor(model, graph, draws);
      break;
    default:
      change_operator(graph, draws);
  }
}

}  // namespace

std::string mutated_tflite(const std::string& file, std::uint64_t seed) {
  Model model = tfl::read(Bytes::copy(std::as_bytes(std::span(file))));
  Draws draws(seed);
  for (std::size_t left = 1 + draws.below(3); left > 0; --left) change(model, draws);
  try {
    return tfl::to_bytes(model);
  } catch (const Error& error) {
    if (error.exit_code() == 70) throw;
    return {};
  }
}

}  // namespace ingot::test
