// Activations of uint8 as int8, where the weights are int8.
#include <algorithm>

#include "ingot/backends/tflite/quantized.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;
using fmt_tflite::Operator;
using fmt_tflite::SubGraph;

class SignedActivations {
 public:
  SignedActivations(Output& output, SubGraph& graph)
      : output_(output), graph_(graph), maker_(graph.tensors.size(), -1), is_turned_(graph.tensors.size()) {
    for (std::size_t i = 0; i < graph_.operators.size(); ++i)
      for (const std::int32_t t : graph_.operators[i].outputs)
        maker_[static_cast<std::size_t>(t)] = static_cast<int>(i);
  }

  void run() {
    if (!has_mixed_weights()) return;
    choose();
    std::vector<Operator> before, after;
    const std::size_t count = graph_.tensors.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_turned_[i]) continue;
      const auto t = static_cast<std::int32_t>(i);
      const bool is_input = std::ranges::find(graph_.inputs, t) != graph_.inputs.end();
      const bool is_output = std::ranges::find(graph_.outputs, t) != graph_.outputs.end();
      if (!is_input && !is_output) {
        turn(tensor(t));
        continue;
      }
      fmt_tflite::Tensor inner = tensor(t);
      inner.name += "/int8";
      turn(inner);
      graph_.tensors.push_back(std::move(inner));
      const auto made = static_cast<std::int32_t>(graph_.tensors.size() - 1);
      for (Operator& op : graph_.operators) {
        std::ranges::replace(op.inputs, t, made);
        std::ranges::replace(op.outputs, t, made);
      }
      if (is_input) before.push_back(requantize(t, made));
      if (is_output) after.push_back(requantize(made, t));
    }
    graph_.operators.insert(graph_.operators.begin(), before.begin(), before.end());
    graph_.operators.insert(graph_.operators.end(), after.begin(), after.end());
  }

 private:
  fmt_tflite::Tensor& tensor(std::int32_t i) { return graph_.tensors[static_cast<std::size_t>(i)]; }

  /// The type behind a DEQUANTIZE.
  std::optional<TensorType> type_behind(std::int32_t t) {
    const int i = t < 0 ? -1 : maker_[static_cast<std::size_t>(t)];
    if (i < 0 || graph_.operators[static_cast<std::size_t>(i)].code.builtin != Op::DEQUANTIZE) return std::nullopt;
    return tensor(graph_.operators[static_cast<std::size_t>(i)].inputs[0]).type;
  }

  bool has_mixed_weights() {
    return std::ranges::any_of(graph_.operators, [&](const Operator& op) {
      const Op kind = op.code.builtin;
      if (kind != Op::CONV_2D && kind != Op::DEPTHWISE_CONV_2D && kind != Op::FULLY_CONNECTED) return false;
      return type_behind(op.inputs[0]) == TensorType::UINT8 &&
             (type_behind(op.inputs[1]) == TensorType::INT8 || type_behind(op.inputs[1]) == TensorType::INT4);
    });
  }

  /// All tensors of uint8 that only go from QUANTIZE to DEQUANTIZE, perhaps through what moves elements.
  void choose() {
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      const fmt_tflite::Tensor& t = graph_.tensors[i];
      is_turned_[i] = t.type == TensorType::UINT8 && t.quantization && !t.quantization->scale.empty();
    }
    for (bool changes = true; changes;) {
      changes = false;
      for (const Operator& op : graph_.operators) {
        const Op kind = op.code.builtin;
        bool fits = kind == Op::QUANTIZE || kind == Op::DEQUANTIZE || moves_elements(kind);
        const auto each = [&](auto visit) {
          for (const auto* list : {&op.inputs, &op.outputs})
            for (const std::int32_t t : *list)
              if (t >= 0 && tensor(t).type == TensorType::UINT8) visit(static_cast<std::size_t>(t));
        };
        each([&](std::size_t t) { fits = fits && (!moves_elements(kind) || is_turned_[t]); });
        if (fits) continue;
        each([&](std::size_t t) {
          changes |= is_turned_[t];
          is_turned_[t] = false;
        });
      }
    }
  }

  void turn(fmt_tflite::Tensor& t) {
    t.type = TensorType::INT8;
    for (std::int64_t& z : t.quantization->zero_point) z -= 128;
    const Bytes bytes = fmt_tflite::constant_data(output_.model, t);
    if (bytes.empty()) return;
    std::string turned(bytes.text());
    for (char& c : turned) c = static_cast<char>(c ^ 0x80);
    t.buffer = output_.buffer(Bytes::own(std::move(turned)));
  }

  static Operator requantize(std::int32_t from, std::int32_t to) {
    Operator op;
    op.code.builtin = Op::QUANTIZE;
    op.code.version = 2;
    op.options = Options(Op::QUANTIZE);
    op.inputs = {from};
    op.outputs = {to};
    return op;
  }

  Output& output_;
  SubGraph& graph_;
  std::vector<int> maker_;
  std::vector<bool> is_turned_;
};

}  // namespace

void prefer_signed(Output& output) {
  for (SubGraph& graph : output.model.subgraphs) SignedActivations(output, graph).run();
}

}  // namespace ingot::backends::tflite
