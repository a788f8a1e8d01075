// Protobuf's JSON form, read into the binary form.
#include "ingot/formats/tfjs/json_message.h"

#include <simdjson.h>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"

namespace ingot::formats::tfjs {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;
using tensorflow::FieldKind;
using tensorflow::FieldRow;
using tensorflow::Message;
using tensorflow::MessageText;

constexpr int kMostNested = 64;

// By value: a range-for over simdjson's own results would walk a temporary that is gone.
simdjson::dom::array list_of(const element& json) { return json.get_array().value_unsafe(); }
simdjson::dom::object object_of(const element& json) { return json.get_object().value_unsafe(); }

[[noreturn]] void bad(const FieldRow& row) {
  throw Error(Code::bad_json, "field '" + std::string(row.name) + "' has a value of the wrong kind");
}

std::string number_text(const element& json, const FieldRow& row) {
  switch (json.type()) {
    case element_type::INT64:
      return std::to_string(json.get_int64().value_unsafe());
    case element_type::UINT64:
      return std::to_string(json.get_uint64().value_unsafe());
    case element_type::BOOL:
      return json.get_bool().value_unsafe() ? "true" : "false";
    case element_type::STRING:
      return std::string(json.get_string().value_unsafe());
    case element_type::DOUBLE: {
      const double value = json.get_double().value_unsafe();
      if (row.kind == FieldKind::number) return std::to_string(saturate_cast<std::int64_t>(value));
      char text[40];
      std::snprintf(text, sizeof text, "%.17g", value);
      return text;
    }
    default:
      bad(row);
  }
}

void append(MessageText& out, const FieldRow& row, const element& json, int depth) {
  switch (row.kind) {
    case FieldKind::message:
      out.bytes(row.number, binary_of_json(json, row.type, depth + 1));
      return;
    case FieldKind::text:
      if (json.type() != element_type::STRING) bad(row);
      out.bytes(row.number, json.get_string().value_unsafe());
      return;
    case FieldKind::bytes:
      if (json.type() != element_type::STRING) bad(row);
      out.bytes(row.number, from_base64(json.get_string().value_unsafe()));
      return;
    default:
      append_word(out, row, number_text(json, row));
  }
}

/// Old writers spell bytes as a list of their numbers.
bool is_byte_list(const FieldRow& row, const element& json, Message in) {
  if (row.kind != FieldKind::bytes || in != Message::attr_value || json.type() != element_type::ARRAY) return false;
  for (const element& e : list_of(json))
    if (e.type() != element_type::INT64) return false;
  return true;
}

}  // namespace

std::string from_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    std::uint32_t value = 0;
    if (c >= 'A' && c <= 'Z')
      value = static_cast<std::uint32_t>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      value = static_cast<std::uint32_t>(c - 'a' + 26);
    else if (c >= '0' && c <= '9')
      value = static_cast<std::uint32_t>(c - '0' + 52);
    else if (c == '+' || c == '-')
      value = 62;
    else if (c == '/' || c == '_')
      value = 63;
    else if (c == '=')
      break;
    else
      throw Error(Code::bad_json, "a text is not in base64");
    bits = bits << 6 | value;
    if (++count % 4 == 0) {
      out += static_cast<char>(bits >> 16);
      out += static_cast<char>(bits >> 8);
      out += static_cast<char>(bits);
      bits = 0;
    }
  }
  if (count % 4 == 2) out += static_cast<char>(bits >> 4);
  if (count % 4 == 3) {
    out += static_cast<char>(bits >> 10);
    out += static_cast<char>(bits >> 2);
  }
  return out;
}

std::string binary_of_json(const element& json, Message message, int depth) {
  if (depth > kMostNested) throw Error(Code::too_deep, "messages are nested too deeply");
  if (json.type() != element_type::OBJECT) throw Error(Code::bad_json, "an object is missing");
  MessageText out;
  for (const auto& [name, value] : object_of(json)) {
    const FieldRow* row = tensorflow::find_field(message, name);
    if (!row || value.is_null()) continue;
    if (row->kind == FieldKind::map) {
      if (value.type() != element_type::OBJECT) bad(*row);
      const FieldRow* entry = tensorflow::find_field(row->type, "value");
      for (const auto& [key, inner] : object_of(value)) {
        MessageText pair;
        pair.bytes(1, key);
        append(pair, *entry, inner, depth);
        out.bytes(row->number, pair.take());
      }
    } else if (is_byte_list(*row, value, message)) {
      std::string bytes;
      for (const element& e : list_of(value)) bytes += static_cast<char>(e.get_int64().value_unsafe());
      out.bytes(row->number, bytes);
    } else if (value.type() == element_type::ARRAY) {
      for (const element& e : list_of(value)) append(out, *row, e, depth);
    } else {
      append(out, *row, value, depth);
    }
  }
  return out.take();
}

}  // namespace ingot::formats::tfjs
