// Models as text.
#include <fmt/format.h>

#include <charconv>
#include <complex>

#include "ingot/base/elements.h"
#include "ingot/base/sink.h"
#include "ingot/onnx/stated_values.h"
#include "ingot/onnx/text.h"
#include "ingot/onnx/text_words.h"

namespace ingot::onnx {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

/// Collects text and hands it on in large pieces.
class TextWriter {
 public:
  explicit TextWriter(Sink& sink) : sink_(sink) {}

  TextWriter& operator<<(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() > kPiece) flush();
    return *this;
  }
  TextWriter& operator<<(char c) { return *this << std::string_view(&c, 1); }
  void flush() {
    sink_.write(bytes_of(buffer_));
    buffer_.clear();
  }
  /// A new line, indented.
  void line(int indent) {
    *this << '\n';
    buffer_.append(static_cast<std::size_t>(indent) * 2, ' ');
  }

 private:
  static constexpr std::size_t kPiece = 1 << 16;
  Sink& sink_;
  std::string buffer_;
};

/// Separates the items of a list.
class Comma {
 public:
  explicit Comma(TextWriter& out, std::string_view text = ", ") : out_(out), text_(text) {}
  void operator()() {
    if (!first_) out_ << text_;
    first_ = false;
  }

 private:
  TextWriter& out_;
  std::string_view text_;
  bool first_ = true;
};

class Printer {
 public:
  Printer(Sink& sink, const TextOptions& options) : out_(sink), options_(options) {}

  void model(const Model& m);
  void graph(const Graph& g, int indent);
  void finish() { out_.flush(); }

 private:
  /// Writes "%{key: value, ...}", with the first key; nothing if no key comes.
  class Notes {
   public:
    explicit Notes(Printer& printer) : printer_(printer) {}
    ~Notes() {
      if (!first_) printer_.out_ << '}';
    }
    void key(std::string_view name) {
      printer_.out_ << (first_ ? " %{" : ", ") << name << ": ";
      first_ = false;
    }
    void text(std::string_view name, std::string_view value) {
      if (value.empty()) return;
      key(name);
      printer_.string(value);
    }
    void bytes(std::string_view name, std::string_view value) {
      if (value.empty()) return;
      key(name);
      printer_.hex(value);
    }
    void entries(std::string_view name, const Metadata& value) {
      if (value.empty()) return;
      key(name);
      printer_.entries(value);
    }

   private:
    Printer& printer_;
    bool first_ = true;
  };

  void hex(std::string_view bytes);
  void string(std::string_view text);
  void name(std::string_view text);
  void qualified(std::string_view text);
  void entries(const Metadata& entries);
  void opsets(const OpsetImports& imports);
  void dims(const Dims& dims);
  void type(const Type& type);
  void tensor_type(const Type& type, const TypeNotes& notes);
  void info(std::string_view value_name, const Type& type, std::string_view doc_string, const Metadata& metadata,
            std::string_view unknown);
  void info(const Value& v) { info(v.name(), v.type, v.doc_string, v.metadata, v.unknown); }
  void info(const ValueInfo& v) { info(v.name, v.type, v.doc_string, v.metadata, v.unknown); }
  void tensor(const Tensor& t);
  void tensor_head(const Tensor& t);
  void tensor_data(const Tensor& t);
  void tensor_notes(const Tensor& t);
  void elements(const Tensor& t, std::size_t count);
  template <class T> void element(T value);
  void sparse_data(const SparseTensor& s);
  void sparse(const SparseTensor& s);
  void attribute(const Attribute& a, int indent);
  void attributes(const Node& n, int indent);
  void node(const Node& n, int indent);
  void nodes(const Graph& g, int indent);
  void quantization(const Graph& g);
  void function(const Function& f);
  void training(const TrainingInfo& info);

  void value(std::monostate, int) {}
  void value(float v, int) { attribute_float(v); }
  void value(std::int64_t v, int) { out_ << std::to_string(v); }
  void value(const std::string& v, int) { string(v); }
  void value(const Tensor& v, int) { tensor(v); }
  void value(const GraphPtr& v, int indent) {
    if (v)
      graph(*v, indent);
    else
      graph(Graph(), indent);
  }
  void value(const SparseTensor& v, int) { sparse(v); }
  void value(const Type& v, int) { type(v); }
  template <class T> void value(const std::vector<T>& values, int indent) {
    out_ << '[';
    Comma comma(out_);
    for (const T& v : values) {
      comma();
      value(v, indent);
    }
    out_ << ']';
  }
  void attribute_float(float v);

  TextWriter out_;
  const TextOptions& options_;
};

// Words and numbers.

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

void Printer::attribute_float(float v) {
  std::string text = number_text(v);
  // Without the point it would be an integer to those who do not look at the attribute's type.
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  out_ << text;
}

// Types.

void Printer::dims(const Dims& dims) {
  if (dims.empty()) return;
  out_ << '[';
  Comma comma(out_, ",");
  for (const std::int64_t dim : dims) {
    comma();
    out_ << std::to_string(dim);
  }
  out_ << ']';
}

std::string_view nth(const std::vector<std::string>& list, std::size_t i) {
  return i < list.size() ? std::string_view(list[i]) : std::string_view();
}

void Printer::tensor_type(const Type& t, const TypeNotes& notes) {
  out_ << name_of(t.elem);
  if (!t.shape) {
    out_ << "[]";
  } else if (!t.shape->empty()) {
    out_ << '[';
    Comma comma(out_, ",");
    for (std::size_t i = 0; i < t.shape->size(); ++i) {
      const Dim& dim = (*t.shape)[i];
      comma();
      if (dim.is_unknown())
        out_ << '?';
      else if (dim.is_known())
        out_ << std::to_string(dim.value());
      else
        name(dim.str());
      Notes dim_notes(*this);
      dim_notes.text("denotation", nth(notes.dim_denotations, i));
      dim_notes.bytes("unknown", nth(notes.dim_unknown, i));
    }
    out_ << ']';
  }
}

void Printer::type(const Type& t) {
  static const TypeNotes kNone;
  const TypeNotes& notes = t.notes ? *t.notes : kNone;
  const auto inner = [&] {
    if (t.element) type(*t.element);
    out_ << ')';
  };
  switch (t.kind) {
    case Type::Kind::none:
      out_ << '?';
      break;
    case Type::Kind::tensor:
      tensor_type(t, notes);
      break;
    case Type::Kind::sparse_tensor:
      out_ << "sparse_tensor(";
      tensor_type(t, notes);
      out_ << ')';
      break;
    case Type::Kind::sequence:
      out_ << "seq(";
      inner();
      break;
    case Type::Kind::optional:
      out_ << "optional(";
      inner();
      break;
    case Type::Kind::map:
      out_ << "map(" << name_of(t.elem);
      if (t.element) out_ << ", ";
      inner();
      break;
    case Type::Kind::opaque:
      out_ << "opaque(";
      if (!notes.opaque_domain.empty()) {
        qualified(notes.opaque_domain);
        out_ << ", ";
        name(notes.opaque_name);
      } else if (!notes.opaque_name.empty()) {
        qualified(notes.opaque_name);
      }
      out_ << ')';
      break;
  }
  Notes list(*this);
  list.text("denotation", notes.denotation);
  list.bytes("shape_unknown", notes.shape_unknown);
  list.bytes("content_unknown", notes.content_unknown);
  list.bytes("unknown", notes.unknown);
}

void Printer::info(std::string_view value_name, const Type& value_type, std::string_view doc_string,
                   const Metadata& metadata, std::string_view unknown) {
  if (value_type || value_type.notes) {
    type(value_type);
    out_ << ' ';
  }
  name(value_name);
  Notes notes(*this);
  notes.text("doc_string", doc_string);
  notes.entries("metadata_props", metadata);
  notes.bytes("unknown", unknown);
}

// Tensors.

template <class T> void Printer::element(T v) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    out_ << number_text(v);
  else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    out_ << number_text(v.real()) << ", " << number_text(v.imag());
  else if constexpr (std::is_integral_v<T>)
    out_ << std::to_string(v);
  else if constexpr (is_integer(dtype_of<T>))
    out_ << std::to_string(static_cast<int>(v));
  else if (options_.small_floats_as_numbers)
    attribute_float(static_cast<float>(v));
  else
    out_ << std::to_string(v.to_bits());
}

void Printer::elements(const Tensor& t, std::size_t count) {
  Comma comma(out_);
  if (t.dtype() == DType::string) {
    for (const std::string& text : t.strings().first(count)) {
      comma();
      string(text);
    }
  } else if (t.dtype() == DType::boolean) {
    // A bool is a byte; those other than 0 and 1 stay what they are.
    for (std::size_t i = 0; i < count; ++i) {
      comma();
      out_ << std::to_string(static_cast<unsigned>(t.bytes().data()[i]));
    }
  } else if (t) {
    dispatch(t.dtype(), Fixed{}, [&]<class T>() {
      for (std::size_t i = 0; i < count; ++i) {
        comma();
        element(load_element<T>(t.bytes().data(), i));
      }
    });
  }
  if (count < static_cast<std::size_t>(t.size())) {
    comma();
    out_ << "...";
  }
}

/// Whether the bits of a packed tensor's last byte that no element uses are zero, as the list of elements says.
bool has_clean_tail(const Tensor& t) {
  if (!is_sub_byte(t.dtype()) || t.bytes().empty()) return true;
  const auto used = static_cast<unsigned>(static_cast<std::uint64_t>(t.size()) * bits_of(t.dtype()) % 8);
  return used == 0 || static_cast<unsigned>(t.bytes().data()[t.bytes().size() - 1]) >> used == 0;
}

void Printer::tensor_data(const Tensor& t) {
  const auto size = static_cast<std::size_t>(t.size());
  const bool is_short = size > options_.max_elements;
  const bool listed = t.dtype() == DType::string || is_short || (size <= options_.max_listed && has_clean_tail(t));
  if (!listed) return hex(t.bytes().text());
  out_ << '{';
  elements(t, is_short ? options_.max_elements : size);
  out_ << '}';
}

void Printer::tensor_head(const Tensor& t) {
  out_ << name_of(t.dtype());
  dims(t.dims());
}

void Printer::tensor_notes(const Tensor& t) {
  if (!t.notes) return;
  Notes notes(*this);
  if (!is_printable(t.notes->name)) notes.text("name", t.notes->name);
  notes.text("doc_string", t.notes->doc_string);
  notes.entries("metadata_props", t.notes->metadata);
  notes.bytes("unknown", t.notes->unknown);
}

void Printer::tensor(const Tensor& t) {
  tensor_head(t);
  out_ << ' ';
  if (t.notes && !t.notes->name.empty() && is_printable(t.notes->name)) {
    name(t.notes->name);
    out_ << ' ';
  }
  tensor_data(t);
  tensor_notes(t);
}

void Printer::sparse_data(const SparseTensor& s) {
  out_ << '{';
  tensor(s.values);
  out_ << ", ";
  tensor(s.indices);
  out_ << '}';
  Notes(*this).bytes("unknown", s.unknown);
}

void Printer::sparse(const SparseTensor& s) {
  out_ << "sparse";
  dims(s.dims);
  out_ << ' ';
  sparse_data(s);
}

// Nodes.

void Printer::attribute(const Attribute& a, int indent) {
  name(a.name);
  {
    Notes notes(*this);
    notes.text("doc_string", a.doc_string);
    notes.bytes("unknown", a.unknown);
  }
  const std::string_view word = word_of(a.type());
  out_ << ": ";
  if (word.empty())
    out_ << "type_" << std::to_string(static_cast<int>(a.type()));
  else
    out_ << word;
  if (a.is_reference()) {
    out_ << " = @";
    name(a.reference);
  }
  if (std::holds_alternative<std::monostate>(a.value)) return;
  out_ << " = ";
  std::visit([&](const auto& v) { value(v, indent); }, a.value);
}

void Printer::attributes(const Node& n, int indent) {
  if (n.attributes.empty()) return;
  out_ << " <";
  Comma comma(out_);
  for (const Attribute& a : n.attributes) {
    comma();
    attribute(a, indent + 1);
  }
  out_ << '>';
}

void Printer::node(const Node& n, int indent) {
  if (!n.name.empty()) {
    out_ << '[';
    name(n.name);
    out_ << "] ";
  }
  Comma comma(out_);
  for (std::size_t i = 0; i < n.output_count(); ++i) {
    comma();
    name(n.output(i) ? std::string_view(n.output(i)->name()) : std::string_view());
  }
  out_ << (n.output_count() ? " = " : "= ");
  if (!n.domain.empty()) {
    qualified(n.domain);
    out_ << '.';
  }
  name(n.op);
  if (!n.overload.empty()) {
    out_ << ':';
    name(n.overload);
  }
  bool has_graphs = false;
  for (const Attribute& a : n.attributes) has_graphs |= a.type() == AttrType::graph || a.type() == AttrType::graphs;
  if (!has_graphs) attributes(n, indent);
  out_ << " (";
  Comma input_comma(out_);
  for (std::size_t i = 0; i < n.input_count(); ++i) {
    input_comma();
    name(n.input(i) ? std::string_view(n.input(i)->name()) : std::string_view());
  }
  out_ << ')';
  if (has_graphs) attributes(n, indent);
  Notes notes(*this);
  notes.text("doc_string", n.doc_string);
  notes.entries("metadata_props", n.metadata);
  notes.bytes("device_configurations", n.device_configurations);
  notes.bytes("unknown", n.unknown);
}

void Printer::nodes(const Graph& g, int indent) {
  out_ << '{';
  for (const Node& n : g.nodes()) {
    out_.line(indent + 1);
    node(n, indent + 1);
  }
  out_.line(indent);
  out_ << '}';
}

// Graphs.

void Printer::quantization(const Graph& g) {
  out_ << '[';
  Comma comma(out_);
  for (const QuantizationAnnotation& q : g.quantization) {
    comma();
    string(q.tensor_name);
    out_ << ": ";
    entries(q.parameters);
    Notes(*this).bytes("unknown", q.unknown);
  }
  out_ << ']';
}

void Printer::graph(const Graph& g, int indent) {
  name(g.name);
  {
    Notes notes(*this);
    notes.text("doc_string", g.doc_string);
    notes.entries("metadata_props", g.metadata);
    if (!g.quantization.empty()) {
      notes.key("quantization_annotation");
      quantization(g);
    }
    notes.bytes("unknown", g.unknown);
  }
  out_ << " (";
  Comma input_comma(out_);
  for (const Value* v : g.inputs()) {
    input_comma();
    info(*v);
  }
  out_ << ") => (";
  Comma output_comma(out_);
  for (const Value* v : g.outputs()) {
    output_comma();
    info(*v);
  }
  out_ << ')';
  const std::vector<const Value*> stated = stated_values(g);
  if (!g.initializers().empty() || !stated.empty() || !g.stray_infos.empty()) {
    out_.line(indent);
    out_ << '<';
    Comma comma(out_, ",");
    const auto item = [&] {
      comma();
      out_.line(indent + 1);
    };
    // Dense ones first, as in the file.
    for (const Value* v : g.initializers()) {
      if (!v->initializer) continue;
      item();
      tensor_head(*v->initializer);
      out_ << ' ';
      name(v->name());
      out_ << " = ";
      tensor_data(*v->initializer);
      tensor_notes(*v->initializer);
    }
    for (const Value* v : g.initializers()) {
      if (!v->sparse_initializer) continue;
      item();
      out_ << "sparse";
      dims(v->sparse_initializer->dims);
      out_ << ' ';
      name(v->name());
      out_ << " = ";
      sparse_data(*v->sparse_initializer);
    }
    for (const Value* v : stated) {
      item();
      info(*v);
    }
    for (const ValueInfo& v : g.stray_infos) {
      item();
      info(v);
    }
    out_.line(indent);
    out_ << '>';
    out_.line(indent);
  } else {
    out_ << ' ';
  }
  nodes(g, indent);
}

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

}  // namespace

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
