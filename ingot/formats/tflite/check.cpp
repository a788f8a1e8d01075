// Everything the flatbuffer verifier cannot know: that indices lead somewhere and sizes agree.
#include "ingot/formats/tflite/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/schema.h"
#include "ingot/formats/tflite/string_tensor.h"

namespace ingot::formats::tflite {
namespace {

constexpr std::size_t kMaxRank = 64;

template <class... Args> [[noreturn]] void refuse(Code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

/// Does `work`; an Error in it is told with `place`, which is only put in words then.
template <class Place, class Work> void at(Place&& place, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    Error placed(error.code(), place() + ": " + error.message());
    if (!error.hint_text().empty()) placed.hint(error.hint_text());
    throw placed;
  }
}

void check_index(std::int64_t index, std::size_t count, std::string_view what) {
  if (index < 0 || static_cast<std::uint64_t>(index) >= count)
    refuse(Code::bad_reference, "{} {} does not exist (there are {})", what, index, count);
}

void check_tensors(std::span<const std::int32_t> indices, std::size_t count, std::string_view role, bool optional) {
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (!(optional && indices[i] == kNoTensor))
      at([&] { return fmt::format("{} {}", role, i); }, [&] { check_index(indices[i], count, "tensor"); });
}

void check_shape(std::span<const std::int64_t> shape, std::int64_t least, std::string_view what) {
  if (shape.size() > kMaxRank)
    refuse(Code::bad_tensor, "its {} has {} dimensions; {} are allowed", what, shape.size(), kMaxRank);
  for (const std::int64_t dim : shape)
    if (dim < least) refuse(Code::bad_tensor, "its {} has a dimension of {}", what, dim);
}

void check_quantization(const Quantization& q, const Tensor& tensor, std::size_t tensors) {
  const auto check_parameters = [&](std::int32_t scales, std::int32_t zero_points) {
    check_index(scales, tensors, "the tensor of its scales,");
    if (zero_points != kNoTensor) check_index(zero_points, tensors, "the tensor of its zero points,");
  };
  if (const auto* blockwise = std::get_if<BlockwiseQuantization>(&q.details)) {
    check_parameters(blockwise->scales, blockwise->zero_points);
    if (blockwise->block_size <= 0) refuse(Code::bad_tensor, "it is quantized in blocks of {}", blockwise->block_size);
  } else if (const auto* axes = std::get_if<MultiAxisQuantization>(&q.details)) {
    check_parameters(axes->scales, axes->zero_points);
    if (axes->block_size < 0) refuse(Code::bad_tensor, "it is quantized in blocks of {}", axes->block_size);
    for (const std::int32_t axis : axes->quantized_dimensions)
      check_index(axis, tensor.shape.size(), "its quantized dimension");
  }
  const std::size_t scales = q.scale.size();
  if (scales != 0 && !q.zero_point.empty() && q.zero_point.size() != scales)
    refuse(Code::bad_tensor, "it has {} scales but {} zero points", scales, q.zero_point.size());
  if (scales <= 1) return;
  const std::optional<std::size_t> axis = quantized_axis(tensor);
  if (!axis)
    refuse(Code::bad_reference, "its quantized dimension {} does not exist (there are {})", q.quantized_dimension,
           tensor.shape.size());
  const std::int64_t channels = tensor.shape[*axis];
  if (channels >= 0 && static_cast<std::uint64_t>(channels) != scales)
    refuse(Code::bad_tensor, "it has {} scales for {} channels", scales, channels);
}

void check_data(const Tensor& tensor, const Bytes& data) {
  if (tensor.type == TensorType::STRING) {
    const std::size_t count = string_elements(data).size();
    if (element_count(tensor.shape) != count) refuse(Code::bad_tensor, "its shape does not fit its {} strings", count);
    return;
  }
  if (!element_bits(tensor.type)) return;
  const std::optional<std::uint64_t> needed = dense_size(tensor);
  if (!needed) refuse(Code::bad_tensor, "it is a constant whose shape is unknown or too large");
  if (tensor.sparsity) return check_sparsity(tensor, data.size());
  if (*needed != data.size())
    refuse(Code::bad_tensor, "it needs {} bytes by its shape and type but has {}", *needed, data.size());
}

void check_tensor(const Tensor& tensor, const Model& model, std::size_t tensors) {
  check_shape(tensor.shape, -1, "shape");  // some files leave out the signature and say -1 here
  check_shape(tensor.shape_signature, -1, "shape signature");
  if (std::ranges::find(tensor.shape, -1) == tensor.shape.end() && !element_count(tensor.shape))
    refuse(Code::bad_tensor, "its shape is too large");
  if (!tensor.shape_signature.empty() && tensor.shape_signature.size() != tensor.shape.size())
    refuse(Code::bad_tensor, "its shape signature has {} dimensions, its shape {}", tensor.shape_signature.size(),
           tensor.shape.size());
  for (const VariantSubType& variant : tensor.variant_tensors) check_shape(variant.shape, -1, "variant's shape");
  if (tensor.buffer != 0) check_index(tensor.buffer, model.buffers.size(), "buffer");
  if (tensor.quantization) check_quantization(*tensor.quantization, tensor, tensors);
  const Bytes data = constant_data(model, tensor);
  if (!data.empty()) check_data(tensor, data);
}

/// The subgraphs that an operator runs.
std::vector<std::int64_t> callees(const Operator& op) {
  std::vector<std::int64_t> indices;
  if (!op.options.table() || op.options.is_left_out()) return indices;
  const std::vector<OptionField>& fields = op.options.table()->fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i].subgraph) continue;
    const OptionValue& value = op.options.values()[i];
    if (const auto* one = std::get_if<std::int64_t>(&value)) indices.push_back(*one);
    if (const auto* many = std::get_if<std::vector<std::int64_t>>(&value))
      indices.insert(indices.end(), many->begin(), many->end());
  }
  return indices;
}

void check_operator(const Operator& op, const SubGraph& subgraph, const Model& model) {
  const std::size_t tensors = subgraph.tensors.size();
  if (op.code.builtin == BuiltinOperator::PLACEHOLDER_FOR_GREATER_OP_CODES)
    refuse(Code::bad_reference, "the file names no operator");
  check_tensors(op.inputs, tensors, "input", true);
  check_tensors(op.outputs, tensors, "output", true);
  check_tensors(op.intermediates, tensors, "intermediate", true);
  if (!op.mutating_variable_inputs.empty() && op.mutating_variable_inputs.size() != op.inputs.size())
    refuse(Code::bad_reference, "it has {} inputs but {} marks for variables", op.inputs.size(),
           op.mutating_variable_inputs.size());
  const OptionTable* expected = option_table(op.code.builtin);
  if (op.options.table() && expected && op.options.table() != expected && !expected->fields.empty())
    refuse(Code::bad_options, "it carries {} instead of {}", op.options.table_name(), expected->name);
  for (const std::int64_t callee : callees(op)) check_index(callee, model.subgraphs.size(), "subgraph");
}

void check_subgraph(const SubGraph& subgraph, const Model& model) {
  const std::size_t tensors = subgraph.tensors.size();
  for (std::size_t i = 0; i < tensors; ++i) {
    const Tensor& tensor = subgraph.tensors[i];
    at([&] { return fmt::format("tensor {} ('{}')", i, tensor.name); }, [&] { check_tensor(tensor, model, tensors); });
  }
  check_tensors(subgraph.inputs, tensors, "input", false);
  check_tensors(subgraph.outputs, tensors, "output", false);
  for (std::size_t i = 0; i < subgraph.operators.size(); ++i) {
    const Operator& op = subgraph.operators[i];
    at([&] { return fmt::format("operator {} ({})", i, describe(op.code)); },
       [&] { check_operator(op, subgraph, model); });
  }
}

/// Walks the calls from subgraph to subgraph without recursion: a call to one that is still being walked is a circle.
void check_calls(const Model& model) {
  const std::size_t count = model.subgraphs.size();
  std::vector<std::vector<std::size_t>> calls(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const Operator& op : model.subgraphs[i].operators)
      for (const std::int64_t callee : callees(op)) calls[i].push_back(static_cast<std::size_t>(callee));
    std::ranges::sort(calls[i]);
    calls[i].erase(std::unique(calls[i].begin(), calls[i].end()), calls[i].end());
  }
  enum class State : std::uint8_t { fresh, open, done };
  std::vector<State> state(count, State::fresh);
  std::vector<std::size_t> next(count, 0);
  for (std::size_t root = 0; root < count; ++root) {
    if (state[root] != State::fresh) continue;
    std::vector<std::size_t> path = {root};
    state[root] = State::open;
    while (!path.empty()) {
      const std::size_t here = path.back();
      if (next[here] == calls[here].size()) {
        state[here] = State::done;
        path.pop_back();
        continue;
      }
      const std::size_t callee = calls[here][next[here]++];
      if (state[callee] == State::open)
        refuse(Code::recursive_subgraphs, "subgraph {} calls subgraph {}, which is waiting for it", here, callee);
      if (state[callee] == State::fresh) {
        state[callee] = State::open;
        path.push_back(callee);
      }
    }
  }
}

void check_signature(const SignatureDef& signature, const Model& model) {
  check_index(signature.subgraph_index, model.subgraphs.size(), "subgraph");
  const std::size_t tensors = model.subgraphs[signature.subgraph_index].tensors.size();
  for (const auto* maps : {&signature.inputs, &signature.outputs})
    for (const TensorMap& map : *maps)
      at([&] { return fmt::format("'{}'", map.name); }, [&] { check_index(map.tensor_index, tensors, "tensor"); });
}

void check_external_buffers(const Model& model) {
  std::unordered_set<std::uint32_t> ids;
  for (const ExternalBuffer& external : model.external_buffers) {
    at([&] { return fmt::format("external buffer {}", external.id); },
       [&] {
         check_index(external.group, model.external_buffer_groups.size(), "group");
         if (!ids.insert(external.id).second) refuse(Code::bad_reference, "its number is given twice");
         if (!checked_add(external.offset, external.length)) refuse(Code::bad_reference, "it ends beyond 2^64 bytes");
       });
  }
  for (std::size_t i = 0; i < model.subgraphs.size(); ++i)
    for (const Tensor& tensor : model.subgraphs[i].tensors)
      if (tensor.external_buffer != 0 && !ids.contains(tensor.external_buffer))
        refuse(Code::bad_reference, "subgraph {}, tensor '{}': external buffer {} does not exist", i, tensor.name,
               tensor.external_buffer);
}

}  // namespace

void check(const Model& model) {
  if (model.version != 3)
    throw Error(Code::unsupported_format_version,
                fmt::format("the file has version {} of the format; Ingot reads version 3", model.version));
  if (model.subgraphs.empty()) refuse(Code::bad_reference, "the model has no subgraph");
  for (std::size_t i = 0; i < model.subgraphs.size(); ++i)
    at([&] { return fmt::format("subgraph {}", i); }, [&] { check_subgraph(model.subgraphs[i], model); });
  check_calls(model);
  for (const SignatureDef& signature : model.signature_defs)
    at([&] { return fmt::format("signature '{}'", signature.signature_key); },
       [&] { check_signature(signature, model); });
  for (const Metadata& metadata : model.metadata)
    at([&] { return fmt::format("metadata '{}'", metadata.name); },
       [&] { check_index(metadata.buffer, model.buffers.size(), "buffer"); });
  for (const std::int32_t buffer : model.metadata_buffer)
    at([] { return std::string("metadata"); }, [&] { check_index(buffer, model.buffers.size(), "buffer"); });
  check_external_buffers(model);
}

}  // namespace ingot::formats::tflite
