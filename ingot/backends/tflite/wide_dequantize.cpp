// DEQUANTIZE knows no integers of 32 bits but those that become a bias: what is left is a cast and a product.
#include "ingot/backends/tflite/quantized.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;
using fmt_tflite::Operator;
using fmt_tflite::SubGraph;

Operator made(Op op, std::vector<std::int32_t> inputs, std::int32_t output) {
  Operator one;
  one.code.builtin = op;
  one.options = Options(op);
  one.inputs = std::move(inputs);
  one.outputs = {output};
  return one;
}

std::int32_t add(SubGraph& graph, fmt_tflite::Tensor tensor) {
  graph.tensors.push_back(std::move(tensor));
  return static_cast<std::int32_t>(graph.tensors.size() - 1);
}

/// The scales as a tensor that is broadcast over the integers.
std::int32_t scales_of(Output& output, SubGraph& graph, const fmt_tflite::Tensor& x) {
  const Quantization& q = *x.quantization;
  fmt_tflite::Tensor scale;
  scale.name = x.name + "/scale";
  scale.has_rank = true;
  if (q.scale.size() > 1) {
    scale.shape.assign(x.shape.size(), 1);
    scale.shape.at(static_cast<std::size_t>(q.quantized_dimension)) = static_cast<std::int64_t>(q.scale.size());
  }
  scale.buffer = output.buffer(Bytes::copy(std::as_bytes(std::span(q.scale))));
  return add(graph, std::move(scale));
}

}  // namespace

void split_wide_dequantize(Output& output) {
  for (SubGraph& graph : output.model.subgraphs) {
    std::vector<Operator> operators;
    for (Operator& op : graph.operators) {
      const std::int32_t x = op.inputs.empty() ? fmt_tflite::kNoTensor : op.inputs[0];
      const bool is_wide = op.code.builtin == Op::DEQUANTIZE && x != fmt_tflite::kNoTensor &&
                           graph.tensors[static_cast<std::size_t>(x)].type == TensorType::INT32 &&
                           graph.tensors[static_cast<std::size_t>(x)].quantization;
      if (!is_wide) {
        operators.push_back(std::move(op));
        continue;
      }
      const std::int32_t y = op.outputs[0];
      fmt_tflite::Tensor real = graph.tensors[static_cast<std::size_t>(y)];
      real.name += "/cast";
      const std::int32_t cast = add(graph, std::move(real));
      const fmt_tflite::Tensor source = graph.tensors[static_cast<std::size_t>(x)];
      const std::int32_t scale = scales_of(output, graph, source);
      operators.push_back(made(Op::CAST, {x}, cast));
      operators.back().options.set("in_data_type", TensorType::INT32).set("out_data_type", TensorType::FLOAT32);
      operators.push_back(made(Op::MUL, {cast, scale}, y));
    }
    graph.operators = std::move(operators);
  }
}

}  // namespace ingot::backends::tflite
