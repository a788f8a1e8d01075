// Model -> TFLite file. The tables are built first; the constants follow them in the file and never pass through the
// builder: where they will lie is computed, and the tables' references are patched to point there.
#include "ingot/formats/tflite/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/check.h"
#include "ingot/formats/tflite/options_io.h"
#include "ingot/formats/tflite/schema.h"
#include "tflite_generated.h"

namespace ingot::formats::tflite {
namespace {

using flatbuffers::Offset;
template <class T> using Numbers = Offset<flatbuffers::Vector<T>>;
using Text = Offset<flatbuffers::String>;

constexpr std::uint64_t kAlignment = 16;
/// Custom options that are worth moving out of a flatbuffer that is too large.
constexpr std::size_t kLargeCustomOptions = 64 << 10;
/// What tables may take at most: the builder itself only has an assertion for this.
constexpr std::uint64_t kMostTableBytes = (std::uint64_t{1} << 31) - (std::uint64_t{1} << 24);

constexpr std::uint64_t align(std::uint64_t position) { return (position + kAlignment - 1) / kAlignment * kAlignment; }

/// Inside: as vectors of the flatbuffer. Behind: found by their offsets in the file.
enum class Place : std::uint8_t { inside, behind };

/// Runtimes insist on some lists even where they are empty.
enum class Presence : std::uint8_t { if_any, always };

class Writer {
 public:
  Writer(const Model& model, Place place) : model_(model), place_(place) {}

  /// Builds the tables and lays out the data. False if the flatbuffer would pass the limit.
  bool build(std::uint64_t limit);
  void emit(Sink& sink) const;

 private:
  void reserve(std::uint64_t bytes) const {
    if (builder_.GetSize() + bytes > kMostTableBytes)
      throw Error(Code::not_writable, "the model's tables without its constants are beyond 2 GiB");
  }

  Text text(const std::string& value) {
    reserve(value.size());
    return value.empty() ? Text() : builder_.CreateString(value);
  }

  template <class To, class From> Numbers<To> numbers(const std::vector<From>& values) {
    reserve(values.size() * sizeof(To));
    if (values.empty()) return {};
    std::vector<To> converted;
    converted.reserve(values.size());
    for (const From value : values) {
      if constexpr (std::is_same_v<From, float> || std::is_same_v<From, bool>)
        converted.push_back(value);
      else
        converted.push_back(narrow<To>(value));
    }
    return builder_.CreateVector(converted);
  }

  Numbers<std::uint8_t> bytes(const Bytes& value, std::size_t alignment = 4) {
    reserve(value.size());
    if (value.empty()) return {};
    builder_.ForceVectorAlignment(value.size(), 1, alignment);
    return builder_.CreateVector(reinterpret_cast<const std::uint8_t*>(value.data()), value.size());
  }

  /// Applies a member function to each struct and lists the tables.
  template <class Struct, class Table>
  Offset<flatbuffers::Vector<Offset<Table>>> each(const std::vector<Struct>& structs,
                                                  Offset<Table> (Writer::*convert)(const Struct&),
                                                  Presence presence = Presence::if_any) {
    if (structs.empty() && presence == Presence::if_any) return 0;
    std::vector<Offset<Table>> tables;
    tables.reserve(structs.size());
    for (const Struct& item : structs) tables.push_back((this->*convert)(item));
    reserve(tables.size() * sizeof(std::uint32_t));
    return builder_.CreateVector(tables);
  }

  Offset<schema::Model> model();
  Offset<flatbuffers::Vector<Offset<schema::OperatorCode>>> codes();
  Offset<flatbuffers::Vector<Offset<schema::Buffer>>> buffers();
  Offset<schema::SubGraph> subgraph(const SubGraph& source);
  Offset<schema::Tensor> tensor(const Tensor& source);
  Offset<schema::QuantizationParameters> quantization(const Quantization& source);
  Offset<schema::SparsityParameters> sparsity(const Sparsity& source);
  Offset<schema::DimensionMetadata> level(const DimensionMetadata& source);
  Offset<void> indices(const SparseIndices& source);
  Offset<schema::VariantSubType> variant(const VariantSubType& source);
  Offset<schema::Operator> op(const Operator& source);
  Offset<schema::Metadata> metadata(const Metadata& source);
  Offset<schema::SignatureDef> signature(const SignatureDef& source);
  Offset<schema::TensorMap> tensor_map(const TensorMap& source);
  Offset<schema::ExternalBuffer> external_buffer(const ExternalBuffer& source);
  Offset<schema::ExternalBufferGroup> external_buffer_group(const std::string& name);

  std::uint64_t append(const Bytes& data, std::uint64_t& end);
  void place_inside(std::uint64_t& end);
  void place_behind(std::uint64_t& end);

  /// Bytes that go to `position`, after whatever lies before it.
  struct Piece {
    std::uint64_t position;
    std::uint32_t length_prefix;  ///< of a vector inside the flatbuffer, in the four bytes before; 0: none
    Bytes data;
  };

  const Model& model_;
  const Place place_;
  flatbuffers::FlatBufferBuilder builder_;
  std::map<OperatorCode, std::uint32_t> code_index_;
  std::vector<const OperatorCode*> codes_;
  std::vector<bool> is_constant_;  ///< is the buffer the data of a tensor?
  std::vector<Piece> pieces_;
};

Offset<flatbuffers::Vector<Offset<schema::OperatorCode>>> Writer::codes() {
  std::vector<Offset<schema::OperatorCode>> tables;
  for (const OperatorCode* code : codes_) {
    const Text custom = text(code->custom);
    const auto number = static_cast<std::int32_t>(code->builtin);
    const auto small = static_cast<std::int8_t>(
        std::min(number, static_cast<std::int32_t>(BuiltinOperator::PLACEHOLDER_FOR_GREATER_OP_CODES)));
    tables.push_back(schema::CreateOperatorCode(builder_, small, custom, code->version,
                                                static_cast<schema::BuiltinOperator>(number)));
  }
  return builder_.CreateVector(tables);
}

Offset<flatbuffers::Vector<Offset<schema::Buffer>>> Writer::buffers() {
  std::vector<Offset<schema::Buffer>> tables;
  for (std::size_t i = 0; i < model_.buffers.size(); ++i) {
    reserve(0);
    const flatbuffers::uoffset_t begin = builder_.StartTable();
    if (!model_.buffers[i].empty()) {
      // Only room is made here: the values are known when all tables are built. They must differ from the defaults.
      if (place_ == Place::behind && is_constant_[i]) {
        builder_.AddElement<std::uint64_t>(schema::Buffer::VT_OFFSET, 1, 0);
        builder_.AddElement<std::uint64_t>(schema::Buffer::VT_SIZE, model_.buffers[i].size(), 0);
      } else {
        builder_.AddElement<flatbuffers::uoffset_t>(schema::Buffer::VT_DATA, 1, 0);
      }
    }
    tables.emplace_back(builder_.EndTable(begin));
  }
  return builder_.CreateVector(tables);
}

Offset<void> Writer::indices(const SparseIndices& source) {
  switch (source.type) {
    case SparseIndexType::NONE:
      return 0;
    case SparseIndexType::INT32:
      return schema::CreateInt32Vector(builder_, numbers<std::int32_t>(source.values)).Union();
    case SparseIndexType::UINT16: {
      builder_.ForceVectorAlignment(source.values.size(), sizeof(std::uint16_t), 4);
      return schema::CreateUint16Vector(builder_, numbers<std::uint16_t>(source.values)).Union();
    }
    case SparseIndexType::UINT8: {
      builder_.ForceVectorAlignment(source.values.size(), sizeof(std::uint8_t), 4);
      return schema::CreateUint8Vector(builder_, numbers<std::uint8_t>(source.values)).Union();
    }
  }
  return 0;
}

Offset<schema::DimensionMetadata> Writer::level(const DimensionMetadata& source) {
  const Offset<void> segments = indices(source.array_segments);
  const Offset<void> positions = indices(source.array_indices);
  return schema::CreateDimensionMetadata(builder_, static_cast<schema::DimensionType>(source.format), source.dense_size,
                                         static_cast<schema::SparseIndexVector>(source.array_segments.type), segments,
                                         static_cast<schema::SparseIndexVector>(source.array_indices.type), positions);
}

Offset<schema::SparsityParameters> Writer::sparsity(const Sparsity& source) {
  const auto order = numbers<std::int32_t>(source.traversal_order);
  const auto block_map = numbers<std::int32_t>(source.block_map);
  const auto levels = each(source.dim_metadata, &Writer::level);
  return schema::CreateSparsityParameters(builder_, order, block_map, levels);
}

Offset<schema::QuantizationParameters> Writer::quantization(const Quantization& source) {
  const auto min = numbers<float>(source.min);
  const auto max = numbers<float>(source.max);
  const auto scale = numbers<float>(source.scale);
  const auto zero_point = numbers<std::int64_t>(source.zero_point);
  auto type = schema::QuantizationDetails::NONE;
  Offset<void> details;
  if (const auto* custom = std::get_if<CustomQuantization>(&source.details)) {
    type = schema::QuantizationDetails::CustomQuantization;
    details = schema::CreateCustomQuantization(builder_, bytes(custom->custom, kAlignment)).Union();
  } else if (const auto* blockwise = std::get_if<BlockwiseQuantization>(&source.details)) {
    type = schema::QuantizationDetails::BlockwiseQuantization;
    details =
        schema::CreateBlockwiseQuantization(builder_, blockwise->scales, blockwise->zero_points, blockwise->block_size)
            .Union();
  } else if (const auto* axes = std::get_if<MultiAxisQuantization>(&source.details)) {
    type = schema::QuantizationDetails::MultiAxisQuantization;
    details = schema::CreateMultiAxisQuantization(builder_, axes->scales, axes->zero_points, axes->block_size,
                                                  numbers<std::int32_t>(axes->quantized_dimensions))
                  .Union();
  }
  return schema::CreateQuantizationParameters(builder_, min, max, scale, zero_point, type, details,
                                              source.quantized_dimension);
}

Offset<schema::VariantSubType> Writer::variant(const VariantSubType& source) {
  return schema::CreateVariantSubType(builder_, numbers<std::int32_t>(source.shape),
                                      static_cast<schema::TensorType>(source.type), source.has_rank);
}

Offset<schema::Tensor> Writer::tensor(const Tensor& source) {
  const Text name = text(source.name);
  // A scalar is an empty list, not a missing one: older runtimes look at it without asking.
  const auto shape =
      source.shape.empty() ? builder_.CreateVector(std::vector<std::int32_t>()) : numbers<std::int32_t>(source.shape);
  const auto signature = numbers<std::int32_t>(source.shape_signature);
  const auto quantized = source.quantization ? quantization(*source.quantization) : 0;
  const auto sparse = source.sparsity ? sparsity(*source.sparsity) : 0;
  const auto variants = each(source.variant_tensors, &Writer::variant);
  return schema::CreateTensor(builder_, shape, static_cast<schema::TensorType>(source.type), source.buffer, name,
                              quantized, source.is_variable, sparse, signature, source.has_rank, variants,
                              source.external_buffer);
}

Offset<schema::Operator> Writer::op(const Operator& source) {
  if (source.options.is_unknown())
    throw Error(Code::not_writable,
                fmt::format("{}: its options are of a newer version of the format", describe(source.code)));
  const auto inputs = builder_.CreateVector(source.inputs);
  const auto outputs = builder_.CreateVector(source.outputs);
  const auto intermediates = numbers<std::int32_t>(source.intermediates);
  const auto mutating = numbers<std::uint8_t>(source.mutating_variable_inputs);
  const bool custom_behind = place_ == Place::behind && source.custom_options.size() >= kLargeCustomOptions;
  const auto custom = custom_behind ? 0 : bytes(source.custom_options, kAlignment);
  const OptionTable* table = source.options.is_left_out() ? nullptr : source.options.table();
  const Offset<void> options = table ? write_options(source.options, builder_) : 0;
  schema::OperatorBuilder result(builder_);
  result.add_opcode_index(code_index_.at(source.code));
  result.add_inputs(inputs);
  result.add_outputs(outputs);
  if (table && table->option_union == OptionUnion::first) {
    result.add_builtin_options_type(static_cast<schema::BuiltinOptions>(table->number));
    result.add_builtin_options(options);
  } else if (table) {
    result.add_builtin_options_2_type(static_cast<schema::BuiltinOptions2>(table->number));
    result.add_builtin_options_2(options);
  }
  result.add_custom_options(custom);
  if (custom_behind) {  // patched when its place is known
    result.add_large_custom_options_offset(1);
    result.add_large_custom_options_size(source.custom_options.size());
  }
  result.add_custom_options_format(static_cast<schema::CustomOptionsFormat>(source.custom_options_format));
  result.add_mutating_variable_inputs(mutating);
  result.add_intermediates(intermediates);
  result.add_debug_metadata_index(source.debug_metadata_index);
  return result.Finish();
}

Offset<schema::SubGraph> Writer::subgraph(const SubGraph& source) {
  const Text name = text(source.name);
  const auto tensors = each(source.tensors, &Writer::tensor, Presence::always);
  const auto inputs = builder_.CreateVector(source.inputs);
  const auto outputs = builder_.CreateVector(source.outputs);
  const auto operators = each(source.operators, &Writer::op, Presence::always);
  return schema::CreateSubGraph(builder_, tensors, inputs, outputs, operators, name, source.debug_metadata_index);
}

Offset<schema::Metadata> Writer::metadata(const Metadata& source) {
  return schema::CreateMetadata(builder_, text(source.name), source.buffer);
}

Offset<schema::TensorMap> Writer::tensor_map(const TensorMap& source) {
  return schema::CreateTensorMap(builder_, text(source.name), source.tensor_index);
}

Offset<schema::SignatureDef> Writer::signature(const SignatureDef& source) {
  const Text key = text(source.signature_key);
  const Text tag = text(source.deprecated_tag);
  const auto inputs = each(source.inputs, &Writer::tensor_map);
  const auto outputs = each(source.outputs, &Writer::tensor_map);
  return schema::CreateSignatureDef(builder_, inputs, outputs, key, tag, source.subgraph_index);
}

Offset<schema::ExternalBuffer> Writer::external_buffer(const ExternalBuffer& source) {
  return schema::CreateExternalBuffer(builder_, source.id, source.group, source.offset, source.length,
                                      text(source.packing));
}

Offset<schema::ExternalBufferGroup> Writer::external_buffer_group(const std::string& name) {
  return schema::CreateExternalBufferGroup(builder_, text(name));
}

Offset<schema::Model> Writer::model() {
  const Text description = text(model_.description);
  const auto operator_codes = codes();
  const auto subgraphs = each(model_.subgraphs, &Writer::subgraph, Presence::always);
  const auto data = buffers();
  const auto metadata_buffer = numbers<std::int32_t>(model_.metadata_buffer);
  const auto all_metadata = each(model_.metadata, &Writer::metadata);
  const auto signatures = each(model_.signature_defs, &Writer::signature);
  const auto groups = each(model_.external_buffer_groups, &Writer::external_buffer_group);
  const auto externals = each(model_.external_buffers, &Writer::external_buffer);
  return schema::CreateModel(builder_, model_.version, operator_codes, subgraphs, description, data, metadata_buffer,
                             all_metadata, signatures, groups, externals);
}

/// Puts data at the next aligned place and returns that.
std::uint64_t Writer::append(const Bytes& data, std::uint64_t& end) {
  const std::uint64_t position = align(end);
  pieces_.push_back({position, 0, data});
  end = position + data.size();
  return position;
}

/// Vectors behind the tables but inside the flatbuffer: their length, then the data on an aligned place.
void Writer::place_inside(std::uint64_t& end) {
  const auto* tables = schema::GetMutableModel(builder_.GetBufferPointer())->buffers();
  for (std::size_t i = 0; tables && i < model_.buffers.size(); ++i) {
    const auto* table =
        reinterpret_cast<const flatbuffers::Table*>(tables->Get(static_cast<flatbuffers::uoffset_t>(i)));
    const std::uint8_t* field = table->GetAddressOf(schema::Buffer::VT_DATA);
    if (!field) continue;
    const Bytes& data = model_.buffers[i];
    const std::uint64_t begin = end + sizeof(std::uint32_t);
    const std::uint64_t position = append(data, end = begin);
    if (end > FLATBUFFERS_MAX_BUFFER_SIZE) return;  // build() sees it
    pieces_.back().length_prefix = static_cast<std::uint32_t>(data.size());
    const auto field_position = static_cast<std::uint64_t>(field - builder_.GetBufferPointer());
    flatbuffers::WriteScalar(const_cast<std::uint8_t*>(field),
                             static_cast<flatbuffers::uoffset_t>(position - sizeof(std::uint32_t) - field_position));
  }
}

/// Data beyond the flatbuffer, wherever in the file.
void Writer::place_behind(std::uint64_t& end) {
  auto* root = schema::GetMutableModel(builder_.GetBufferPointer());
  auto* tables = root->mutable_buffers();
  for (std::size_t i = 0; tables && i < model_.buffers.size(); ++i) {
    auto* table =
        reinterpret_cast<flatbuffers::Table*>(tables->GetMutableObject(static_cast<flatbuffers::uoffset_t>(i)));
    if (table->CheckField(schema::Buffer::VT_OFFSET))
      table->SetField<std::uint64_t>(schema::Buffer::VT_OFFSET, append(model_.buffers[i], end));
  }
  for (std::size_t s = 0; s < model_.subgraphs.size(); ++s) {
    auto* operators =
        root->mutable_subgraphs()->GetMutableObject(static_cast<flatbuffers::uoffset_t>(s))->mutable_operators();
    for (std::size_t i = 0; operators && i < model_.subgraphs[s].operators.size(); ++i) {
      auto* table =
          reinterpret_cast<flatbuffers::Table*>(operators->GetMutableObject(static_cast<flatbuffers::uoffset_t>(i)));
      if (table->CheckField(schema::Operator::VT_LARGE_CUSTOM_OPTIONS_OFFSET))
        table->SetField<std::uint64_t>(schema::Operator::VT_LARGE_CUSTOM_OPTIONS_OFFSET,
                                       append(model_.subgraphs[s].operators[i].custom_options, end));
    }
  }
}

bool Writer::build(std::uint64_t limit) {
  is_constant_.assign(model_.buffers.size(), false);
  for (const SubGraph& graph : model_.subgraphs) {
    for (const Operator& op : graph.operators)
      if (code_index_.emplace(op.code, codes_.size()).second) codes_.push_back(&op.code);
    for (const Tensor& tensor : graph.tensors)
      if (tensor.buffer < is_constant_.size()) is_constant_[tensor.buffer] = true;
  }
  builder_.Finish(model(), schema::ModelIdentifier());
  std::uint64_t end = builder_.GetSize();
  place_inside(end);
  if (end > limit) return false;
  if (place_ == Place::behind) place_behind(end);
  if (!model_.associated_files.empty()) append(model_.associated_files, end);
  return true;
}

void Writer::emit(Sink& sink) const {
  static constexpr std::byte kZeros[kAlignment * 2] = {};
  const auto tables = std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize()));
  sink.write(tables);
  std::uint64_t position = tables.size();
  for (const Piece& piece : pieces_) {
    const std::uint64_t prefix = piece.length_prefix != 0 ? sizeof piece.length_prefix : 0;
    sink.write(std::span(kZeros, piece.position - prefix - position));
    if (prefix != 0) sink.write(std::as_bytes(std::span(&piece.length_prefix, 1)));
    sink.write(piece.data.span());
    position = piece.position + piece.data.size();
  }
}

}  // namespace

void write(const Model& model, Sink& sink, const WriteOptions& options) {
  check(model);
  Writer inside(model, Place::inside);
  if (inside.build(std::min<std::uint64_t>(options.largest_flatbuffer, FLATBUFFERS_MAX_BUFFER_SIZE - 1)))
    return inside.emit(sink);
  Writer behind(model, Place::behind);
  if (!behind.build(FLATBUFFERS_MAX_BUFFER_SIZE - 1))
    throw Error(Code::not_writable, "the model's tables and metadata are beyond what a flatbuffer can hold");
  behind.emit(sink);
}

std::string to_bytes(const Model& model, const WriteOptions& options) {
  StringSink sink;
  write(model, sink, options);
  return sink.take();
}

}  // namespace ingot::formats::tflite
