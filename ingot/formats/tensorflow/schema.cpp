// Names and numbers of the fields of TensorFlow's messages.
#include "ingot/formats/tensorflow/schema.h"

#include <charconv>
#include <cstring>
#include <limits>

#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/data_type.h"

namespace ingot::formats::tensorflow {
namespace {

using enum FieldKind;
using M = Message;

constexpr FieldRow kFields[] = {
    {M::graph, "node", 1, message, M::node},
    {M::graph, "library", 2, message, M::library},
    {M::graph, "version", 3, number},
    {M::graph, "versions", 4, message, M::versions},
    {M::versions, "producer", 1, number},
    {M::versions, "min_consumer", 2, number},
    {M::node, "name", 1, text},
    {M::node, "op", 2, text},
    {M::node, "input", 3, text},
    {M::node, "device", 4, text},
    {M::node, "attr", 5, map, M::attr_entry},
    {M::attr_entry, "key", 1, text},
    {M::attr_entry, "value", 2, message, M::attr_value},
    {M::attr_value, "list", 1, message, M::attr_list},
    {M::attr_value, "s", 2, bytes},
    {M::attr_value, "i", 3, number},
    {M::attr_value, "f", 4, f32},
    {M::attr_value, "b", 5, boolean},
    {M::attr_value, "type", 6, data_type},
    {M::attr_value, "shape", 7, message, M::shape},
    {M::attr_value, "tensor", 8, message, M::tensor},
    {M::attr_value, "placeholder", 9, text},
    {M::attr_value, "func", 10, message, M::function_name},
    {M::attr_list, "s", 2, bytes},
    {M::attr_list, "i", 3, number},
    {M::attr_list, "f", 4, f32},
    {M::attr_list, "b", 5, boolean},
    {M::attr_list, "type", 6, data_type},
    {M::attr_list, "shape", 7, message, M::shape},
    {M::attr_list, "tensor", 8, message, M::tensor},
    {M::attr_list, "func", 9, message, M::function_name},
    {M::function_name, "name", 1, text},
    {M::function_name, "attr", 2, map, M::attr_entry},
    {M::shape, "dim", 2, message, M::dim},
    {M::shape, "unknown_rank", 3, boolean},
    {M::dim, "size", 1, number},
    {M::dim, "name", 2, text},
    {M::tensor, "dtype", 1, data_type},
    {M::tensor, "tensor_shape", 2, message, M::shape},
    {M::tensor, "version_number", 3, number},
    {M::tensor, "tensor_content", 4, bytes},
    {M::tensor, "float_val", 5, f32},
    {M::tensor, "double_val", 6, f64},
    {M::tensor, "int_val", 7, number},
    {M::tensor, "string_val", 8, bytes},
    {M::tensor, "scomplex_val", 9, f32},
    {M::tensor, "int64_val", 10, number},
    {M::tensor, "bool_val", 11, boolean},
    {M::tensor, "dcomplex_val", 12, f64},
    {M::tensor, "half_val", 13, number},
    {M::tensor, "uint32_val", 16, number},
    {M::tensor, "uint64_val", 17, number},
    {M::tensor, "float8_val", 18, bytes},
    {M::library, "function", 1, message, M::function},
    {M::function, "signature", 1, message, M::op},
    {M::function, "node_def", 3, message, M::node},
    {M::function, "ret", 4, map, M::return_entry},
    {M::function, "attr", 5, map, M::attr_entry},
    {M::return_entry, "key", 1, text},
    {M::return_entry, "value", 2, text},
    {M::op, "name", 1, text},
    {M::op, "input_arg", 2, message, M::arg},
    {M::op, "output_arg", 3, message, M::arg},
    {M::op, "control_output", 20, text},
    {M::arg, "name", 1, text},
    {M::arg, "type", 3, data_type},
    {M::arg, "type_attr", 4, text},
    {M::arg, "number_attr", 5, text},
    {M::arg, "type_list_attr", 6, text},
    {M::saved_model, "saved_model_schema_version", 1, number},
    {M::saved_model, "meta_graphs", 2, message, M::meta_graph},
    {M::meta_graph, "meta_info_def", 1, message, M::meta_info},
    {M::meta_graph, "graph_def", 2, message, M::graph},
    {M::meta_graph, "saver_def", 3, message, M::saver},
    {M::meta_graph, "collection_def", 4, map, M::collection_entry},
    {M::meta_graph, "signature_def", 5, map, M::signature_entry},
    {M::meta_graph, "asset_file_def", 6, message, M::asset},
    {M::meta_info, "tags", 4, text},
    {M::meta_info, "tensorflow_version", 5, text},
    {M::signature_entry, "key", 1, text},
    {M::signature_entry, "value", 2, message, M::signature},
    {M::signature, "inputs", 1, map, M::tensor_info_entry},
    {M::signature, "outputs", 2, map, M::tensor_info_entry},
    {M::signature, "method_name", 3, text},
    {M::tensor_info_entry, "key", 1, text},
    {M::tensor_info_entry, "value", 2, message, M::tensor_info},
    {M::tensor_info, "name", 1, text},
    {M::tensor_info, "dtype", 2, data_type},
    {M::tensor_info, "tensor_shape", 3, message, M::shape},
    {M::tensor_info, "coo_sparse", 4, message, M::sparse_info},
    {M::sparse_info, "values_tensor_name", 1, text},
    {M::sparse_info, "indices_tensor_name", 2, text},
    {M::sparse_info, "dense_shape_tensor_name", 3, text},
    {M::saver, "filename_tensor_name", 1, text},
    {M::saver, "save_tensor_name", 2, text},
    {M::saver, "restore_op_name", 3, text},
    {M::asset, "tensor_info", 1, message, M::tensor_info},
    {M::asset, "filename", 2, text},
    {M::collection_entry, "key", 1, text},
    {M::collection_entry, "value", 2, message, M::collection},
    {M::collection, "node_list", 1, message, M::name_list},
    {M::name_list, "value", 1, text},
};

/// "tensorShape" is "tensor_shape".
bool same_name(std::string_view snake, std::string_view name) {
  if (snake == name) return true;
  std::size_t at = 0;
  for (std::size_t i = 0; i < snake.size(); ++i, ++at) {
    char c = snake[i];
    if (c == '_' && i + 1 < snake.size()) {
      c = snake[++i];
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    if (at >= name.size() || name[at] != c) return false;
  }
  return at == name.size();
}

[[noreturn]] void bad_word(const FieldRow& field, std::string_view word) {
  throw Error(Code::text_bad_literal,
              "'" + std::string(word.substr(0, 60)) + "' is no value of field '" + std::string(field.name) + "'");
}

double real(const FieldRow& field, std::string_view word) {
  std::string_view digits = word;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const double sign = negative ? -1 : 1;
  if (digits == "inf" || digits == "infinity" || digits == "Infinity" || digits == "inff")
    return sign * std::numeric_limits<double>::infinity();
  if (digits == "nan" || digits == "NaN" || digits == "nanf") return std::numeric_limits<double>::quiet_NaN();
  if (digits.ends_with('f') || digits.ends_with('F')) digits.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) return sign * (value == 0 ? 0 : std::numeric_limits<double>::infinity());
  if (error != std::errc() || end != digits.data() + digits.size()) bad_word(field, word);
  return sign * value;
}

std::uint64_t integer(const FieldRow& field, std::string_view word) {
  if (word == "true") return 1;
  if (word == "false") return 0;
  std::string_view digits = word;
  const bool negative = digits.starts_with('-');
  if (negative) digits.remove_prefix(1);
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) bad_word(field, word);
  return negative ? ~value + 1 : value;
}

}  // namespace

const FieldRow* find_field(Message in, std::string_view name) {
  for (const FieldRow& row : kFields)
    if (row.in == in && same_name(row.name, name)) return &row;
  return nullptr;
}

void MessageText::put(std::uint64_t value) {
  for (; value >= 128; value >>= 7) out_ += static_cast<char>(value | 128);
  out_ += static_cast<char>(value);
}

void MessageText::varint(std::uint32_t field, std::uint64_t value) {
  put(field << 3);
  put(value);
}

void MessageText::fixed32(std::uint32_t field, float value) {
  put(field << 3 | 5);
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  out_.append(raw, sizeof raw);
}

void MessageText::fixed64(std::uint32_t field, double value) {
  put(field << 3 | 1);
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  out_.append(raw, sizeof raw);
}

void MessageText::bytes(std::uint32_t field, std::string_view value) {
  put(field << 3 | 2);
  put(value.size());
  out_ += value;
}

void append_word(MessageText& out, const FieldRow& field, std::string_view word) {
  switch (field.kind) {
    case f32:
      return out.fixed32(field.number, static_cast<float>(real(field, word)));
    case f64:
      return out.fixed64(field.number, real(field, word));
    case number:
    case boolean:
      return out.varint(field.number, integer(field, word));
    case data_type:
      if (const auto type = data_type_by_name(word)) return out.varint(field.number, static_cast<std::uint64_t>(*type));
      return out.varint(field.number, integer(field, word));
    default:
      bad_word(field, word);
  }
}

}  // namespace ingot::formats::tensorflow
