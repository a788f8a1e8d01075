#pragma once
#include <deque>
#include <string>
#include <string_view>

#include "ingot/ir/model.h"
#include "ingot/onnx/graph_assembly.h"
#include "ingot/onnx/read_context.h"
#include "ingot/onnx/text_lexer.h"

namespace ingot::onnx {

/// Recursive descent, with limits on nesting; linear in the length of the text.
class TextParser {
 public:
  TextParser(std::string_view text, ReadContext& context) : lexer_(text), context_(context) {}

  Model model();

 private:
  // Words (text_parser.cpp).
  bool at_name() const;
  std::string name(std::string_view what);
  std::string identifier(std::string_view what);
  std::string qualified(std::string_view what);
  std::string string(std::string_view what);
  std::string bytes();
  std::int64_t integer(std::string_view what);
  std::vector<std::string> names(std::string_view end);
  Metadata entries();
  OpsetImports opsets();
  std::vector<DeviceConfiguration> devices();
  /// Items between `open` and `close`, separated by commas, perhaps none.
  template <class Item> void list(std::string_view open, std::string_view close, Item&& item);
  /// "%{key: value, ...}", if there; `read` reads the value of a key it knows.
  template <class Read> void notes(Read&& read);
  /// "key: value, ..." until a mark other than the comma.
  template <class Read> void keys(Read&& read);

  // The model and its functions (text_parser.cpp).
  void model_header(Model& m);
  Function function();
  TrainingInfo training(Graph& main);
  void connect();

  // Graphs and nodes (text_parse_graph.cpp).
  bool at_type() const;
  void graph(Graph& g);
  ValueInfo value_info();
  void value_info_notes(ValueInfo& info);
  void stated_list(GraphAssembly& assembly, bool with_initializers);
  std::vector<QuantizationAnnotation> quantization();
  void nodes(GraphAssembly& assembly);
  void node(GraphAssembly& assembly);
  Attribute attribute(Graph* parent);
  Attribute attribute(std::string attribute_name, Graph* parent);
  void attributes(Attributes& list, Graph* parent);
  AttrType attribute_type();
  AttrValue value(AttrType type, Graph* parent);
  AttrValue value_list(AttrType type, Graph* parent);
  GraphPtr nested(Graph* parent);

  // Types and tensors (text_parse_tensor.cpp).
  Type type();
  void tensor_type(Type& t, TypeNotes& notes);
  void dims(Type& t, TypeNotes& notes);
  Tensor tensor();
  Tensor tensor(const Type& head, std::string tensor_name);
  Tensor tensor_data(const Type& head);
  Tensor listed(DType dtype, Dims dims);
  void tensor_notes(Tensor& t, std::string tensor_name);
  Dims sparse_dims();
  SparseTensor sparse();
  SparseTensor sparse_data(Dims sparse_dims);
  template <class T> T element();
  template <class T> T float_number(const Token& token);
  float attribute_float();

  Lexer lexer_;
  ReadContext& context_;
  /// Graphs whose names are not looked up yet, outer ones first.
  std::deque<GraphAssembly> open_;
  int graph_depth_ = 0, type_depth_ = 0;
};

template <class Item> void TextParser::list(std::string_view open, std::string_view close, Item&& item) {
  lexer_.expect(open, "to begin a list");
  if (lexer_.accept(close)) return;
  do item();
  while (lexer_.accept(","));
  lexer_.expect(close, "or ',' after an item of a list");
}

template <class Read> void TextParser::keys(Read&& read) {
  do {
    const std::size_t position = lexer_.peek().position;
    const std::string key = identifier("a key");
    lexer_.expect(":", "after a key");
    if (!read(key)) lexer_.fail(Code::text_unknown_word, position, "'" + key + "' is not a key that can stand here");
  } while (lexer_.accept(","));
}

template <class Read> void TextParser::notes(Read&& read) {
  if (!lexer_.accept("%")) return;
  lexer_.expect("{", "after '%'");
  keys(read);
  lexer_.expect("}", "after notes");
}

}  // namespace ingot::onnx
