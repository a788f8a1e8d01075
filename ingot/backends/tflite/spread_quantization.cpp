// Quantisation parameters of tensors that are only moved, and padding that knows of them.
#include <algorithm>

#include "ingot/backends/tflite/quantized.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;
using fmt_tflite::Operator;
using fmt_tflite::SubGraph;
using fmt_tflite::Tensor;

/// These have elements of their inputs (all that are of 8 or 16 bits) in their outputs, and nothing else but padding.
bool keeps_parameters(Op op) {
  switch (op) {
    case Op::PACK:
    case Op::UNPACK:
    case Op::TILE:
    case Op::PAD:
    case Op::PADV2:
    case Op::MAX_POOL_2D:
    case Op::SPACE_TO_DEPTH:
    case Op::DEPTH_TO_SPACE:
    case Op::RESIZE_NEAREST_NEIGHBOR:
      return true;
    default:
      return moves_elements(op);
  }
}

bool is_small(TensorType type) {
  return type == TensorType::INT8 || type == TensorType::UINT8 || type == TensorType::INT16;
}

class Spreader {
 public:
  Spreader(Output& output, SubGraph& graph) : output_(output), graph_(graph) {}

  void run() {
    // What is known flows down, then up, then down the branches of what was reached from below.
    for (Operator& op : graph_.operators) spread(op);
    for (std::size_t i = graph_.operators.size(); i-- > 0;) spread(graph_.operators[i]);
    for (Operator& op : graph_.operators) spread(op);
    for (Operator& op : graph_.operators)
      if (op.code.builtin == Op::PADV2) pad(op);
  }

 private:
  Tensor& tensor(std::int32_t i) { return graph_.tensors[static_cast<std::size_t>(i)]; }

  void spread(const Operator& op) {
    if (!keeps_parameters(op.code.builtin)) return;
    const Quantization* known = nullptr;
    const auto each = [&](auto visit) {
      for (const auto* list : {&op.inputs, &op.outputs})
        for (const std::int32_t t : *list)
          if (t >= 0 && is_small(tensor(t).type)) visit(tensor(t));
    };
    each([&](const Tensor& t) {
      if (!known && t.quantization && t.quantization->scale.size() == 1) known = &*t.quantization;
    });
    if (!known) return;
    const Quantization copy = *known;
    each([&](Tensor& t) {
      if (!t.quantization || t.quantization->scale.empty()) t.quantization = copy;
    });
  }

  /// PADV2 with the zero point is what PAD does to quantised tensors, and what more runtimes have.
  void pad(Operator& op) {
    const Tensor& y = tensor(op.outputs[0]);
    if ((y.type != TensorType::INT8 && y.type != TensorType::UINT8) || !y.quantization) return;
    if (y.quantization->zero_point.size() != 1) return;
    const Bytes value = fmt_tflite::constant_data(output_.model, tensor(op.inputs[2]));
    if (value.size() != 1) return;
    if (std::to_integer<std::uint8_t>(value.data()[0]) != static_cast<std::uint8_t>(y.quantization->zero_point[0]))
      return;
    op.code.builtin = Op::PAD;
    op.code.version = 2;
    op.options = Options(Op::PAD);
    op.inputs.resize(2);
  }

  Output& output_;
  SubGraph& graph_;
};

}  // namespace

bool moves_elements(Op op) {
  switch (op) {
    case Op::RESHAPE:
    case Op::TRANSPOSE:
    case Op::SQUEEZE:
    case Op::EXPAND_DIMS:
    case Op::CONCATENATION:
    case Op::SPLIT:
    case Op::SPLIT_V:
    case Op::SLICE:
    case Op::STRIDED_SLICE:
    case Op::GATHER:
      return true;
    default:
      return false;
  }
}

void spread_quantization(Output& output) {
  for (SubGraph& graph : output.model.subgraphs) Spreader(output, graph).run();
}

}  // namespace ingot::backends::tflite
