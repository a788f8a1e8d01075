// Tensors, constants and operators of one subgraph.
#include "ingot/backends/tflite/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ingot/backends/tflite/operators.h"
#include "ingot/base/error.h"
#include "ingot/base/float_types.h"
#include "ingot/formats/tflite/string_tensor.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tflite {

std::optional<TensorType> tensor_type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return TensorType::FLOAT32;
    case DType::f16:
      return TensorType::FLOAT16;
    case DType::f64:
      return TensorType::FLOAT64;
    case DType::i8:
      return TensorType::INT8;
    case DType::u8:
      return TensorType::UINT8;
    case DType::i16:
      return TensorType::INT16;
    case DType::u16:
      return TensorType::UINT16;
    case DType::i32:
      return TensorType::INT32;
    case DType::u32:
      return TensorType::UINT32;
    case DType::i64:
      return TensorType::INT64;
    case DType::u64:
      return TensorType::UINT64;
    case DType::boolean:
      return TensorType::BOOL;
    case DType::string:
      return TensorType::STRING;
    case DType::i4:
      return TensorType::INT4;
    case DType::c64:
      return TensorType::COMPLEX64;
    default:
      return std::nullopt;
  }
}

std::uint32_t Output::buffer(Bytes bytes) {
  if (bytes.empty()) return 0;
  constexpr std::size_t kShared = 1024;  // larger ones are rarely equal
  const std::string key = bytes.size() <= kShared ? std::string(bytes.text()) : std::string();
  if (!key.empty())
    if (const auto found = buffers_by_content.find(key); found != buffers_by_content.end()) return found->second;
  model.buffers.push_back(std::move(bytes));
  const auto number = static_cast<std::uint32_t>(model.buffers.size() - 1);
  if (!key.empty()) buffers_by_content[key] = number;
  return number;
}

Emitter::Emitter(Output& output, const Graph& graph) : output_(output), graph_(graph) {
  index_ = output_.model.subgraphs.size();
  output_.model.subgraphs.emplace_back();
  subgraph().name = graph.name.empty() ? "main" : graph.name;
}

fmt_tflite::SubGraph& Emitter::subgraph() { return output_.model.subgraphs[index_]; }

std::int32_t Emitter::add_tensor(fmt_tflite::Tensor tensor) {
  subgraph().tensors.push_back(std::move(tensor));
  return static_cast<std::int32_t>(subgraph().tensors.size() - 1);
}

namespace {

void set_shape(fmt_tflite::Tensor& t, const std::optional<Shape>& shape) {
  if (!shape) return;
  t.has_rank = true;
  bool is_open = false;
  for (const Dim& d : *shape) {
    t.shape.push_back(d.as_int().value_or(1));
    t.shape_signature.push_back(d.as_int().value_or(-1));
    is_open |= !d.is_known();
  }
  if (!is_open) t.shape_signature.clear();
}

TensorType require_type(DType dtype, std::string_view name) {
  if (const auto type = tensor_type_of(dtype)) return *type;
  throw Error(Code::unsupported_type_in_target,
              fmt::format("value '{}' is {}, which TFLite does not have", name, name_of(dtype)));
}

}  // namespace

std::int32_t Emitter::constant(const Tensor& tensor, std::string name) {
  fmt_tflite::Tensor t;
  t.name = name.empty() ? fmt::format("{}/constant_{}", scope_, subgraph().tensors.size()) : std::move(name);
  t.type = require_type(tensor.dtype(), t.name);
  t.has_rank = true;
  t.shape = tensor.dims();
  if (tensor.dtype() == DType::string) {
    const std::vector<std::string> strings(tensor.strings().begin(), tensor.strings().end());
    t.buffer = output_.buffer(fmt_tflite::string_data(strings));
    return add_tensor(std::move(t));
  }
  constexpr std::int64_t kSmall = 256;
  if (output_.float16_weights && tensor.dtype() == DType::f32 && tensor.size() >= kSmall) {
    std::vector<Float16> halves;
    halves.reserve(static_cast<std::size_t>(tensor.size()));
    for (std::int64_t i = 0; i < tensor.size(); ++i) halves.emplace_back(tensor.at<float>(i));
    fmt_tflite::Tensor wide = t;
    t.name += "/float16";
    t.type = TensorType::FLOAT16;
    t.buffer = output_.buffer(Bytes::copy(std::as_bytes(std::span(halves))));
    const std::int32_t half = add_tensor(std::move(t)), full = add_tensor(std::move(wide));
    add(BuiltinOperator::DEQUANTIZE, {half}, {full}, Options(BuiltinOperator::DEQUANTIZE), 3);
    return full;
  }
  t.buffer = output_.buffer(tensor.bytes());
  return add_tensor(std::move(t));
}

std::int32_t Emitter::ints(const Ints& values) {
  std::vector<std::int32_t> narrow;
  for (const std::int64_t v : values)
    narrow.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(v, INT32_MIN, INT32_MAX)));
  return constant(Tensor::of<std::int32_t>({static_cast<std::int64_t>(values.size())}, narrow));
}

std::int32_t Emitter::index(std::int64_t value) {
  return constant(Tensor::scalar<std::int32_t>(static_cast<std::int32_t>(value)));
}

std::int32_t Emitter::scalar(double value, DType dtype) { return constant(Tensor::scalar(value, dtype)); }

std::int32_t Emitter::temporary(DType elem, const Shape& shape) {
  fmt_tflite::Tensor t;
  t.name = fmt::format("{}/{}", scope_, subgraph().tensors.size());
  t.type = require_type(elem, t.name);
  set_shape(t, shape);
  return add_tensor(std::move(t));
}

std::int32_t Emitter::temporary(DType elem, const Ints& dims) {
  return temporary(elem, Shape(dims.begin(), dims.end()));
}

std::int32_t Emitter::tensor(const Value* value) {
  const auto found = tensors_.find(value);
  if (found != tensors_.end()) return found->second;
  std::int32_t made;
  if (const Tensor* stored = ops::constant_of(value)) {
    made = constant(*stored, value->name());
  } else {
    fmt_tflite::Tensor t;
    t.name = value->name();
    t.type = require_type(value->type.elem, t.name);
    set_shape(t, value->type.shape);
    made = add_tensor(std::move(t));
  }
  tensors_[value] = made;
  return made;
}

void Emitter::pass_on(const Value* input, const Value* output) {
  const Node* copy = output->producer();
  if (!copy || !copy->is("Identity") || copy->input(0) != input || output->uses().size() != 1) return;
  alias(output, tensor(input));
  passed_on_.insert(copy);
}

void Emitter::quantize(std::int32_t tensor, Quantization parameters) {
  subgraph().tensors[static_cast<std::size_t>(tensor)].quantization = std::move(parameters);
}

void Emitter::add(BuiltinOperator op, std::vector<std::int32_t> inputs, std::vector<std::int32_t> outputs,
                  Options options, int version) {
  fmt_tflite::Operator o;
  o.code.builtin = op;
  o.code.version = version;
  o.inputs = std::move(inputs);
  o.outputs = std::move(outputs);
  o.options = std::move(options);
  subgraph().operators.push_back(std::move(o));
}

std::int32_t Emitter::subgraph_of(const Graph& graph, const std::vector<const Value*>& captured) {
  Emitter inner(output_, graph);
  inner.emit(captured);
  return static_cast<std::int32_t>(inner.index_);
}

namespace {

/// Bytes from hexadecimal digits; what is no such pair of digits is left out.
std::string from_digits(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned value = 0;
    const auto [end, fault] = std::from_chars(digits.data() + i, digits.data() + i + 2, value, 16);
    if (fault == std::errc() && end == digits.data() + i + 2) bytes += static_cast<char>(value);
  }
  return bytes;
}

/// An output that was an input in the TFLite file which the model comes from, with nothing between them.
bool is_passed_on(const Node& node) {
  if (!node.is("Identity") || note_of(node.metadata, kSource).empty() || !note_of(node.metadata, kSourceOp).empty())
    return false;
  const Value *x = node.input(0), *y = node.output(0);
  const auto is_output = [](const Use& use) { return !use.node; };
  return x->is_input() && !x->initializer && std::ranges::count_if(x->uses(), is_output) == 0 &&
         std::ranges::any_of(y->uses(), is_output);
}

}  // namespace

void Emitter::emit_node(const Node& node) {
  scope_ = node.name.empty() && node.output(0) ? node.output(0)->name() : node.name;
  if (is_passed_on(node)) return alias(node.output(0), tensor(node.input(0)));
  // What inference knows nothing of cannot be written, whatever the operator makes of it.
  for (const Values& values : {node.inputs(), node.outputs()})
    for (const Value* v : values)
      if (v) (void)require_type(v->type.elem, v->name());
  NodeOut out(*this, node);
  const std::string_view noted = note_of(node.metadata, kCustomOptions);
  const Row* row = row_of(node);
  if (row && (noted.empty() || !refusal(node))) return row->emit(out);
  fmt_tflite::Operator custom;  // the caller allowed it, or it would not be here
  custom.code.builtin = BuiltinOperator::CUSTOM;
  custom.code.custom = node.op;
  if (constexpr std::string_view kPrefix = "CUSTOM:"; !noted.empty()) {
    const std::string_view source = note_of(node.metadata, kSourceOp);
    custom.code.custom = std::string(source.substr(source.starts_with(kPrefix) ? kPrefix.size() : 0));
    custom.custom_options = Bytes::own(from_digits(noted));
  }
  for (std::size_t i = 0; i < node.input_count(); ++i) custom.inputs.push_back(node.input(i) ? out.in(i) : -1);
  for (std::size_t i = 0; i < node.output_count(); ++i)
    if (node.output(i)) custom.outputs.push_back(out.out(i));
  subgraph().operators.push_back(std::move(custom));
}

void Emitter::emit(const std::vector<const Value*>& captured) {
  std::vector<std::int32_t> inputs;
  for (const Value* v : graph_.inputs())
    if (!v->initializer) inputs.push_back(tensor(v));
  for (const Value* v : captured) inputs.push_back(tensor(v));
  for (const Node& node : graph_.nodes()) {
    if (node.is("Constant") || passed_on_.contains(&node)) continue;
    emit_node(node);
  }
  subgraph().inputs = std::move(inputs);
  std::vector<std::int32_t> outputs;
  for (const Value* v : graph_.outputs()) outputs.push_back(tensor(v));
  subgraph().outputs = std::move(outputs);
}

}  // namespace ingot::backends::tflite
