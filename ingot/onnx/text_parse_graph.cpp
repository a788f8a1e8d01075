// The text syntax: graphs, nodes and attributes.
#include <fmt/format.h>

#include "ingot/onnx/text_parser.h"
#include "ingot/onnx/text_words.h"

namespace ingot::onnx {
namespace {

constexpr int kMaxGraphDepth = 64;

/// The type of one item of a list of that type.
AttrType item_type(AttrType list) {
  switch (list) {
    case AttrType::floats:
      return AttrType::float_;
    case AttrType::ints:
      return AttrType::int_;
    case AttrType::strings:
      return AttrType::string;
    case AttrType::tensors:
      return AttrType::tensor;
    case AttrType::graphs:
      return AttrType::graph;
    case AttrType::sparse_tensors:
      return AttrType::sparse_tensor;
    case AttrType::type_protos:
      return AttrType::type_proto;
    default:
      return AttrType::undefined;
  }
}

/// A list with one item, or with none for monostate.
AttrValue list_of(AttrValue&& item) {
  return std::visit(
      []<class T>(T&& v) -> AttrValue {
        using Item = std::remove_cvref_t<T>;
        if constexpr (std::is_constructible_v<AttrValue, std::vector<Item>> && !std::is_same_v<Item, std::monostate>) {
          std::vector<Item> values;
          values.push_back(std::move(v));
          return values;
        } else {
          return std::monostate();
        }
      },
      std::move(item));
}

/// Moves the item of a list with one item to the end of another; false if they have not the same type.
bool append(AttrValue& list, AttrValue&& item) {
  return std::visit(
      [&]<class T>(T& v) {
        if constexpr (requires { v.push_back(std::move(v.front())); } && !std::is_same_v<T, std::string>) {
          T* more = std::get_if<T>(&item);
          if (more) v.push_back(std::move(more->front()));
          return more != nullptr;
        } else {
          return false;
        }
      },
      list);
}

AttrValue empty_list(AttrType type) {
  switch (type) {
    case AttrType::floats:
      return std::vector<float>();
    case AttrType::ints:
      return std::vector<std::int64_t>();
    case AttrType::strings:
      return std::vector<std::string>();
    case AttrType::tensors:
      return std::vector<Tensor>();
    case AttrType::graphs:
      return std::vector<GraphPtr>();
    case AttrType::sparse_tensors:
      return std::vector<SparseTensor>();
    case AttrType::type_protos:
      return std::vector<Type>();
    default:
      return std::monostate();
  }
}

}  // namespace

bool TextParser::at_type() const {
  const Token& next = lexer_.peek();
  return lexer_.is("?") || (next.kind == Token::Kind::identifier && is_type_word(next.text));
}

void TextParser::value_info_notes(ValueInfo& info) {
  notes([&](std::string_view key) {
    if (key == "doc_string")
      info.doc_string = string("a string");
    else if (key == "metadata_props")
      info.metadata = entries();
    else if (key == "unknown")
      info.unknown = bytes();
    else
      return false;
    return true;
  });
}

ValueInfo TextParser::value_info() {
  context_.count_object();
  ValueInfo info;
  if (at_type()) info.type = type();
  info.name = name("a type or the name of a value");
  value_info_notes(info);
  return info;
}

std::vector<QuantizationAnnotation> TextParser::quantization() {
  std::vector<QuantizationAnnotation> result;
  list("[", "]", [&] {
    QuantizationAnnotation q;
    q.tensor_name = string("the name of a tensor in quotes");
    lexer_.expect(":", "between tensor and parameters");
    q.parameters = entries();
    notes([&](std::string_view key) { return key == "unknown" && (q.unknown = bytes(), true); });
    result.push_back(std::move(q));
  });
  return result;
}

void TextParser::graph(Graph& g) {
  if (++graph_depth_ > kMaxGraphDepth)
    lexer_.fail(Code::too_deep, lexer_.peek().position,
                fmt::format("graphs are nested deeper than {}", kMaxGraphDepth));
  GraphAssembly& assembly = open_.emplace_back(g);
  g.name = name("the name of a graph");
  notes([&](std::string_view key) {
    if (key == "doc_string")
      g.doc_string = string("a string");
    else if (key == "metadata_props")
      g.metadata = entries();
    else if (key == "quantization_annotation")
      g.quantization = quantization();
    else if (key == "unknown")
      g.unknown = bytes();
    else
      return false;
    return true;
  });
  list("(", ")", [&] {
    ValueInfo info = value_info();
    const std::string input_name = info.name;
    const Type input_type = info.type;
    assembly.add_input(std::move(info));
    if (lexer_.accept("=")) {
      Tensor t = tensor_data(input_type);
      tensor_notes(t, {});
      g.add_initializer(input_name, std::move(t));
    }
  });
  lexer_.expect("=>", "between inputs and outputs");
  list("(", ")", [&] { assembly.add_output(value_info()); });
  stated_list(assembly, true);
  nodes(assembly);
  --graph_depth_;
}

/// Initializers and what is stated about other values, between angle brackets.
void TextParser::stated_list(GraphAssembly& assembly, bool with_initializers) {
  if (!lexer_.is("<")) return;
  list("<", ">", [&] {
    if (with_initializers && lexer_.peek().kind == Token::Kind::identifier && lexer_.peek().text == "sparse") {
      lexer_.take();
      Dims dims = sparse_dims();
      std::string value_name = name("the name of a sparse initializer");
      lexer_.expect("=", "after the name of a sparse initializer");
      assembly.graph().add_sparse_initializer(std::move(value_name), sparse_data(std::move(dims)));
      return;
    }
    ValueInfo info = value_info();
    if (with_initializers && lexer_.accept("=")) {
      Tensor t = tensor_data(info.type);
      tensor_notes(t, {});
      assembly.graph().add_initializer(std::move(info.name), std::move(t));
    } else {
      assembly.add_info(std::move(info));
    }
  });
}

void TextParser::nodes(GraphAssembly& assembly) {
  lexer_.expect("{", "to begin the nodes");
  while (!lexer_.accept("}")) node(assembly);
}

void TextParser::node(GraphAssembly& assembly) {
  context_.count_node();
  Node* n = assembly.graph().add_node({});
  if (lexer_.accept("[")) {
    if (at_name()) n->name = name("the name of a node");
    lexer_.expect("]", "after the name of a node");
  }
  for (std::string& output : names("=")) n->add_output(std::move(output));
  lexer_.expect("=", "between outputs and operator");
  std::string op = name("an operator");
  std::string domain;
  while (lexer_.accept(".")) {
    domain += (domain.empty() ? "" : ".") + op;
    op = name("an operator");
  }
  n->op = std::move(op);
  n->domain = normal_domain(domain);
  if (lexer_.accept(":")) n->overload = name("an overload");
  attributes(n->attributes, &assembly.graph());
  lexer_.expect("(", "to begin the inputs of a node");
  for (std::string& input : names(")")) assembly.add_input_name(n, std::move(input));
  lexer_.expect(")", "after the inputs of a node");
  if (n->attributes.empty()) attributes(n->attributes, &assembly.graph());
  notes([&](std::string_view key) {
    if (key == "doc_string")
      n->doc_string = string("a string");
    else if (key == "metadata_props")
      n->metadata = entries();
    else if (key == "device_configurations")
      n->device_configurations = bytes();
    else if (key == "unknown")
      n->unknown = bytes();
    else
      return false;
    return true;
  });
}

void TextParser::attributes(Attributes& result, Graph* parent) {
  if (lexer_.is("<")) list("<", ">", [&] { result.append(attribute(parent)); });
}

Attribute TextParser::attribute(Graph* parent) { return attribute(name("the name of an attribute"), parent); }

AttrType TextParser::attribute_type() {
  const Token token = lexer_.peek();
  const std::string word = identifier("the type of an attribute");
  if (const auto known = attr_type_from_word(word)) return *known;
  // A type of a newer ONNX, by its number.
  constexpr std::string_view kPrefix = "type_";
  int number = 0;
  if (word.starts_with(kPrefix) && word.size() <= kPrefix.size() + 3) {
    for (const char c : word.substr(kPrefix.size())) number = c >= '0' && c <= '9' ? number * 10 + (c - '0') : 1000;
    if (number > 0 && number < 256) return static_cast<AttrType>(number);
  }
  lexer_.fail(Code::text_unknown_word, token.position, "this is not a type of attributes");
}

Attribute TextParser::attribute(std::string attribute_name, Graph* parent) {
  Attribute a;
  a.name = std::move(attribute_name);
  notes([&](std::string_view key) {
    if (key == "doc_string")
      a.doc_string = string("a string");
    else if (key == "unknown")
      a.unknown = bytes();
    else
      return false;
    return true;
  });
  AttrType stated = AttrType::undefined;
  const bool has_type = lexer_.accept(":");
  if (has_type) stated = attribute_type();
  a.reference_type = stated;
  if (!lexer_.accept("=")) {
    if (!has_type) lexer_.fail_expected("':' or '=' after the name of an attribute");
    return a;
  }
  if (lexer_.accept("@")) {
    a.reference = name("the name of an attribute of the function");
    if (!lexer_.accept("=")) return a;
  }
  const bool is_list = stated == AttrType::undefined ? lexer_.is("[") : item_type(stated) != AttrType::undefined;
  a.value = is_list ? value_list(stated, parent) : value(stated, parent);
  a.reference_type = AttrType::undefined;
  return a;
}

AttrValue TextParser::value_list(AttrType stated, Graph* parent) {
  const std::size_t position = lexer_.peek().position;
  AttrValue result = empty_list(stated);
  list("[", "]", [&] {
    AttrValue item = list_of(value(item_type(stated), parent));
    if (std::holds_alternative<std::monostate>(result))
      result = std::move(item);
    else if (!append(result, std::move(item)))
      lexer_.fail(Code::text_syntax, position, "the items of this list are not of one type");
  });
  if (std::holds_alternative<std::monostate>(result))
    lexer_.fail(Code::text_syntax, position, "an empty list needs the type of its attribute, as in 'axes: ints = []'");
  return result;
}

GraphPtr TextParser::nested(Graph* parent) {
  auto inner = std::make_unique<Graph>(parent);
  graph(*inner);
  return inner;
}

/// One value. Without a stated type its first word decides.
AttrValue TextParser::value(AttrType stated, Graph* parent) {
  const Token next = lexer_.peek();
  if (stated == AttrType::undefined) {
    if (next.kind == Token::Kind::integer)
      stated = AttrType::int_;
    else if (next.kind == Token::Kind::decimal)
      stated = AttrType::float_;
    else if (next.kind == Token::Kind::string || next.kind == Token::Kind::bytes)
      stated = AttrType::string;
    else if (next.kind == Token::Kind::identifier && next.text == "sparse")
      stated = AttrType::sparse_tensor;
    else if (at_type())
      stated = AttrType::type_proto;  // or a tensor, if data follows
    else if (next.kind == Token::Kind::identifier)
      stated = is_reserved(next.text) ? AttrType::float_ : AttrType::graph;
    else
      lexer_.fail_expected("the value of an attribute");
    if (stated == AttrType::type_proto) {
      Type t = type();
      if (!lexer_.is("{") && !lexer_.is("=") && !at_name()) return t;
      std::string tensor_name = at_name() && lexer_.peek().kind != Token::Kind::bytes ? name("a name") : std::string();
      return tensor(t, std::move(tensor_name));
    }
  }
  switch (stated) {
    case AttrType::float_:
      return attribute_float();
    case AttrType::int_:
      return integer("an integer");
    case AttrType::string:
      return string("a string");
    case AttrType::tensor:
      return tensor();
    case AttrType::graph:
      return nested(parent);
    case AttrType::sparse_tensor:
      return sparse();
    case AttrType::type_proto:
      return type();
    default:
      lexer_.fail(Code::text_syntax, next.position, "an attribute of this type cannot have a value in the text");
  }
}

}  // namespace ingot::onnx
