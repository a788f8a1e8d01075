// Nodes and graphs as text.
#include "ingot/onnx/stated_values.h"
#include "ingot/onnx/text_printer.h"
#include "ingot/onnx/text_words.h"

namespace ingot::onnx {

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

}  // namespace ingot::onnx
