// Parts of TFLite models, to compare operator by operator.
#include "tests/frontends/tflite/parts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ingot/engine/session.h"
#include "ingot/frontends/tflite/import.h"

namespace ingot::test {
namespace {

namespace tfl = formats::tflite;

bool is_constant(const tfl::Model& model, const tfl::Tensor& tensor) {
  return !tfl::constant_data(model, tensor).empty();
}

bool is_quantized_integer(const tfl::Tensor& t) {
  const bool is_small =
      t.type == tfl::TensorType::INT8 || t.type == tfl::TensorType::UINT8 || t.type == tfl::TensorType::INT16;
  return is_small && t.quantization && !t.quantization->scale.empty();
}

template <class T> Tensor draw(const Dims& dims, std::mt19937& random, int low, int high) {
  std::uniform_int_distribution<int> one(low, high);
  std::vector<T> values(static_cast<std::size_t>(tensor_size(dims)));
  for (T& v : values) v = static_cast<T>(one(random));
  return Tensor::of<T>(dims, values);
}

}  // namespace

tfl::Model part_of(const tfl::Model& model, std::size_t index) {
  const tfl::SubGraph& from = model.subgraphs.front();
  tfl::Model part;
  part.buffers = {Bytes()};
  tfl::SubGraph& graph = part.subgraphs.emplace_back();
  tfl::Operator op = from.operators[index];
  std::map<std::int32_t, std::int32_t> moved;
  const auto move = [&](std::vector<std::int32_t>& tensors, bool are_inputs) {
    for (std::int32_t& t : tensors) {
      if (t == tfl::kNoTensor) continue;
      const auto [found, is_new] = moved.try_emplace(t, static_cast<std::int32_t>(graph.tensors.size()));
      if (is_new) {
        tfl::Tensor tensor = from.tensors[static_cast<std::size_t>(t)];
        const Bytes data = tfl::constant_data(model, tensor);
        tensor.buffer = 0;
        if (!data.empty()) {
          tensor.buffer = static_cast<std::uint32_t>(part.buffers.size());
          part.buffers.push_back(data);
        } else if (are_inputs && !tensor.is_variable) {
          graph.inputs.push_back(found->second);
        }
        graph.tensors.push_back(std::move(tensor));
      }
      t = found->second;
    }
  };
  move(op.inputs, true);
  move(op.intermediates, false);
  move(op.outputs, false);
  graph.outputs = op.outputs;
  graph.operators.push_back(std::move(op));
  return part;
}

tfl::Model with_all_outputs(const tfl::Model& model) {
  tfl::Model all = model;
  all.signature_defs.clear();
  tfl::SubGraph& graph = all.subgraphs.front();
  graph.outputs.clear();
  for (const tfl::Operator& op : graph.operators)
    for (const std::int32_t t : op.outputs)
      if (t != tfl::kNoTensor) graph.outputs.push_back(t);
  return all;
}

bool is_integer_layer(const tfl::Model& model, const tfl::Operator& op) {
  using enum tfl::BuiltinOperator;
  if (op.code.builtin == CUSTOM || op.code.builtin == WHILE || op.code.builtin == IF || op.code.builtin == CALL_ONCE)
    return false;
  const tfl::SubGraph& graph = model.subgraphs.front();
  bool reads_any = false;
  for (const std::int32_t t : op.inputs) {
    if (t == tfl::kNoTensor) continue;
    const tfl::Tensor& tensor = graph.tensors[static_cast<std::size_t>(t)];
    if (is_constant(model, tensor)) continue;
    if (!is_quantized_integer(tensor)) return false;
    reads_any |= !tensor.is_variable;
  }
  return reads_any && std::ranges::all_of(op.outputs, [&](std::int32_t t) {
           return t != tfl::kNoTensor && is_quantized_integer(graph.tensors[static_cast<std::size_t>(t)]);
         });
}

std::optional<std::vector<Tensor>> random_inputs(const tfl::Model& model, std::mt19937& random) {
  const tfl::SubGraph& graph = model.subgraphs.front();
  std::vector<Tensor> inputs;
  for (const std::int32_t t : graph.inputs) {
    const tfl::Tensor& tensor = graph.tensors[static_cast<std::size_t>(t)];
    const Dims dims(tensor.shape.begin(), tensor.shape.end());
    if (std::ranges::any_of(dims, [](std::int64_t d) { return d < 0; })) return std::nullopt;
    switch (tensor.type) {
      case tfl::TensorType::INT8:
        inputs.push_back(draw<std::int8_t>(dims, random, -128, 127));
        break;
      case tfl::TensorType::UINT8:
        inputs.push_back(draw<std::uint8_t>(dims, random, 0, 255));
        break;
      case tfl::TensorType::INT16:
        inputs.push_back(draw<std::int16_t>(dims, random, -3000, 3000));
        break;
      default:
        return std::nullopt;
    }
  }
  return inputs;
}

std::vector<Tensor> run_in_ingot(const tfl::Model& model, const std::vector<Tensor>& inputs) {
  const Model onnx = frontends::tflite::import_model(model).model;
  const engine::Session session(onnx);
  std::vector<engine::NamedDatum> named;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    named.push_back({onnx.graph->inputs()[i]->name(), Array::from(inputs[i])});
  std::vector<Tensor> outputs;
  for (const engine::NamedDatum& datum : session.run(named)) outputs.push_back(datum.value.array()->to_tensor());
  return outputs;
}

std::optional<std::vector<std::int64_t>> steps_apart(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return std::nullopt;
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  std::vector<std::int64_t> apart(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) apart[i] = static_cast<std::int64_t>(std::abs(x[i] - y[i]));
  return apart;
}

}  // namespace ingot::test
