#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::onnx {

/// Writes JSON as it comes: begin, key, value, end.
class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  /// A string; one that is not UTF-8 becomes {"hex": "..."}.
  void value(std::string_view text);
  void value(std::int64_t number);
  void value(std::uint64_t number);
  /// JSON has no words for what is not finite: "inf", "-inf" and "nan" are strings.
  void value(float number);
  void value(double number);
  void null();
  void hex(std::string_view bytes);

  // With the key, unless empty.
  void text(std::string_view name, std::string_view value_text);
  void bytes(std::string_view name, std::string_view value_bytes);

  std::string take() { return std::move(out_); }

 private:
  void separate();
  void open(char bracket);
  void close(char bracket);
  void quote(std::string_view text);
  template <class T> void number(T value);

  std::string out_;
  bool needs_comma_ = false;
};

}  // namespace ingot::onnx
