// TensorProto and SparseTensorProto: data in any of its fields or in another file becomes packed bytes.
#include "ingot/onnx/read_tensor.h"

#include <fmt/format.h>

#include <utility>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/onnx/external_data.h"
#include "ingot/onnx/fields.h"

namespace ingot::onnx {
namespace {

constexpr std::size_t kMaxRank = 1024;

/// Adds a run of numbers of fixed width; a single packed one stays where it is.
void append_run(const protobuf::Reader& field, std::size_t width, Bytes& only, std::string& all) {
  if (field.type() == protobuf::WireType::length) {
    const Bytes run = field.bytes();
    if (run.size() % width != 0)
      throw Error(Code::truncated, fmt::format("the run of numbers at byte {} has {} bytes, not a multiple of {}",
                                               field.offset(), run.size(), width));
    if (only.empty() && all.empty()) {
      only = run;
      return;
    }
    all.append(only.text());
    all.append(run.text());
  } else {
    all.append(only.text());
    if (width == sizeof(float)) {
      const float value = field.fixed_float();
      all.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      const double value = field.fixed_double();
      all.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
  }
  only = {};
}

Bytes take_run(Bytes& only, std::string& all) { return all.empty() ? only : Bytes::own(std::move(all)); }

template <class T> Bytes share(std::vector<T>&& values) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  const auto bytes = std::as_bytes(std::span(*owner));
  return Bytes(owner, bytes.data(), bytes.size());
}

/// The low bytes of each number. Negative numbers may stand for unsigned ones and the other way round: only bits count.
template <class Narrow, class Wide> Bytes narrowed(const std::vector<Wide>& values) {
  std::vector<Narrow> narrow_values;
  narrow_values.reserve(values.size());
  for (const Wide value : values) {
    if (!std::in_range<Narrow>(value) && !std::in_range<std::make_signed_t<Narrow>>(value))
      throw Error(Code::bad_field_value,
                  fmt::format("{} does not fit an element of {} bits", value, sizeof(Narrow) * 8));
    narrow_values.push_back(static_cast<Narrow>(value));
  }
  return share(std::move(narrow_values));
}

/// The field other than raw_data in which the values of that type may stand.
std::string_view typed_field(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::c64:
      return "float_data";
    case DType::f64:
    case DType::c128:
      return "double_data";
    case DType::i64:
      return "int64_data";
    case DType::u32:
    case DType::u64:
      return "uint64_data";
    case DType::string:
      return "string_data";
    default:
      return "int32_data";
  }
}

}  // namespace

void TensorFields::read(protobuf::Reader part) {
  while (part.next()) {
    if (!std::exchange(seen_, true)) offset_ = part.offset();
    switch (part.field()) {
      case TensorField::dims:
        part.ints(dims_);
        break;
      case TensorField::data_type:
        dtype_ = read_dtype(part);
        break;
      case TensorField::segment:
        throw Error(Code::unsupported_feature,
                    fmt::format("the tensor at byte {} is one segment of a larger one", part.offset()));
      case TensorField::float_data:
        append_run(part, sizeof(float), packed_floats_, floats_);
        break;
      case TensorField::int32_data:
        part.ints(int32s_);
        break;
      case TensorField::string_data:
        strings_.push_back(part.string());
        break;
      case TensorField::int64_data:
        part.ints(int64s_);
        break;
      case TensorField::name:
        notes_.name = part.string();
        break;
      case TensorField::raw_data:
        raw_ = part.bytes();
        break;
      case TensorField::double_data:
        append_run(part, sizeof(double), packed_doubles_, doubles_);
        break;
      case TensorField::uint64_data:
        part.uint64s(uint64s_);
        break;
      case TensorField::doc_string:
        notes_.doc_string = part.string();
        break;
      case TensorField::external_data: {
        std::string ignored;
        read_entry(part, external_, ignored);
        break;
      }
      case TensorField::data_location: {
        const std::uint64_t location = part.varint();
        if (location > 1)
          throw Error(Code::bad_field_value,
                      fmt::format("data_location {} at byte {} does not exist", location, part.offset()));
        is_external_ = location == 1;
        break;
      }
      case TensorField::metadata_props:
        read_entry(part, notes_.metadata, notes_.unknown);
        break;
      default:
        keep(part, notes_.unknown);
    }
  }
}

std::string TensorFields::label() const {
  return fmt::format("tensor{} at byte {}", notes_.name.empty() ? "" : " '" + notes_.name + "'", offset_);
}

std::string TensorFields::used_field() const {
  std::string used;
  const auto look = [&](std::string_view field, bool in_use) {
    if (!in_use) return;
    if (!used.empty())
      throw Error(Code::conflicting_data, fmt::format("{} has data in {} and in {}", label(), used, field));
    used = field;
  };
  look("raw_data", !raw_.empty());
  look("float_data", !packed_floats_.empty() || !floats_.empty());
  look("int32_data", !int32s_.empty());
  look("string_data", !strings_.empty());
  look("int64_data", !int64s_.empty());
  look("double_data", !packed_doubles_.empty() || !doubles_.empty());
  look("uint64_data", !uint64s_.empty());
  look("an external file", is_external_);
  return used;
}

Bytes TensorFields::data(ReadContext& context) {
  if (is_external_) {
    const auto needed = byte_count(dtype_, static_cast<std::uint64_t>(tensor_size(dims_)));
    return read_external_data(external_, needed.value_or(0), context);
  }
  if (!raw_.empty()) return std::move(raw_);
  switch (dtype_) {
    case DType::f32:
    case DType::c64:
      return take_run(packed_floats_, floats_);
    case DType::f64:
    case DType::c128:
      return take_run(packed_doubles_, doubles_);
    case DType::i64:
      return share(std::move(int64s_));
    case DType::u64:
      return share(std::move(uint64s_));
    case DType::u32:
      return narrowed<std::uint32_t>(uint64s_);
    default:
      break;
  }
  const unsigned bits = bits_of(dtype_);
  return bits == 32   ? narrowed<std::uint32_t>(int32s_)
         : bits == 16 ? narrowed<std::uint16_t>(int32s_)
                      : narrowed<std::uint8_t>(int32s_);
}

Tensor TensorFields::finish(ReadContext& context, std::string* name) {
  try {
    context.count_object();
    if (dims_.size() > kMaxRank)
      throw Error(Code::bad_shape, fmt::format("a rank of {} is beyond the limit of {}", dims_.size(), kMaxRank));
    const std::string used = used_field();
    Tensor tensor;
    if (dtype_ == DType::undefined) {
      if (!used.empty() || !dims_.empty()) throw Error(Code::bad_element_type, "the element type is not given");
    } else if (used.ends_with("_data") && used != typed_field(dtype_) &&
               (used != "raw_data" || dtype_ == DType::string)) {
      throw Error(Code::bad_field_value,
                  fmt::format("elements of type {} cannot stand in {}", ingot::name_of(dtype_), used));
    } else if (dtype_ == DType::string) {
      if (is_external_) throw Error(Code::bad_external_data, "strings cannot stand in an external file");
      tensor = Tensor::of_strings(std::move(dims_), std::move(strings_));
    } else {
      Bytes bytes = data(context);
      tensor = Tensor(dtype_, std::move(dims_), std::move(bytes));
    }
    if (name) *name = std::exchange(notes_.name, {});
    if (notes_ != TensorNotes()) tensor.notes = std::make_shared<const TensorNotes>(std::move(notes_));
    return tensor;
  } catch (const Error& error) {
    throw Error(error.code(), label() + ": " + error.message()).in_file(error.file()).hint(error.hint_text());
  }
}

void SparseTensorFields::read(protobuf::Reader part) {
  while (part.next()) {
    switch (part.field()) {
      case SparseTensorField::values:
        values_.read(part.message());
        break;
      case SparseTensorField::indices:
        indices_.read(part.message());
        break;
      case SparseTensorField::dims:
        part.ints(dims_);
        break;
      default:
        keep(part, unknown_);
    }
  }
}

SparseTensor SparseTensorFields::finish(ReadContext& context, std::string* name) {
  SparseTensor sparse;
  sparse.values = values_.finish(context, name);
  sparse.indices = indices_.finish(context);
  if (dims_.size() > kMaxRank)
    throw Error(Code::bad_shape, fmt::format("a sparse tensor's rank of {} is beyond {}", dims_.size(), kMaxRank));
  (void)tensor_size(dims_);
  sparse.dims = std::move(dims_);
  sparse.unknown = std::move(unknown_);
  return sparse;
}

}  // namespace ingot::onnx
