// JSON as it comes.
#include "ingot/onnx/json_writer.h"

#include <charconv>
#include <cmath>

#include "ingot/onnx/text_words.h"

namespace ingot::onnx {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

}  // namespace

void JsonWriter::separate() {
  if (needs_comma_) out_ += ',';
  needs_comma_ = true;
}

void JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  needs_comma_ = false;
}

void JsonWriter::close(char bracket) {
  out_ += bracket;
  needs_comma_ = true;
}

void JsonWriter::quote(std::string_view text) {
  out_ += '"';
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      out_ += "\\u00";
      out_ += kHexDigits[byte >> 4];
      out_ += kHexDigits[byte & 15];
    } else {
      out_ += c;
    }
  }
  out_ += '"';
}

void JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out_ += ':';
  needs_comma_ = false;
}

void JsonWriter::hex(std::string_view bytes) {
  separate();
  out_ += '"';
  for (const char c : bytes) {
    out_ += kHexDigits[static_cast<std::uint8_t>(c) >> 4];
    out_ += kHexDigits[static_cast<std::uint8_t>(c) & 15];
  }
  out_ += '"';
}

void JsonWriter::value(std::string_view text) {
  if (is_utf8(text)) {
    separate();
    quote(text);
    return;
  }
  begin_object();
  key("hex");
  hex(text);
  end_object();
}

template <class T> void JsonWriter::number(T value) {
  separate();
  char text[32];
  const auto result = std::to_chars(text, text + sizeof(text), value);
  out_.append(text, result.ptr);
}

void JsonWriter::value(std::int64_t n) { number(n); }
void JsonWriter::value(std::uint64_t n) { number(n); }

void JsonWriter::value(float n) {
  if (std::isfinite(n))
    number(n);
  else
    value(std::string_view(std::isnan(n) ? "nan" : n > 0 ? "inf" : "-inf"));
}

void JsonWriter::value(double n) {
  if (std::isfinite(n))
    number(n);
  else
    value(std::string_view(std::isnan(n) ? "nan" : n > 0 ? "inf" : "-inf"));
}

void JsonWriter::null() {
  separate();
  out_ += "null";
}

void JsonWriter::text(std::string_view name, std::string_view value_text) {
  if (value_text.empty()) return;
  key(name);
  value(value_text);
}

void JsonWriter::bytes(std::string_view name, std::string_view value_bytes) {
  if (value_bytes.empty()) return;
  key(name);
  hex(value_bytes);
}

}  // namespace ingot::onnx
