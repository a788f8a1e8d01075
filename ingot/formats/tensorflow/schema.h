#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ingot::formats::tensorflow {

/// TensorFlow's messages by name, for those who find field names instead of numbers: the text syntax and JSON.
enum class Message : std::uint8_t {
  none,
  graph,
  node,
  attr_entry,
  attr_value,
  attr_list,
  function_name,
  shape,
  dim,
  tensor,
  library,
  function,
  return_entry,
  op,
  arg,
  versions,
  saved_model,
  meta_graph,
  meta_info,
  signature_entry,
  signature,
  tensor_info_entry,
  tensor_info,
  sparse_info,
  saver,
  asset,
  collection_entry,
  collection,
  name_list,
};

enum class FieldKind : std::uint8_t { number, boolean, f32, f64, text, bytes, data_type, message, map };

struct FieldRow {
  Message in;
  std::string_view name;  // as in the .proto: snake_case
  std::uint32_t number;
  FieldKind kind;
  Message type = Message::none;  // of a message, or of a map's entry
};

/// The field of that name in snake_case or lowerCamelCase, or null.
const FieldRow* find_field(Message in, std::string_view name);

/// Builds a message field by field. Fields are appended; nested messages are given as their bytes.
class MessageText {
 public:
  void varint(std::uint32_t field, std::uint64_t value);
  void fixed32(std::uint32_t field, float value);
  void fixed64(std::uint32_t field, double value);
  void bytes(std::uint32_t field, std::string_view value);
  std::string take() { return std::move(out_); }

 private:
  void put(std::uint64_t value);
  std::string out_;
};

/// A scalar that is written as a word: true, DT_FLOAT, 12, -1, 0.5, inf, nan. Throws where it does not fit the field.
void append_word(MessageText& out, const FieldRow& field, std::string_view word);

}  // namespace ingot::formats::tensorflow
