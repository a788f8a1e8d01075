// Models as text: words and numbers, functions, training and the model around its graph.
#include "ingot/onnx/text_printer.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <limits>

#include "ingot/onnx/stated_values.h"
#include "ingot/onnx/text_words.h"

namespace ingot::onnx {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

/// The shortest decimal that gives the same number again, or the bits of a NaN that is not the usual one.
template <class T> std::string number_text(T value) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if (value != value) {
    const auto bits = std::bit_cast<Bits>(value);
    const auto usual = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
    if (bits == usual) return "nan";
    if (bits == (usual | Bits{1} << (sizeof(T) * 8 - 1))) return "-nan";
    return fmt::format("0x{:0{}x}", bits, sizeof(T) * 2);
  }
  char text[32];
  const auto result = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, result.ptr);
}

}  // namespace

void Printer::hex(std::string_view bytes) {
  out_ << "0x";
  std::string piece;
  constexpr std::size_t kPiece = 4096;
  for (std::size_t start = 0; start < bytes.size(); start += kPiece) {
    piece.clear();
    for (const char c : bytes.substr(start, kPiece)) {
      piece += kHexDigits[static_cast<std::uint8_t>(c) >> 4];
      piece += kHexDigits[static_cast<std::uint8_t>(c) & 15];
    }
    out_ << piece;
  }
}

void Printer::string(std::string_view text) {
  if (!is_printable(text)) return hex(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  out_ << quoted << '"';
}

void Printer::name(std::string_view text) {
  if (is_identifier(text) && !is_reserved(text))
    out_ << text;
  else
    string(text);
}

void Printer::qualified(std::string_view text) {
  if (is_qualified_identifier(text) && !is_reserved(text))
    out_ << text;
  else
    string(text);
}

void Printer::entries(const Metadata& entries) {
  out_ << '[';
  Comma comma(out_);
  for (const auto& [key, value] : entries) {
    comma();
    string(key);
    out_ << ": ";
    string(value);
  }
  out_ << ']';
}

void Printer::opsets(const OpsetImports& imports) {
  out_ << '[';
  Comma comma(out_);
  for (const OpsetImport& import : imports) {
    comma();
    string(import.domain);
    out_ << " : " << std::to_string(import.version);
    Notes(*this).bytes("unknown", import.unknown);
  }
  out_ << ']';
}

void Printer::attribute_float(float v) {
  std::string text = number_text(v);
  // Without the point it would be an integer to those who do not look at the attribute's type.
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  out_ << text;
}

void Printer::number(float v) { out_ << number_text(v); }
void Printer::number(double v) { out_ << number_text(v); }

void Printer::function(const Function& f) {
  out_ << "<\n  domain: ";
  string(f.domain);
  const auto key = [&](std::string_view word) { out_ << ",\n  " << word << ": "; };
  if (!f.overload.empty()) {
    key("overload");
    string(f.overload);
  }
  key("opset_import");
  opsets(f.opsets);
  if (!f.doc_string.empty()) {
    key("doc_string");
    string(f.doc_string);
  }
  if (!f.metadata.empty()) {
    key("metadata_props");
    entries(f.metadata);
  }
  if (!f.unknown.empty()) {
    key("unknown");
    hex(f.unknown);
  }
  out_ << "\n>\n";
  name(f.name);
  if (!f.attributes.empty() || !f.attribute_defaults.empty()) {
    out_ << " <";
    Comma comma(out_);
    for (const std::string& attribute_name : f.attributes) {
      comma();
      name(attribute_name);
    }
    for (const Attribute& a : f.attribute_defaults) {
      comma();
      attribute(a, 1);
    }
    out_ << '>';
  }
  const auto names = [&](auto&& values) {
    out_ << '(';
    Comma comma(out_);
    for (const Value* v : values) {
      comma();
      name(v->name());
    }
    out_ << ')';
  };
  out_ << ' ';
  names(f.body->inputs());
  out_ << " => ";
  names(f.body->outputs());
  out_ << '\n';
  const std::vector<const Value*> stated = stated_function_values(*f.body);
  if (!stated.empty() || !f.body->stray_infos.empty()) {
    out_ << '<';
    Comma comma(out_, ",");
    for (const Value* v : stated) {
      comma();
      out_.line(1);
      info(*v);
    }
    for (const ValueInfo& v : f.body->stray_infos) {
      comma();
      out_.line(1);
      info(v);
    }
    out_ << "\n>\n";
  }
  nodes(*f.body, 0);
}

void Printer::training(const TrainingInfo& t) {
  out_ << "training_info {";
  Comma comma(out_, ",");
  const auto key = [&](std::string_view word) {
    comma();
    out_ << "\n  " << word << ": ";
  };
  if (t.initialization) {
    key("initialization");
    graph(*t.initialization, 1);
  }
  if (t.algorithm) {
    key("algorithm");
    graph(*t.algorithm, 1);
  }
  if (!t.initialization_binding.empty()) {
    key("initialization_binding");
    entries(t.initialization_binding);
  }
  if (!t.update_binding.empty()) {
    key("update_binding");
    entries(t.update_binding);
  }
  if (!t.unknown.empty()) {
    key("unknown");
    hex(t.unknown);
  }
  out_ << "\n}";
}

void Printer::model(const Model& m) {
  out_ << "<\n  ir_version: " << std::to_string(m.ir_version);
  const auto key = [&](std::string_view word) { out_ << ",\n  " << word << ": "; };
  const auto text = [&](std::string_view word, std::string_view value) {
    if (value.empty()) return;
    key(word);
    string(value);
  };
  key("opset_import");
  opsets(m.opsets);
  text("producer_name", m.producer_name);
  text("producer_version", m.producer_version);
  text("domain", m.domain);
  if (m.model_version) {
    key("model_version");
    out_ << std::to_string(m.model_version);
  }
  text("doc_string", m.doc_string);
  if (!m.metadata.empty()) {
    key("metadata_props");
    entries(m.metadata);
  }
  if (!m.device_configurations.empty()) {
    key("configuration");
    out_ << '[';
    Comma comma(out_);
    for (const DeviceConfiguration& device : m.device_configurations) {
      comma();
      string(device.name);
      out_ << " : " << std::to_string(device.device_count) << ' ';
      value(device.devices, 0);
      Notes(*this).bytes("unknown", device.unknown);
    }
    out_ << ']';
  }
  if (!m.unknown.empty()) {
    key("unknown");
    hex(m.unknown);
  }
  out_ << "\n>\n";
  graph(*m.graph, 0);
  out_ << '\n';
  for (const auto& f : m.functions) {
    function(*f);
    out_ << '\n';
  }
  for (const TrainingInfo& info : m.training) {
    training(info);
    out_ << '\n';
  }
}

void write_text(const Model& model, Sink& sink, const TextOptions& options) {
  Printer printer(sink, options);
  printer.model(model);
  printer.finish();
}

std::string to_text(const Model& model, const TextOptions& options) {
  StringSink sink;
  write_text(model, sink, options);
  return sink.take();
}

std::string to_text(const Graph& graph, const TextOptions& options) {
  StringSink sink;
  Printer printer(sink, options);
  printer.graph(graph, 0);
  printer.finish();
  return sink.take() + "\n";
}

}  // namespace ingot::onnx
