// One operator of the source: its inputs as values or numbers, its outputs.
#include "ingot/frontends/tflite/op.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/base/elements.h"
#include "ingot/base/error.h"

namespace ingot::frontends::tflite {

using tfl::ActivationFunctionType;

Tensor integer_tensor(const Tensor& tensor, DType dtype) {
  const std::vector<double> values = tensor.to_doubles();
  std::vector<std::byte> bytes(byte_count(dtype, values.size()).value_or(0));
  dispatch(dtype, JoinTypes<Integers, SmallIntegers>{}, [&]<class T>() {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (kIsPacked<T>)
        store_element<T>(
            bytes.data(), i,
            T::from_bits(static_cast<std::uint32_t>(static_cast<int>(values[i])) & ((1u << T::kBits) - 1)));
      else
        store_element<T>(bytes.data(), i, static_cast<T>(values[i]));
    }
  });
  return Tensor(dtype, tensor.dims(), Bytes::own(std::move(bytes)));
}

void Op::refuse(std::string why) const { throw Error(Code::unsupported_setting, std::move(why)); }

void Op::refuse_complex() const {
  for (const auto* list : {&source.inputs, &source.outputs})
    for (const std::int32_t t : *list)
      if (t != tfl::kNoTensor && is_complex(dtype_for(frame.tensor(t).type)))
        refuse("ONNX has no operators on complex numbers");
}

std::int32_t Op::input(std::size_t i) const {
  if (!has(i)) throw Error(Code::bad_source_graph, fmt::format("input {} is missing", i));
  return source.inputs[i];
}

const tfl::Tensor& Op::out_tensor(std::size_t i) const {
  if (i >= source.outputs.size() || source.outputs[i] == tfl::kNoTensor)
    throw Error(Code::bad_source_graph, fmt::format("output {} is missing", i));
  return frame.tensor(source.outputs[i]);
}

std::optional<Tensor> Op::constant(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  if (frame.resolved(source.inputs[i]) == source.inputs[i] && frame.has_value(source.inputs[i])) {
    const Value* value = frame.stored(source.inputs[i]);
    return value->initializer && !value->is_input() ? value->initializer : std::nullopt;
  }
  return frame.constant(source.inputs[i]);
}

std::optional<Ints> Op::known_ints(std::size_t i) {
  if (const auto data = constant(i)) {
    if (!is_integer(data->dtype()) && data->dtype() != DType::boolean) return std::nullopt;
    return data->to_ints();
  }
  const Value* value = stored(i);
  if (!value->known_ints) return std::nullopt;
  Ints numbers;
  for (const Dim& d : *value->known_ints) {
    if (!d.is_known()) return std::nullopt;
    numbers.push_back(d.value());
  }
  return numbers;
}

Ints Op::ints(std::size_t i, std::string_view what) {
  auto known = known_ints(i);
  if (!known) refuse(fmt::format("{} must be known before running", what));
  return *known;
}

std::int64_t Op::integer(std::size_t i, std::string_view what) {
  const Ints known = ints(i, what);
  require(known.size() == 1, "a single number is expected");
  return known[0];
}

std::optional<std::vector<double>> Op::known_doubles(std::size_t i) const {
  const auto data = constant(i);
  if (!data || data->dtype() == DType::string) return std::nullopt;
  if (!frame.is_quantized(tensor(i))) return data->to_doubles();
  const tfl::Quantization& q = *tensor(i).quantization;
  if (q.scale.empty()) return std::nullopt;
  return dequantized(*data, q.scale, q.zero_point, tfl::quantized_axis(tensor(i)).value_or(0)).to_doubles();
}

Value* Op::indices(std::size_t i) {
  if (const auto data = constant(i)) return b.constant(Tensor::of<std::int64_t>(data->dims(), data->to_ints()));
  return b.cast(stored(i), DType::i64);
}

Value* Op::index_list(std::size_t i) {
  if (const auto data = constant(i)) return b.ints(data->to_ints());
  Value* value = b.cast(stored(i), DType::i64);
  return value->type.shape && value->type.shape->size() == 1 ? value : b.reshape(value, {-1});
}

Value* Op::index_scalar(std::size_t i) {
  if (const auto data = constant(i); data && data->size() == 1) return b.index(data->to_ints()[0]);
  Value* value = b.cast(stored(i), DType::i64);
  return value->type.shape && value->type.shape->empty() ? value : b.reshape(value, {});
}

std::int64_t Op::rank_of(const Value* value) const {
  if (!value->type.shape) refuse("the rank of '" + value->name() + "' must be known");
  return static_cast<std::int64_t>(value->type.shape->size());
}

std::int64_t Op::rank(std::size_t i) {
  Value* value = stored(i);
  if (value->type.shape) return static_cast<std::int64_t>(value->type.shape->size());
  const tfl::Tensor& t = tensor(i);
  if (t.shape.empty() && !t.has_rank) refuse("the rank of '" + t.name + "' must be known");
  return static_cast<std::int64_t>(t.shape.size());
}

std::optional<Ints> Op::dims(std::size_t i) { return static_dims(stored(i)->type.shape); }

std::int64_t Op::axis(std::int64_t axis, std::int64_t rank) const {
  require(axis >= -rank && axis < rank, "an axis lies outside the tensor");
  return axis < 0 ? axis + rank : axis;
}

void Op::set(std::size_t i, Value* value) {
  if (i < source.outputs.size()) frame.set(source.outputs[i], value);
}

void Op::set_real(std::size_t i, Value* value) {
  if (i >= source.outputs.size() || source.outputs[i] == tfl::kNoTensor) return;
  const tfl::Tensor& target = out_tensor(i);
  if (frame.is_quantized(target)) return set(i, frame.quantize(value, target));
  if (import.options.dequantize && has_scale(target) && is_integer(dtype_for(target.type)) &&
      value->type.elem == DType::f32) {
    // A quantised tensor cannot hold less than its lowest integer stands for; models rely on that for activations.
    const tfl::Quantization& q = *target.quantization;
    const std::int64_t zero = q.zero_point.empty() ? 0 : q.zero_point[0];
    const bool starts_at_zero =
        (target.type == tfl::TensorType::INT8 && zero == -128) || (target.type == tfl::TensorType::UINT8 && zero == 0);
    const Node* producer = value->producer();
    const bool is_positive =
        producer && (producer->op == "Relu" || producer->op == "Sigmoid" || producer->op == "Softmax");
    if (starts_at_zero && !is_positive) value = b.op("Relu", {value});
    return set(i, value);
  }
  const DType wanted = frame.dtype(target);
  if (value->type.elem != wanted && wanted != DType::undefined) value = b.cast(value, wanted);
  set(i, value);
}

bool Op::alike(const tfl::Tensor& a, const tfl::Tensor& c) const {
  if (frame.is_quantized(a) != frame.is_quantized(c)) return false;
  if (!frame.is_quantized(a)) return true;
  const tfl::Quantization &p = *a.quantization, &q = *c.quantization;
  return a.type == c.type && p.scale.size() == 1 && p.scale == q.scale && p.zero_point == q.zero_point;
}

Value* Op::activated(Value* x) {
  return activated(x, options.get_enum<ActivationFunctionType>("fused_activation_function"));
}

Value* Op::activated(Value* x, ActivationFunctionType activation) {
  switch (activation) {
    case ActivationFunctionType::NONE:
      return x;
    case ActivationFunctionType::RELU:
      return b.op("Relu", {x});
    case ActivationFunctionType::RELU_N1_TO_1:
    case ActivationFunctionType::RELU6: {
      const bool is_six = activation == ActivationFunctionType::RELU6;
      Value* low = b.scalar(is_six ? 0 : -1, x->type.elem);
      Value* high = b.scalar(is_six ? 6 : 1, x->type.elem);
      return b.op("Clip", {x, low, high});
    }
    case ActivationFunctionType::TANH:
      return b.op("Tanh", {x});
    default:
      refuse(fmt::format("the fused activation {} has no counterpart", static_cast<int>(activation)));
  }
}

void Op::note_dynamic_range(std::size_t weights, std::size_t x) {
  if (is_quantized(weights) && !is_quantized(x) && tensor(x).type == tfl::TensorType::FLOAT32)
    import.note(std::string(kDynamicRangeNote));
}

Value* Op::bias(std::size_t i, std::size_t x, std::size_t w) {
  if (!has(i)) return nullptr;
  const tfl::Tensor& t = tensor(i);
  if (!is_integer(dtype_for(t.type))) return real(i);
  const auto data = constant(i);
  // TFLite adds the integers as they are, whatever scale the file states for them: that of input times weights.
  tfl::Quantization q = has_scale(t) ? *t.quantization : tfl::Quantization{};
  if (has_scale(tensor(x)) && has_scale(tensor(w)) && is_integer(dtype_for(tensor(x).type))) {
    q.scale.clear();
    for (const float s : tensor(w).quantization->scale) q.scale.push_back(s * tensor(x).quantization->scale[0]);
  }
  require(!q.scale.empty(), "an integer bias needs the scales of input and weights");
  q.zero_point.clear();
  q.quantized_dimension = 0;
  if (data && (t.type != tfl::TensorType::INT32 || import.options.dequantize))
    return b.constant(dequantized(*data, q.scale, {}, 0));
  tfl::Tensor scaled = t;
  scaled.quantization = q;
  Value* value = b.cast(stored(i), DType::i32);
  return frame.dequantize(value, scaled, q.scale.size() > 1 ? std::optional<std::size_t>(0) : std::nullopt);
}

}  // namespace ingot::frontends::tflite
