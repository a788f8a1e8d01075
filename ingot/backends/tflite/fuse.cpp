// Joins what TFLite has as one operator: activations, and quantised operators.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "ingot/backends/tflite/links.h"
#include "ingot/backends/tflite/quantized.h"
#include "ingot/base/float_types.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;
using fmt_tflite::ActivationFunctionType;
using fmt_tflite::Operator;
using fmt_tflite::SubGraph;

ActivationFunctionType activation_of(Op op) {
  switch (op) {
    case Op::RELU:
      return ActivationFunctionType::RELU;
    case Op::RELU6:
      return ActivationFunctionType::RELU6;
    case Op::RELU_N1_TO_1:
      return ActivationFunctionType::RELU_N1_TO_1;
    default:
      return ActivationFunctionType::NONE;
  }
}

bool takes_activation(Op op) {
  switch (op) {
    case Op::ADD:
    case Op::SUB:
    case Op::MUL:
    case Op::DIV:
    case Op::CONV_2D:
    case Op::DEPTHWISE_CONV_2D:
    case Op::FULLY_CONNECTED:
    case Op::AVERAGE_POOL_2D:
    case Op::MAX_POOL_2D:
    case Op::CONV_3D:
      return true;
    default:
      return false;
  }
}

/// Quantised kernels of these exist for int8 and uint8, with any output parameters.
bool is_computed_quantized(Op op) {
  switch (op) {
    case Op::ADD:
    case Op::BATCH_MATMUL:
    case Op::SUB:
    case Op::MUL:
    case Op::CONV_2D:
    case Op::DEPTHWISE_CONV_2D:
    case Op::FULLY_CONNECTED:
    case Op::MEAN:
    case Op::LEAKY_RELU:
    case Op::HARD_SWISH:
    case Op::PRELU:
    case Op::RELU:
    case Op::RELU6:
    case Op::RSQRT:
      return true;
    default:
      return false;
  }
}

/// These pass elements on: the parameters must be the same on both sides.
bool passes_elements(Op op) {
  switch (op) {
    case Op::AVERAGE_POOL_2D:
    case Op::MAX_POOL_2D:
    case Op::RESHAPE:
    case Op::TRANSPOSE:
    case Op::CONCATENATION:
    case Op::PAD:
    case Op::SQUEEZE:
    case Op::EXPAND_DIMS:
    case Op::RESIZE_BILINEAR:
    case Op::RESIZE_NEAREST_NEIGHBOR:
    case Op::STRIDED_SLICE:
    case Op::SLICE:
    case Op::GATHER:
    case Op::SPACE_TO_DEPTH:
    case Op::DEPTH_TO_SPACE:
      return true;
    default:
      return false;
  }
}

/// These have a range of their own, which the parameters must be made for.
bool has_fixed_parameters(Op op, TensorType type, const Quantization& q) {
  if (q.scale.size() != 1 || (type != TensorType::INT8 && type != TensorType::UINT8)) return false;
  const std::int64_t lowest = type == TensorType::INT8 ? -128 : 0;
  if (op == Op::SOFTMAX || op == Op::LOGISTIC) return q.scale[0] == 1.0f / 256 && q.zero_point[0] == lowest;
  if (op == Op::TANH) return q.scale[0] == 1.0f / 128 && q.zero_point[0] == lowest + 128;
  return false;
}

/// These take 8 bits since their first version, and have no other.
bool has_one_version(Op op) {
  return op == Op::RESHAPE || op == Op::SQUEEZE || op == Op::EXPAND_DIMS || op == Op::DEPTH_TO_SPACE;
}

/// Of 16 bits, TFLite has kernels around a zero point of 0.
bool is_computed_in_16_bits(Op op) { return op == Op::ADD || op == Op::SUB || op == Op::MUL || op == Op::BATCH_MATMUL; }
bool is_centred(const Quantization& q) { return q.zero_point == std::vector<std::int64_t>{0}; }

class QuantizedFusion {
 public:
  QuantizedFusion(Output& output, SubGraph& graph) : output_(output), graph_(graph), links_(graph) {}

  void run() {
    std::vector<bool> gone(graph_.operators.size());
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      Operator& quantize = graph_.operators[i];
      if (quantize.code.builtin != Op::QUANTIZE) continue;
      const auto y = static_cast<std::size_t>(quantize.inputs[0]);
      const int maker = links_.maker[y];
      if (maker < 0 || graph_.tensors[y].type != TensorType::FLOAT32 || gone[static_cast<std::size_t>(maker)]) continue;
      if (requantizes(quantize)) continue;
      if (links_.readers[y] != 1) continue;
      if (join(graph_.operators[static_cast<std::size_t>(maker)], quantize)) gone[i] = true;
    }
    // A DEQUANTIZE that nobody reads any more, or of a constant.
    std::vector<int> readers(graph_.tensors.size(), 0);
    for (std::size_t i = 0; i < graph_.operators.size(); ++i)
      for (const std::int32_t t : graph_.operators[i].inputs)
        if (t >= 0 && !gone[i]) ++readers[static_cast<std::size_t>(t)];
    for (const std::int32_t t : graph_.outputs) ++readers[static_cast<std::size_t>(t)];
    for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
      const Operator& op = graph_.operators[i];
      if (op.code.builtin != Op::DEQUANTIZE || gone[i]) continue;
      gone[i] = readers[static_cast<std::size_t>(op.outputs[0])] == 0 || widen(op);
    }
    drop(graph_, gone);
  }

 private:
  fmt_tflite::Tensor& tensor(std::int32_t i) { return graph_.tensors[static_cast<std::size_t>(i)]; }

  /// The quantised tensor behind a float one; -1: there is none.
  std::int32_t behind(std::int32_t t) {
    const int maker = links_.maker[static_cast<std::size_t>(t)];
    if (maker < 0) return -1;
    const Operator& op = graph_.operators[static_cast<std::size_t>(maker)];
    const bool is_dequantize = op.code.builtin == Op::DEQUANTIZE && tensor(op.inputs[0]).quantization;
    return is_dequantize ? op.inputs[0] : -1;
  }

  /// DEQUANTIZE -> QUANTIZE is one step from integers to integers.
  bool requantizes(Operator& quantize) {
    const std::int32_t q = behind(quantize.inputs[0]);
    const auto is_byte = [](TensorType t) { return t == TensorType::INT8 || t == TensorType::UINT8; };
    if (q < 0) return false;
    const TensorType from = tensor(q).type, to = tensor(quantize.outputs[0]).type;
    const bool are_wide = from == TensorType::INT16 && (to == TensorType::INT16 || to == TensorType::INT8);
    if (!are_wide && (!is_byte(from) || !is_byte(to))) return false;
    if (tensor(q).quantization->scale.size() != 1 || !fmt_tflite::constant_data(output_.model, tensor(q)).empty())
      return false;
    quantize.inputs[0] = q;
    quantize.code.version = std::max(quantize.code.version, 2);
    return true;
  }

  bool join(Operator& op, const Operator& quantize) {
    const Op kind = op.code.builtin;
    if (op.outputs.size() != 1) return false;
    fmt_tflite::Tensor& y = tensor(quantize.outputs[0]);
    const bool is_wide = y.type == TensorType::INT16;
    if (!y.quantization || (y.type != TensorType::INT8 && y.type != TensorType::UINT8 && !is_wide)) return false;
    if (kind == Op::RSQRT && y.type != TensorType::INT8) return false;
    if (kind == Op::BATCH_MATMUL && y.type == TensorType::UINT8) return false;
    if (is_wide && (!is_centred(*y.quantization) || !(is_computed_in_16_bits(kind) || passes_elements(kind))))
      return false;
    const bool is_fixed = has_fixed_parameters(kind, y.type, *y.quantization);
    if (!is_computed_quantized(kind) && !passes_elements(kind) && !is_fixed) return false;
    std::vector<std::int32_t> inputs = op.inputs;
    const bool has_weights = kind == Op::CONV_2D || kind == Op::DEPTHWISE_CONV_2D || kind == Op::FULLY_CONNECTED;
    std::vector<std::pair<std::size_t, std::size_t>> zero_biases;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] < 0 || tensor(inputs[i]).type != TensorType::FLOAT32) continue;
      const std::int32_t q = behind(inputs[i]);
      if (q < 0) {
        if (has_weights && i == 2 && is_zero_constant(inputs[i])) {
          zero_biases.emplace_back(i, 0);
          continue;
        }
        return false;
      }
      const fmt_tflite::Tensor& t = tensor(q);
      const bool is_bias = has_weights && i == 2;
      const bool is_weight = has_weights && i == 1;
      if (is_bias     ? t.type != TensorType::INT32
          : is_weight ? !is_signed_weight(t.type) && t.type != y.type
                      : t.type != y.type)
        return false;
      if (!is_weight && !is_bias && t.quantization->scale.size() != 1) return false;
      if (is_wide && !is_centred(*t.quantization)) return false;
      if (is_weight && is_signed_weight(t.type) && !has_no_offset(*t.quantization)) return false;
      if (is_weight && is_signed_weight(t.type) && y.type != TensorType::INT8) return false;
      if (is_bias && !is_scale_of_products(*t.quantization, inputs)) return false;
      if (is_weight && kind == Op::FULLY_CONNECTED && t.quantization->scale.size() != 1) return false;
      if (passes_elements(kind) && i == 0 &&
          (t.quantization->scale != y.quantization->scale || t.quantization->zero_point != y.quantization->zero_point))
        return false;
      if (kind == Op::CONCATENATION &&
          (t.quantization->scale != y.quantization->scale || t.quantization->zero_point != y.quantization->zero_point))
        return false;
      inputs[i] = q;
    }
    for (const auto& [i, unused] : zero_biases) inputs[i] = zero_bias(inputs[i], inputs[0], inputs[1]);
    op.inputs = inputs;
    op.outputs = quantize.outputs;
    if (!has_one_version(kind)) op.code.version = std::max(op.code.version, has_weights ? 3 : 2);
    if (kind == Op::FULLY_CONNECTED) op.code.version = std::max(op.code.version, 4);
    if (has_weights && tensor(inputs[1]).type == TensorType::INT4)
      op.code.version = kind == Op::FULLY_CONNECTED ? 10 : 7;
    if (is_wide && (kind == Op::ADD || kind == Op::SUB)) op.options.set("pot_scale_int16", false);
    if (is_wide && is_computed_in_16_bits(kind)) op.code.version = kind == Op::MUL ? 4 : kind == Op::SUB ? 5 : 3;
    return true;
  }

  static bool is_signed_weight(TensorType type) { return type == TensorType::INT8 || type == TensorType::INT4; }

  /// Kernels of 8 bits take the offset of weights for 0.
  static bool has_no_offset(const Quantization& q) {
    return std::ranges::all_of(q.zero_point, [](std::int64_t z) { return z == 0; });
  }

  /// A bias is added to sums of products as it is: its scale must be theirs.
  bool is_scale_of_products(const Quantization& bias, const std::vector<std::int32_t>& inputs) {
    const auto &x = tensor(inputs[0]).quantization, &w = tensor(inputs[1]).quantization;
    if (!x || !w || !has_no_offset(bias)) return false;
    if (bias.scale.size() > 1 && w->scale.size() > 1 && bias.scale.size() != w->scale.size()) return false;
    for (std::size_t i = 0; i < std::max(bias.scale.size(), w->scale.size()); ++i) {
      const float own = bias.scale[bias.scale.size() == 1 ? 0 : i],
                  product = x->scale[0] * w->scale[w->scale.size() == 1 ? 0 : i];
      if (std::abs(own - product) > 1e-6f * product) return false;
    }
    return true;
  }

  bool is_zero_constant(std::int32_t t) {
    const Bytes bytes = fmt_tflite::constant_data(output_.model, tensor(t));
    return !bytes.empty() && std::ranges::all_of(bytes.span(), [](std::byte b) { return b == std::byte{0}; });
  }

  std::int32_t zero_bias(std::int32_t old, std::int32_t x, std::int32_t w) {
    fmt_tflite::Tensor bias = tensor(old);
    bias.type = TensorType::INT32;
    bias.name += "/int32";
    Quantization q;
    for (const float s : tensor(w).quantization->scale) q.scale.push_back(s * tensor(x).quantization->scale[0]);
    q.zero_point.assign(q.scale.size(), 0);
    bias.quantization = std::move(q);
    graph_.tensors.push_back(std::move(bias));  // the bytes of zeros serve both types
    return static_cast<std::int32_t>(graph_.tensors.size() - 1);
  }

  /// A small constant as float, computed now. A large one stays as small as it is: runtimes dequantise it once.
  bool widen(const Operator& op) {
    const fmt_tflite::Tensor& q = tensor(op.inputs[0]);
    const Bytes bytes = fmt_tflite::constant_data(output_.model, q);
    if (bytes.empty() || !q.quantization || q.type == TensorType::FLOAT16) return false;
    constexpr std::size_t kLarge = 256;
    if ((q.type == TensorType::INT8 || q.type == TensorType::UINT8) && bytes.size() >= kLarge) return false;
    std::size_t inner = 1, count = 1;
    const auto axis = static_cast<std::size_t>(q.quantization->quantized_dimension);
    for (std::size_t i = 0; i < q.shape.size(); ++i) {
      count *= static_cast<std::size_t>(q.shape[i]);
      if (i > axis) inner *= static_cast<std::size_t>(q.shape[i]);
    }
    const std::size_t scales = q.quantization->scale.size();
    std::vector<float> values;
    values.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t c = scales > 1 ? i / inner % scales : 0;
      std::int64_t element = 0;
      switch (q.type) {
        case TensorType::INT8:
          element = std::to_integer<std::int8_t>(bytes.data()[i]);
          break;
        case TensorType::UINT8:
          element = std::to_integer<std::uint8_t>(bytes.data()[i]);
          break;
        case TensorType::INT32: {
          std::int32_t wide = 0;
          std::memcpy(&wide, bytes.data() + 4 * i, 4);
          element = wide;
          break;
        }
        default:
          return false;
      }
      const auto zero = static_cast<double>(q.quantization->zero_point[c]);
      values.push_back(static_cast<float>((static_cast<double>(element) - zero) * q.quantization->scale[c]));
    }
    tensor(op.outputs[0]).buffer = output_.buffer(Bytes::copy(std::as_bytes(std::span(values))));
    return true;
  }

  Output& output_;
  SubGraph& graph_;
  Links links_;
};

}  // namespace

void fuse_activations(Output& output) {
  for (SubGraph& graph : output.model.subgraphs) {
    const Links links(graph);
    std::vector<bool> gone(graph.operators.size());
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      const ActivationFunctionType activation = activation_of(graph.operators[i].code.builtin);
      if (activation == ActivationFunctionType::NONE) continue;
      const auto x = static_cast<std::size_t>(graph.operators[i].inputs[0]);
      const int maker = links.maker[x];
      if (maker < 0 || links.readers[x] != 1 || graph.tensors[x].type != TensorType::FLOAT32) continue;
      Operator& before = graph.operators[static_cast<std::size_t>(maker)];
      if (!takes_activation(before.code.builtin) || gone[static_cast<std::size_t>(maker)]) continue;
      if (before.options.get_int("fused_activation_function") != 0) continue;
      before.options.set("fused_activation_function", activation);
      before.outputs = graph.operators[i].outputs;
      gone[i] = true;
    }
    drop(graph, gone);
  }
}

void fuse_quantized(Output& output) {
  for (std::size_t i = 0; i < output.model.subgraphs.size(); ++i)
    QuantizedFusion(output, output.model.subgraphs[i]).run();
}

}  // namespace ingot::backends::tflite
