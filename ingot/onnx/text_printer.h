#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/sink.h"
#include "ingot/ir/model.h"
#include "ingot/onnx/text.h"

namespace ingot::onnx {

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

/// Writes a model in the grammar of docs/text.md; the parts are in text_print_*.cpp.
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
  void number(float v);
  void number(double v);

  TextWriter out_;
  const TextOptions& options_;
};

}  // namespace ingot::onnx
