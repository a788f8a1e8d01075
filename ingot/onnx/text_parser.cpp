// The text syntax: words, models, functions and training info.
#include "ingot/onnx/text_parser.h"

#include <fmt/format.h>

#include <charconv>

#include "ingot/base/atomic_file.h"
#include "ingot/base/mapped_file.h"
#include "ingot/onnx/text.h"

namespace ingot::onnx {
namespace {

std::uint8_t hex_value(char c) { return static_cast<std::uint8_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10); }

std::string unescaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

}  // namespace

// Words.

bool TextParser::at_name() const {
  const Token::Kind kind = lexer_.peek().kind;
  return kind == Token::Kind::identifier || kind == Token::Kind::string || kind == Token::Kind::bytes;
}

std::string TextParser::identifier(std::string_view what) {
  if (lexer_.peek().kind != Token::Kind::identifier) lexer_.fail_expected(what);
  return std::string(lexer_.take().text);
}

std::string TextParser::bytes() {
  const Token token = lexer_.peek();
  if (token.kind != Token::Kind::bytes) lexer_.fail_expected("bytes (0x...)");
  if (token.text.size() % 2 != 0) lexer_.fail(Code::text_bad_literal, token.position, "half a byte is missing");
  lexer_.take();
  std::string result;
  result.reserve(token.text.size() / 2);
  for (std::size_t i = 0; i < token.text.size(); i += 2)
    result += static_cast<char>(hex_value(token.text[i]) << 4 | hex_value(token.text[i + 1]));
  return result;
}

std::string TextParser::string(std::string_view what) {
  if (lexer_.peek().kind == Token::Kind::bytes) return bytes();
  if (lexer_.peek().kind != Token::Kind::string) lexer_.fail_expected(what);
  return unescaped(lexer_.take().text);
}

std::string TextParser::name(std::string_view what) {
  if (lexer_.peek().kind == Token::Kind::identifier) return std::string(lexer_.take().text);
  return string(what);
}

std::string TextParser::qualified(std::string_view what) {
  std::string result = name(what);
  while (lexer_.accept(".")) result += '.' + name(what);
  return result;
}

std::int64_t TextParser::integer(std::string_view what) {
  const Token token = lexer_.peek();
  if (token.kind != Token::Kind::integer) lexer_.fail_expected(what);
  std::int64_t value = 0;
  if (std::from_chars(token.text.data(), token.text.data() + token.text.size(), value).ec != std::errc())
    lexer_.fail(Code::text_bad_literal, token.position, "this number does not fit 64 bits");
  lexer_.take();
  return value;
}

/// Names separated by commas. One that is left out before a comma is empty; a comma at the end has no effect.
std::vector<std::string> TextParser::names(std::string_view end) {
  std::vector<std::string> result;
  while (!lexer_.is(end)) {
    if (!at_name() && !lexer_.is(",")) lexer_.fail_expected(fmt::format("a name, ',' or '{}'", end));
    result.push_back(at_name() ? name("a name") : std::string());
    if (!lexer_.accept(",") && !lexer_.is(end)) lexer_.fail_expected(fmt::format("',' or '{}'", end));
  }
  return result;
}

Metadata TextParser::entries() {
  Metadata result;
  list("[", "]", [&] {
    std::string key = string("a key in quotes");
    lexer_.expect(":", "between key and value");
    result.emplace_back(std::move(key), string("a value in quotes"));
  });
  return result;
}

OpsetImports TextParser::opsets() {
  OpsetImports result;
  list("[", "]", [&] {
    OpsetImport import;
    import.domain = string("a domain in quotes");
    lexer_.expect(":", "between domain and version");
    import.version = integer("the version of an operator set");
    notes([&](std::string_view key) { return key == "unknown" && (import.unknown = bytes(), true); });
    result.push_back(std::move(import));
  });
  return result;
}

std::vector<DeviceConfiguration> TextParser::devices() {
  std::vector<DeviceConfiguration> result;
  list("[", "]", [&] {
    DeviceConfiguration device;
    device.name = string("the name of a device configuration");
    lexer_.expect(":", "between name and number of devices");
    const std::size_t position = lexer_.peek().position;
    const std::int64_t count = integer("a number of devices");
    if (!std::in_range<std::int32_t>(count)) lexer_.fail(Code::text_bad_literal, position, "too many devices");
    device.device_count = static_cast<std::int32_t>(count);
    if (lexer_.is("[")) list("[", "]", [&] { device.devices.push_back(string("the name of a device")); });
    notes([&](std::string_view key) { return key == "unknown" && (device.unknown = bytes(), true); });
    result.push_back(std::move(device));
  });
  return result;
}

// The model.

void TextParser::model_header(Model& m) {
  if (!lexer_.accept("<")) return;
  keys([&](std::string_view key) {
    if (key == "ir_version")
      m.ir_version = integer("a number");
    else if (key == "opset_import")
      m.opsets = opsets();
    else if (key == "producer_name")
      m.producer_name = string("a string");
    else if (key == "producer_version")
      m.producer_version = string("a string");
    else if (key == "domain")
      m.domain = string("a string");
    else if (key == "model_version")
      m.model_version = integer("a number");
    else if (key == "doc_string")
      m.doc_string = string("a string");
    else if (key == "metadata_props")
      m.metadata = entries();
    else if (key == "configuration")
      m.device_configurations = devices();
    else if (key == "unknown")
      m.unknown = bytes();
    else
      return false;
    return true;
  });
  lexer_.expect(">", "or ',' after a value of the header");
}

Model TextParser::model() {
  Model m;
  model_header(m);
  graph(*m.graph);
  connect();
  while (lexer_.peek().kind != Token::Kind::end) {
    // A function begins with its header or with a name and a list; no function is called training_info without them.
    if (lexer_.peek().kind == Token::Kind::identifier && lexer_.peek().text == "training_info")
      m.training.push_back(training(*m.graph));
    else
      m.functions.push_back(std::make_unique<Function>(function()));
    connect();
  }
  return m;
}

void TextParser::connect() {
  for (GraphAssembly& assembly : open_) assembly.connect();
  open_.clear();
}

Function TextParser::function() {
  Function f;
  if (lexer_.accept("<")) {
    keys([&](std::string_view key) {
      if (key == "domain")
        f.domain = string("a string");
      else if (key == "overload")
        f.overload = string("a string");
      else if (key == "opset_import")
        f.opsets = opsets();
      else if (key == "doc_string")
        f.doc_string = string("a string");
      else if (key == "metadata_props")
        f.metadata = entries();
      else if (key == "unknown")
        f.unknown = bytes();
      else
        return false;
      return true;
    });
    lexer_.expect(">", "or ',' after a value of a function's header");
  }
  f.name = name("the name of a function");
  if (lexer_.is("<")) {
    list("<", ">", [&] {
      std::string attribute_name = name("the name of an attribute");
      if (lexer_.is(",") || lexer_.is(">"))
        f.attributes.push_back(std::move(attribute_name));
      else
        f.attribute_defaults.push_back(attribute(std::move(attribute_name), nullptr));
    });
  }
  GraphAssembly& assembly = open_.emplace_back(*f.body, GraphAssembly::Kind::function);
  std::vector<ValueInfo> typed;  // a formal input or output may state its type in place
  const auto formal = [&](auto&& add) {
    list("(", ")", [&] {
      ValueInfo info = value_info();
      ValueInfo only_name;
      only_name.name = info.name;
      add(std::move(only_name));
      if (info.type || info.type.notes || !info.doc_string.empty() || !info.metadata.empty() || !info.unknown.empty())
        typed.push_back(std::move(info));
    });
  };
  formal([&](ValueInfo info) { assembly.add_input(std::move(info), false); });
  lexer_.expect("=>", "between inputs and outputs");
  formal([&](ValueInfo info) { assembly.add_output(std::move(info), false); });
  for (ValueInfo& info : typed) assembly.add_info(std::move(info));
  stated_list(assembly, false);
  nodes(assembly);
  return f;
}

TrainingInfo TextParser::training(Graph& main) {
  TrainingInfo info;
  lexer_.take();
  lexer_.expect("{", "after training_info");
  if (lexer_.accept("}")) return info;
  keys([&](std::string_view key) {
    const bool repeated = (key == "initialization" && info.initialization) || (key == "algorithm" && info.algorithm);
    if (repeated) lexer_.fail(Code::text_syntax, lexer_.peek().position, "this part of training_info is there already");
    if (key == "initialization")
      graph(*(info.initialization = std::make_unique<Graph>()));
    else if (key == "algorithm")
      graph(*(info.algorithm = std::make_unique<Graph>(&main)));
    else if (key == "initialization_binding")
      info.initialization_binding = entries();
    else if (key == "update_binding")
      info.update_binding = entries();
    else if (key == "unknown")
      info.unknown = bytes();
    else
      return false;
    return true;
  });
  lexer_.expect("}", "or ',' after a part of training_info");
  return info;
}

Model parse_text(std::string_view text, const std::string& directory, const ReadOptions& options) {
  ReadContext context(directory, options);
  return TextParser(text, context).model();
}

Model read_text(const std::string& path, const ReadOptions& options) {
  try {
    const Bytes file = map_file(path);
    Model model = parse_text(file.text(), split_path(path).directory, options);
    check_mapped_files();
    return model;
  } catch (Error& error) {
    error.in_file(path);
    throw;
  }
}

}  // namespace ingot::onnx
