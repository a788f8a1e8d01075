// TFLite file -> Model: the flatbuffer verifier first, then plain copies of the tables, then the checks of check.h.
#include "ingot/formats/tflite/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/associated_files.h"
#include "ingot/formats/tflite/check.h"
#include "ingot/formats/tflite/options_io.h"
#include "ingot/formats/tflite/schema.h"
#include "tflite_generated.h"

namespace ingot::formats::tflite {
namespace {

template <class T> using List = flatbuffers::Vector<flatbuffers::Offset<T>>;

class Reader {
 public:
  Reader(const Bytes& file, const ReadOptions& options)
      : file_(file), budget_(options.budget ? *options.budget : Budget::unlimited()) {
    const auto proportional = checked_mul<std::uint64_t>(file.size(), options.copied_per_byte);
    limit_ = proportional ? checked_add(*proportional, options.copied_bytes).value_or(limit_) : limit_;
  }
  ~Reader() { budget_.release_memory(charged_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Model model(const schema::Model& source);
  /// Where in the file the last thing that was read ends.
  std::uint64_t end() const { return end_; }

 private:
  void copying(std::uint64_t bytes) {
    copied_ += bytes;
    if (copied_ > limit_)
      throw Error(Code::memory_limit, "the file shares its parts so often that the model is far larger than the file");
    budget_.charge_memory(bytes);
    charged_ += bytes;
  }

  template <class To, class From> std::vector<To> numbers(const flatbuffers::Vector<From>* source) {
    if (!source) return {};
    reach(source->Data(), std::uint64_t{source->size()} * sizeof(From));
    copying(std::uint64_t{source->size()} * sizeof(To));
    return elements<To>(*source);
  }

  /// One plain struct for each table of a list.
  template <class Table, class Convert> auto each(const List<Table>* source, std::string_view what, Convert&& convert) {
    using Struct = decltype(convert(*source->Get(0)));
    std::vector<Struct> result;
    if (!source) return result;
    copying(std::uint64_t{source->size()} * sizeof(Struct));
    result.reserve(source->size());
    for (flatbuffers::uoffset_t i = 0; i < source->size(); ++i) {
      try {
        result.push_back(convert(*source->Get(i)));
      } catch (const Error& error) {
        if (error.exit_code() == 5) throw;  // a limit is no fault of this place
        throw Error(error.code(), fmt::format("{} {}: {}", what, i, error.message()));
      }
    }
    return result;
  }

  std::string text(const flatbuffers::String* source) {
    if (!source) return {};
    reach(source->Data(), std::uint64_t{source->size()} + 1);
    copying(source->size());
    return source->str();
  }

  Bytes view(const flatbuffers::Vector<std::uint8_t>* source) {
    if (!source) return {};
    reach(source->Data(), source->size());
    const auto* begin = reinterpret_cast<const std::byte*>(source->data());
    return file_.slice(static_cast<std::size_t>(begin - file_.data()), source->size());
  }

  /// Data outside the flatbuffer, counted from the beginning of the file.
  Bytes behind(std::uint64_t offset, std::uint64_t size) {
    if (offset > file_.size() || size > file_.size() - offset)
      throw Error(Code::bad_reference, fmt::format("bytes {} to {} + {} lie outside the file of {} bytes", offset,
                                                   offset, size, file_.size()));
    end_ = std::max(end_, offset + size);
    return file_.slice(offset, size);
  }

  /// Keeps track of how far into the file the model goes.
  void reach(const void* begin, std::uint64_t size) {
    const auto position = static_cast<std::uint64_t>(static_cast<const std::byte*>(begin) - file_.data());
    end_ = std::max(end_, std::min<std::uint64_t>(position + size, file_.size()));
  }

  /// Notes fields that are in the file but not in the schema.
  template <class Table>
  const Table& known(const Table& table, flatbuffers::voffset_t last_slot, std::string_view what) {
    const auto& generic = reinterpret_cast<const flatbuffers::Table&>(table);
    const std::uint8_t* vtable = generic.GetVTable();
    const auto slots = flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable);
    if (slots < 2 * sizeof slots) return table;  // no field, not even room for the table's own size
    reach(vtable, slots);
    reach(&table, flatbuffers::ReadScalar<flatbuffers::voffset_t>(vtable + sizeof slots));
    constexpr std::size_t kMostNotes = 100;
    for (unsigned slot = last_slot + 2U; slot + 1 < slots && unread_.size() < kMostNotes; slot += 2)
      if (generic.CheckField(static_cast<flatbuffers::voffset_t>(slot)))
        unread_.push_back(fmt::format("{}: field {}", what, (slot - 4) / 2));
    return table;
  }

  Bytes buffer(const schema::Buffer& source);
  OperatorCode code(const schema::OperatorCode& source);
  SubGraph subgraph(const schema::SubGraph& source, const std::vector<OperatorCode>& codes);
  Tensor tensor(const schema::Tensor& source);
  Quantization quantization(const schema::QuantizationParameters& source);
  Sparsity sparsity(const schema::SparsityParameters& source);
  SparseIndices indices(schema::SparseIndexVector type, const void* source);
  Operator op(const schema::Operator& source, const std::vector<OperatorCode>& codes);
  Options options(const schema::Operator& source, BuiltinOperator builtin);
  SignatureDef signature(const schema::SignatureDef& source);
  TensorMap tensor_map(const schema::TensorMap& source);

  const Bytes& file_;
  Budget& budget_;
  std::uint64_t charged_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t copied_ = 0;
  std::uint64_t limit_ = UINT64_MAX;
  std::vector<std::string> unread_;
};

Bytes Reader::buffer(const schema::Buffer& source) {
  known(source, schema::Buffer::VT_SIZE, "buffer");
  const Bytes inside = view(source.data());
  if (source.offset() <= 1) return inside;  // the format's way to say: nothing outside
  if (!inside.empty()) throw Error(Code::bad_reference, "it has data inside and outside the flatbuffer");
  return behind(source.offset(), source.size());
}

OperatorCode Reader::code(const schema::OperatorCode& source) {
  known(source, schema::OperatorCode::VT_BUILTIN_CODE, "operator code");
  const auto builtin = static_cast<std::int32_t>(source.builtin_code());
  if (source.deprecated_builtin_code() < 0 || builtin < 0) throw Error(Code::bad_reference, "its number is negative");
  // Numbers beyond a byte are only in the newer field, small ones perhaps only in the older.
  return {.builtin = static_cast<BuiltinOperator>(std::max<std::int32_t>(source.deprecated_builtin_code(), builtin)),
          .custom = text(source.custom_code()),
          .version = source.version()};
}

SparseIndices Reader::indices(schema::SparseIndexVector type, const void* source) {
  using schema::SparseIndexVector;
  if (type == SparseIndexVector::NONE || !source) return {};
  switch (type) {
    case SparseIndexVector::Int32Vector:
      return {SparseIndexType::INT32, numbers<std::int32_t>(static_cast<const schema::Int32Vector*>(source)->values())};
    case SparseIndexVector::Uint16Vector:
      return {SparseIndexType::UINT16,
              numbers<std::int32_t>(static_cast<const schema::Uint16Vector*>(source)->values())};
    case SparseIndexVector::Uint8Vector:
      return {SparseIndexType::UINT8, numbers<std::int32_t>(static_cast<const schema::Uint8Vector*>(source)->values())};
    default:
      break;
  }
  throw Error(Code::bad_tensor, fmt::format("its sparse indices are of unknown kind {}", static_cast<int>(type)));
}

Sparsity Reader::sparsity(const schema::SparsityParameters& source) {
  return {.traversal_order = numbers<std::int32_t>(source.traversal_order()),
          .block_map = numbers<std::int32_t>(source.block_map()),
          .dim_metadata = each(source.dim_metadata(), "level", [&](const schema::DimensionMetadata& level) {
            return DimensionMetadata{.format = static_cast<DimensionType>(level.format()),
                                     .dense_size = level.dense_size(),
                                     .array_segments = indices(level.array_segments_type(), level.array_segments()),
                                     .array_indices = indices(level.array_indices_type(), level.array_indices())};
          })};
}

Quantization Reader::quantization(const schema::QuantizationParameters& source) {
  known(source, schema::QuantizationParameters::VT_QUANTIZED_DIMENSION, "quantization");
  Quantization result{.min = numbers<float>(source.min()),
                      .max = numbers<float>(source.max()),
                      .scale = numbers<float>(source.scale()),
                      .zero_point = numbers<std::int64_t>(source.zero_point()),
                      .quantized_dimension = source.quantized_dimension(),
                      .details = {}};
  if (const auto* custom = source.details_as_CustomQuantization()) {
    result.details = CustomQuantization{view(custom->custom())};
  } else if (const auto* blockwise = source.details_as_BlockwiseQuantization()) {
    result.details = BlockwiseQuantization{blockwise->scales(), blockwise->zero_points(), blockwise->block_size()};
  } else if (const auto* axes = source.details_as_MultiAxisQuantization()) {
    result.details = MultiAxisQuantization{axes->scales(), axes->zero_points(), axes->block_size(),
                                           numbers<std::int32_t>(axes->quantized_dimensions())};
  } else if (source.details()) {
    throw Error(Code::unsupported_feature,
                fmt::format("its quantization is of unknown kind {}", static_cast<int>(source.details_type())));
  }
  return result;
}

Tensor Reader::tensor(const schema::Tensor& source) {
  known(source, schema::Tensor::VT_EXTERNAL_BUFFER, "tensor");
  Tensor result;
  result.name = text(source.name());
  result.type = static_cast<TensorType>(source.type());
  result.shape = numbers<std::int64_t>(source.shape());
  result.shape_signature = numbers<std::int64_t>(source.shape_signature());
  result.has_rank = source.has_rank();
  result.is_variable = source.is_variable();
  result.buffer = source.buffer();
  result.external_buffer = source.external_buffer();
  if (source.quantization()) result.quantization = quantization(*source.quantization());
  if (source.sparsity()) result.sparsity = sparsity(*source.sparsity());
  result.variant_tensors = each(source.variant_tensors(), "variant", [&](const schema::VariantSubType& variant) {
    return VariantSubType{numbers<std::int64_t>(variant.shape()), static_cast<TensorType>(variant.type()),
                          variant.has_rank()};
  });
  return result;
}

Options Reader::options(const schema::Operator& source, BuiltinOperator builtin) {
  const bool first = source.builtin_options_type() != schema::BuiltinOptions::NONE && source.builtin_options();
  const bool second = source.builtin_options_2_type() != schema::BuiltinOptions2::NONE && source.builtin_options_2();
  if (first && second) throw Error(Code::bad_options, "it carries options of two kinds");
  if (!first && !second) return Options::left_out(builtin);
  const auto number = first ? static_cast<std::uint8_t>(source.builtin_options_type())
                            : static_cast<std::uint8_t>(source.builtin_options_2_type());
  const OptionTable* description = option_table(first ? OptionUnion::first : OptionUnion::second, number);
  if (!description) return Options::unknown(second, number);
  const auto& table =
      *static_cast<const flatbuffers::Table*>(first ? source.builtin_options() : source.builtin_options_2());
  const auto last_slot = description->fields.empty() ? std::uint16_t{2} : description->fields.back().slot;
  known(table, last_slot, description->name);
  return read_options(table, *description, [&](std::uint64_t bytes, const void* end) {
    copying(bytes);
    reach(end, 0);
  });
}

Operator Reader::op(const schema::Operator& source, const std::vector<OperatorCode>& codes) {
  budget_.charge_nodes(1);
  budget_.poll();
  known(source, schema::Operator::VT_DEBUG_METADATA_INDEX, "operator");
  if (source.opcode_index() >= codes.size())
    throw Error(Code::bad_reference,
                fmt::format("operator code {} does not exist (there are {})", source.opcode_index(), codes.size()));
  Operator result;
  result.code = codes[source.opcode_index()];
  copying(result.code.custom.size());
  result.inputs = numbers<std::int32_t>(source.inputs());
  result.outputs = numbers<std::int32_t>(source.outputs());
  result.intermediates = numbers<std::int32_t>(source.intermediates());
  result.options = options(source, result.code.builtin);
  result.custom_options = view(source.custom_options());
  if (source.large_custom_options_offset() > 1) {
    if (!result.custom_options.empty())
      throw Error(Code::bad_reference, "it has custom options inside and outside the flatbuffer");
    result.custom_options = behind(source.large_custom_options_offset(), source.large_custom_options_size());
  }
  result.custom_options_format = static_cast<CustomOptionsFormat>(source.custom_options_format());
  result.mutating_variable_inputs = numbers<bool>(source.mutating_variable_inputs());
  result.debug_metadata_index = source.debug_metadata_index();
  return result;
}

SubGraph Reader::subgraph(const schema::SubGraph& source, const std::vector<OperatorCode>& codes) {
  known(source, schema::SubGraph::VT_DEBUG_METADATA_INDEX, "subgraph");
  return {.name = text(source.name()),
          .tensors = each(source.tensors(), "tensor", [&](const schema::Tensor& t) { return tensor(t); }),
          .inputs = numbers<std::int32_t>(source.inputs()),
          .outputs = numbers<std::int32_t>(source.outputs()),
          .operators = each(source.operators(), "operator", [&](const schema::Operator& o) { return op(o, codes); }),
          .debug_metadata_index = source.debug_metadata_index()};
}

TensorMap Reader::tensor_map(const schema::TensorMap& source) { return {text(source.name()), source.tensor_index()}; }

SignatureDef Reader::signature(const schema::SignatureDef& source) {
  known(source, schema::SignatureDef::VT_SUBGRAPH_INDEX, "signature");
  const auto map = [&](const schema::TensorMap& m) { return tensor_map(m); };
  return {.signature_key = text(source.signature_key()),
          .inputs = each(source.inputs(), "input", map),
          .outputs = each(source.outputs(), "output", map),
          .deprecated_tag = text(source.deprecated_tag()),
          .subgraph_index = source.subgraph_index()};
}

Model Reader::model(const schema::Model& source) {
  known(source, schema::Model::VT_EXTERNAL_BUFFERS, "model");
  if (source.version() != 3)
    throw Error(Code::unsupported_format_version,
                fmt::format("the file has version {} of the TFLite format; Ingot reads version 3", source.version()));
  Model result;
  result.version = source.version();
  result.description = text(source.description());
  const std::vector<OperatorCode> codes =
      each(source.operator_codes(), "operator code", [&](const schema::OperatorCode& c) { return code(c); });
  result.subgraphs =
      each(source.subgraphs(), "subgraph", [&](const schema::SubGraph& s) { return subgraph(s, codes); });
  result.buffers = each(source.buffers(), "buffer", [&](const schema::Buffer& b) { return buffer(b); });
  result.metadata_buffer = numbers<std::int32_t>(source.metadata_buffer());
  result.metadata = each(source.metadata(), "metadata", [&](const schema::Metadata& m) {
    return Metadata{text(m.name()), m.buffer()};
  });
  result.signature_defs =
      each(source.signature_defs(), "signature", [&](const schema::SignatureDef& s) { return signature(s); });
  result.external_buffer_groups = each(source.external_buffer_groups(), "external buffer group",
                                       [&](const schema::ExternalBufferGroup& group) { return text(group.name()); });
  result.external_buffers =
      each(source.external_buffers(), "external buffer", [&](const schema::ExternalBuffer& external) {
        return ExternalBuffer{external.id(), external.group(), external.offset(), external.length(),
                              text(external.packing())};
      });
  result.unread = std::move(unread_);
  return result;
}

bool verifies(const Bytes& file) {
  // Beyond the first 2 GiB there are only buffers, which are found by their own offsets.
  const std::size_t size = std::min<std::size_t>(file.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1);
  constexpr std::size_t kMostTables = std::size_t{1} << 24;
  flatbuffers::Verifier::Options options;
  options.max_tables = static_cast<flatbuffers::uoffset_t>(std::min(size / 4, kMostTables));
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(file.data()), size, options);
  return schema::VerifyModelBuffer(verifier);
}

}  // namespace

bool looks_like_tflite(const Bytes& file) {
  return file.size() >= 8 && file.text().substr(4, 4) == schema::ModelIdentifier();
}

Model read(const Bytes& file, const ReadOptions& options) {
  if (!looks_like_tflite(file)) throw Error(Code::unknown_format, "this is no TFLite file: 'TFL3' is not in its place");
  if (!verifies(file))
    throw Error(Code::bad_flatbuffer, "the file is damaged or cut short: its flatbuffer does not verify");
  Reader reader(file, options);
  Model model = reader.model(*schema::GetModel(file.data()));
  check(model);
  model.associated_files = associated_files(file, reader.end());
  std::uint64_t end = file.size() - model.associated_files.size();
  while (end > reader.end() && file.data()[end - 1] == std::byte{0}) --end;  // padding
  if (end > reader.end()) model.unread.push_back(fmt::format("{} bytes behind the model", end - reader.end()));
  return model;
}

}  // namespace ingot::formats::tflite
