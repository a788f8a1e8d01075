// A subgraph on its way into a graph: the values of its tensors, stored and real.
#include "ingot/frontends/tflite/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/frontends/custom_operators.h"
#include "ingot/frontends/tflite/op.h"
#include "ingot/ir/source_notes.h"

namespace ingot::frontends::tflite {
namespace {

/// A file of a few bytes may state a variable of any size.
constexpr std::uint64_t kMostState = std::uint64_t{256} << 20;
/// Operators of all subgraphs, as often as these are used, for each that the file holds and in all.
constexpr std::size_t kMostRepeated = 4, kMostTranslated = 10'000;
/// Of operators that stay custom, unless the user names another.
constexpr std::string_view kCustomDomain = "tflite";

}  // namespace

Graph& outermost_of(Graph& graph) {
  Graph* outermost = &graph;
  while (outermost->parent()) outermost = outermost->parent();
  return *outermost;
}

Value* Import::read(Variable& variable, Graph& graph) {
  if (variable.current) return variable.current;
  if (!variable.initial)
    throw Error(Code::bad_source_graph, fmt::format("variable '{}' is read before it has a value", variable.name));
  Graph& outermost = outermost_of(graph);
  variable.first = outermost.add_initializer(outermost.fresh_name(variable.name), *variable.initial);
  return variable.current = variable.first;
}

void finish_variables(Import& import, Graph& graph) {
  for (auto& [key, variable] : import.variables) {
    if (!variable.first || !variable.is_written || variable.current == variable.first) continue;
    graph.set_is_input(variable.first, true);
    Value* last = variable.current;
    bool is_own = last->producer() && &last->graph() == &graph;
    for (const Use& use : last->uses()) is_own &= use.node != nullptr;
    if (!is_own) {
      GraphBuilder builder(graph);
      builder.name_after(variable.name);
      last = builder.op("Identity", {last});
    }
    graph.rename(last, graph.fresh_name(variable.name + "_next"));
    variable.first->metadata.emplace_back(kNextState, last->name());
    last->is_declared = true;
    graph.add_output(last);
    import.note(fmt::format(
        "variable '{}' is an input with its first value as default, and output '{}' its value for the next run",
        variable.first->name(), last->name()));
  }
}

bool has_scale(const tfl::Tensor& tensor) {
  return tensor.quantization && !tensor.quantization->scale.empty() && tensor.quantization->scale[0] != 0 &&
         tensor.quantization->details.index() == 0;
}

const tfl::BlockwiseQuantization* blocks_of(const tfl::Tensor& tensor) {
  return tensor.quantization ? std::get_if<tfl::BlockwiseQuantization>(&tensor.quantization->details) : nullptr;
}

Frame::Frame(Import& import, std::size_t subgraph, Graph& graph)
    : import_(import), index_(subgraph), source_(import.source.subgraphs.at(subgraph)), builder_(graph) {
  values_.resize(source_.tensors.size());
  reals_.resize(source_.tensors.size());
}

bool Frame::is_quantized(const tfl::Tensor& tensor) const {
  if (import_.options.dequantize || !tensor.quantization) return false;
  switch (tensor.type) {
    case tfl::TensorType::INT8:
    case tfl::TensorType::UINT8:
    case tfl::TensorType::INT16:
    case tfl::TensorType::INT4:
    case tfl::TensorType::INT2:
    case tfl::TensorType::UINT4:
      return has_scale(tensor) || blocks_of(tensor);
    default:
      return false;
  }
}

DType Frame::dtype(const tfl::Tensor& tensor) const {
  const bool has_scales = has_scale(tensor) || blocks_of(tensor);
  const bool is_real = import_.options.dequantize && has_scales && tensor.type != tfl::TensorType::INT32 &&
                       tensor.type != tfl::TensorType::INT64 && is_integer(dtype_for(tensor.type));
  return is_real ? DType::f32 : dtype_for(tensor.type);
}

Type Frame::type_of(const tfl::Tensor& tensor) const {
  if (tensor.shape.empty() && tensor.shape_signature.empty() && !tensor.has_rank) {
    // Older files never state a rank: an empty shape is a scalar as a rule, but need not be.
    return Type::tensor(dtype(tensor));
  }
  Shape shape;
  const Ints& dims = tensor.shape_signature.size() == tensor.shape.size() ? tensor.shape_signature : tensor.shape;
  for (const std::int64_t d : dims) shape.push_back(d < 0 ? Dim() : Dim(d));
  return Type::tensor(dtype(tensor), std::move(shape));
}

void Frame::set_alias(std::int32_t index, std::int32_t constant) {
  if (resolved(constant) == index) throw Error(Code::bad_source_graph, "a tensor is made of itself");
  aliases_[index] = constant;
}

std::int32_t Frame::resolved(std::int32_t index) const {
  for (auto found = aliases_.find(index); found != aliases_.end(); found = aliases_.find(index)) index = found->second;
  return index;
}

std::optional<Tensor> Frame::constant(std::int32_t index) const {
  const tfl::Tensor& source = tensor(resolved(index));
  if (source.is_variable) return std::nullopt;
  std::optional<Tensor> data = constant_tensor(import_.source, source);
  if (!data || dtype(source) == dtype_for(source.type)) return data;
  if (const tfl::BlockwiseQuantization* blocks = blocks_of(source)) {
    const auto scales = constant(blocks->scales);
    const auto zeros = blocks->zero_points == tfl::kNoTensor ? std::nullopt : constant(blocks->zero_points);
    if (!scales) throw Error(Code::unsupported_setting, "the scales of '" + source.name + "' are not constant");
    data = dequantized_blocks(*data, *scales, zeros, blocks->block_size);
  } else {
    data = dequantized(*data, source.quantization->scale, source.quantization->zero_point,
                       tfl::quantized_axis(source).value_or(0));
  }
  return data;
}

Value* Frame::stored(std::int32_t index) {
  Value*& value = values_.at(static_cast<std::size_t>(index));
  if (value) return value;
  if (resolved(index) != index) return value = real(index);
  const tfl::Tensor& source = tensor(index);
  std::optional<Tensor> data = constant(index);
  if (!data) {
    if (source.is_variable) return import_.read(state(index), builder_.graph());
    throw Error(Code::bad_source_graph, fmt::format("tensor '{}' is read before anything writes it", source.name));
  }
  return value = own_constant(source, std::move(*data));
}

Value* Frame::own_constant(const tfl::Tensor& source, Tensor data) {
  Graph& graph = builder_.graph();
  if (graph.is_function_body) return builder_.constant(std::move(data));  // functions have no initializers
  return graph.add_initializer(graph.fresh_name(source.name.empty() ? "constant" : source.name), std::move(data));
}

Variable& Frame::state(std::int32_t index) {
  const tfl::Tensor& source = tensor(index);
  const std::string key = source.name.empty() ? fmt::format("state_{}", index) : source.name;
  const auto [found, is_new] = import_.variables.try_emplace(fmt::format("{} {}", index, key));
  Variable& variable = found->second;
  const Graph& outermost = outermost_of(builder_.graph());
  // A function's body has the variables that are its inputs, and what it made of them; what it changed of others would
  // be read outside of it.
  if (outermost.is_function_body && !(variable.current && &variable.current->graph() == &outermost))
    throw Error(Code::bad_source_graph, fmt::format("tensor '{}' keeps a state, but is no variable", key));
  if (!is_new) return variable;
  variable.name = key;
  const DType type = dtype(source);
  const auto size = byte_count(type, static_cast<std::uint64_t>(tensor_size(source.shape)));
  if (!size || *size > kMostState)
    throw Error(Code::bad_source_graph, fmt::format("the state '{}' has no size that can be believed", source.name));
  // TFLite starts int8 at its zero point and everything else at zero bits.
  const bool is_int8 = type == DType::i8 && has_scale(source) && !source.quantization->zero_point.empty();
  const auto fill = static_cast<std::byte>(is_int8 ? source.quantization->zero_point[0] : 0);
  variable.initial = Tensor(type, source.shape, Bytes::own(std::vector<std::byte>(*size, fill)));
  return variable;
}

Value* Frame::real(std::int32_t index) {
  Value*& value = reals_.at(static_cast<std::size_t>(index));
  if (value) return value;
  const std::int32_t origin = resolved(index);
  const tfl::Tensor& source = tensor(origin);
  Value* base = stored(origin);
  if (is_quantized(source))
    value = dequantize(base, source, tfl::quantized_axis(source));
  else if (origin != index)
    value = builder_.cast(base, dtype(tensor(index)));
  else
    value = base;
  return value;
}

void Frame::name(Value* value, const std::string& wanted) {
  if (wanted.empty() || value->name() == wanted) return;
  Graph& graph = value->graph();
  graph.rename(value, graph.fresh_name(wanted));
}

void Frame::set(std::int32_t index, Value* value) {
  if (index == tfl::kNoTensor) return;
  if (!value) throw Error(Code::bad_source_graph, "tensor '" + tensor(index).name + "' stands for no value");
  values_.at(static_cast<std::size_t>(index)) = value;
  reals_.at(static_cast<std::size_t>(index)) = nullptr;
  const bool is_new = value->producer() && &value->graph() == &builder_.graph() && import_.named.insert(value).second;
  if (is_new) name(value, tensor(index).name);
}

Value* Frame::dequantize(Value* value, const tfl::Tensor& source, std::optional<std::size_t> axis) {
  const tfl::Quantization& q = *source.quantization;
  if (const tfl::BlockwiseQuantization* blocks = blocks_of(source)) {
    Value* scales = builder_.cast(stored(blocks->scales), DType::f32);
    Value* zeros =
        blocks->zero_points == tfl::kNoTensor ? nullptr : builder_.cast(stored(blocks->zero_points), value->type.elem);
    const std::int64_t last = static_cast<std::int64_t>(source.shape.size()) - 1;
    return builder_.op("DequantizeLinear", {value, scales, zeros},
                       {{"axis", last}, {"block_size", std::int64_t{blocks->block_size}}});
  }
  const bool per_axis = axis && q.scale.size() > 1;
  const auto count = static_cast<std::int64_t>(q.scale.size());
  const Dims dims = per_axis ? Dims{count} : Dims{};
  Value* scale = builder_.constant(Tensor::of<float>(dims, std::span(q.scale).first(per_axis ? q.scale.size() : 1)));
  Value* zero = nullptr;
  if (value->type.elem != DType::i32) {
    std::vector<double> zeros(per_axis ? q.scale.size() : 1, 0.0);
    for (std::size_t i = 0; i < zeros.size() && !q.zero_point.empty(); ++i)
      zeros[i] = static_cast<double>(q.zero_point[q.zero_point.size() > 1 ? i : 0]);
    const Tensor wide = float_tensor(dims, zeros);
    zero = builder_.constant(integer_tensor(wide, value->type.elem));
  }
  Attrs attrs;
  if (per_axis) attrs.emplace_back("axis", static_cast<std::int64_t>(*axis));
  return builder_.op("DequantizeLinear", {value, scale, zero}, attrs);
}

Value* Frame::quantize(Value* real, const tfl::Tensor& target) {
  const tfl::Quantization& q = *target.quantization;
  if (q.scale.size() != 1)
    throw Error(Code::unsupported_setting, "the result '" + target.name + "' is quantised along an axis");
  real = builder_.cast(real, DType::f32);
  Value* scale = builder_.constant(Tensor::scalar(q.scale[0]));
  const Tensor wide = float_tensor({}, {q.zero_point.empty() ? 0.0 : static_cast<double>(q.zero_point[0])});
  Value* zero = builder_.constant(integer_tensor(wide, dtype(target)));
  return builder_.op("QuantizeLinear", {real, scale, zero});
}

Value* Frame::weights(std::int32_t index, const Ints& perm) {
  const auto key = std::pair(index, perm);
  if (const auto found = weights_.find(key); found != weights_.end()) return found->second;
  const std::int32_t origin = resolved(index);
  const tfl::Tensor& source = tensor(origin);
  Value* value = nullptr;
  const bool is_blockwise = source.quantization && source.quantization->details.index() != 0;
  std::optional<Tensor> data = has_value(origin) || is_blockwise ? std::nullopt : constant(origin);
  if (!data) {
    value = builder_.transpose(real(index), perm);
  } else {
    value = own_constant(source, transposed_constant(*data, perm));
    if (is_quantized(source)) {
      std::optional<std::size_t> axis = tfl::quantized_axis(source);
      if (axis)
        axis = static_cast<std::size_t>(std::ranges::find(perm, static_cast<std::int64_t>(*axis)) - perm.begin());
      value = dequantize(value, source, axis);
    } else if (origin != index) {
      value = builder_.cast(value, dtype(tensor(index)));
    }
  }
  weights_.emplace(key, value);
  return value;
}

void Frame::keep_as_custom(const tfl::Operator& op, const std::string& domain) {
  Values inputs;
  for (const std::int32_t i : op.inputs) {
    const bool is_there = i != tfl::kNoTensor && (has_value(i) || constant(i) || resolved(i) != i);
    inputs.push_back(is_there ? stored(i) : nullptr);
  }
  std::string type = op.code.builtin == tfl::BuiltinOperator::CUSTOM ? op.code.custom : tfl::describe(op.code);
  if (type.empty()) type = "Custom";
  Attrs attrs;
  if (!op.custom_options.empty()) attrs.emplace_back("custom_options", std::string(op.custom_options.text()));
  Node* node = builder_.node(type, domain, inputs, attrs, op.outputs.size());
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    if (op.outputs[i] == tfl::kNoTensor) continue;
    node->output(i)->type = type_of(tensor(op.outputs[i]));
    set(op.outputs[i], node->output(i));
  }
}

bool Frame::rounds_activations(const tfl::Operator& op) const {
  const tfl::BuiltinOperator kind = op.code.builtin;
  if (kind != tfl::BuiltinOperator::FULLY_CONNECTED && kind != tfl::BuiltinOperator::CONV_2D &&
      kind != tfl::BuiltinOperator::DEPTHWISE_CONV_2D)
    return false;
  if (op.inputs.size() < 2 || op.inputs[0] == tfl::kNoTensor || op.inputs[1] == tfl::kNoTensor) return false;
  return tensor(op.inputs[0]).type == tfl::TensorType::FLOAT32 && is_quantized(tensor(op.inputs[1]));
}

void Frame::note_custom(const tfl::Operator& op) {
  const Value* first = op.outputs.empty() || op.outputs[0] == tfl::kNoTensor ? nullptr : stored(op.outputs[0]);
  Node* node = first ? first->producer() : nullptr;
  if (!node || node->input_count() != op.inputs.size() || node->output_count() != op.outputs.size()) return;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i] == tfl::kNoTensor || node->input(i) != stored(op.inputs[i])) return;
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    if (op.outputs[i] == tfl::kNoTensor || node->output(i) != stored(op.outputs[i])) return;
  std::string digits;
  for (const std::byte b : op.custom_options.span()) digits += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  node->metadata.emplace_back(kCustomOptions, digits.empty() ? "-" : digits);
}

void Frame::translate(const tfl::Operator& op) {
  const std::string type = tfl::describe(op.code);
  std::string node_name;
  for (std::size_t i = 0; i < op.outputs.size() && node_name.empty(); ++i)
    if (op.outputs[i] != tfl::kNoTensor) node_name = tensor(op.outputs[i]).name;
  if (node_name.empty()) node_name = type;
  builder_.name_after(node_name);
  Metadata metadata{{std::string(kSource), node_name}, {std::string(kSourceOp), type}};
  if (rounds_activations(op)) {
    const bool is_asymmetric =
        op.options.has("asymmetric_quantize_inputs") && op.options.get_bool("asymmetric_quantize_inputs");
    metadata.emplace_back(kDynamicRange, is_asymmetric ? "asymmetric" : "symmetric");
  }
  builder_.set_metadata(std::move(metadata));
  const std::string plain = op.code.builtin == tfl::BuiltinOperator::CUSTOM ? op.code.custom : type;
  if (const auto domain = CustomOperators(import_.options.allow_custom, kCustomDomain).domain_of(plain)) {
    import_.note(fmt::format("'{}' ({}) stays as a custom operator of domain '{}'", node_name, plain, *domain));
    return keep_as_custom(op, *domain);
  }
  std::string reason = "there is no translation for this operator";
  if (const Row* row = find_row(op.code)) {
    try {
      return translate(op, *row, node_name);
    } catch (const Error& error) {
      constexpr int kOurFault = 70, kLimit = 5;
      if (error.exit_code() == kOurFault || error.exit_code() == kLimit) throw;
      reason = error.message();
    } catch (const std::out_of_range&) {
      reason = "its tensors do not fit the operator";
    }
  }
  import_.problems.add(node_name, type, reason, Code::unsupported_operator);
  // A stand-in, so that the operators behind it are looked at too; the model is refused in the end.
  keep_as_custom(op, std::string(kCustomDomain));
}

void Frame::translate(const tfl::Operator& op, const Row& row, const std::string& node_name) {
  Op view(*this, op, row);
  const Guard& guard = row.guard;
  if (!guard.takes_complex) view.refuse_complex();
  const bool becomes_function = guard.becomes_function && !import_.options.dequantize && guard.becomes_function(view);
  if (becomes_function && can_be_described(op)) return translate_as_function(op, row, node_name);
  row.translate(view);
  if (op.code.builtin == tfl::BuiltinOperator::CUSTOM) note_custom(op);
}

void Frame::translate(const std::vector<bool>& wanted) {
  if (std::ranges::find(import_.open, index_) != import_.open.end())
    throw Error(Code::bad_source_graph, fmt::format("subgraph {} is part of itself", index_));
  struct Opened {
    std::vector<std::size_t>& list;
    ~Opened() { list.pop_back(); }
  };
  std::size_t most = kMostTranslated;
  for (const tfl::SubGraph& graph : import_.source.subgraphs) most += kMostRepeated * graph.operators.size();
  import_.open.push_back(index_);
  const Opened opened{import_.open};
  for (std::size_t i = 0; i < source_.operators.size(); ++i) {
    if (!wanted.empty() && !wanted[i]) continue;
    // A subgraph is translated anew wherever it is used: a few that use each other twice would have no end.
    if (++import_.translated > most)
      throw Error(Code::node_limit, fmt::format("the subgraphs make more than {} operators", most));
    count_step();
    translate(source_.operators[i]);
  }
}

}  // namespace ingot::frontends::tflite
