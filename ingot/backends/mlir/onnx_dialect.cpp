// A graph in the ONNX dialect of onnx-mlir, operator by operator.
#include "ingot/backends/mlir/onnx_dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "ingot/base/error.h"

namespace ingot::backends::mlir {
namespace {

/// A string of MLIR that means these bytes, whatever they are.
std::string quoted(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    const bool is_plain = c >= ' ' && c < 127 && c != '"' && c != '\\';
    text += is_plain ? std::string(1, c) : fmt::format("\\{:02X}", static_cast<unsigned char>(c));
  }
  return text + "\"";
}

/// A name of an operator or attribute as a word; others are put into quotation marks where that is allowed.
bool is_word(std::string_view name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

/// Empty: the dialect has no such element.
std::string element_name(DType type) {
  switch (type) {
    case DType::f32:
      return "f32";
    case DType::f64:
      return "f64";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::i8:
      return "i8";
    case DType::i16:
      return "i16";
    case DType::i32:
      return "i32";
    case DType::i64:
      return "i64";
    case DType::u8:
      return "ui8";
    case DType::u16:
      return "ui16";
    case DType::u32:
      return "ui32";
    case DType::u64:
      return "ui64";
    case DType::boolean:
      return "i1";
    case DType::string:
      return "!onnx.String";
    case DType::c64:
      return "complex<f32>";
    case DType::c128:
      return "complex<f64>";
    case DType::i4:
      return "i4";
    case DType::u4:
      return "ui4";
    case DType::i2:
      return "i2";
    case DType::u2:
      return "ui2";
    case DType::f8e4m3fn:
      return "f8E4M3FN";
    case DType::f8e4m3fnuz:
      return "f8E4M3FNUZ";
    case DType::f8e5m2:
      return "f8E5M2";
    case DType::f8e5m2fnuz:
      return "f8E5M2FNUZ";
    case DType::f8e8m0:
      return "f8E8M0FNU";
    case DType::f4e2m1:
      return "f4E2M1FN";
    default:
      return "";
  }
}

std::string hex(const Tensor& tensor) {
  std::string text = "\"0x";
  constexpr char kDigits[] = "0123456789ABCDEF";
  const auto* data = reinterpret_cast<const unsigned char*>(tensor.bytes().data());
  for (std::size_t i = 0; i < tensor.bytes().size(); ++i) {
    text += kDigits[data[i] >> 4];
    text += kDigits[data[i] & 15];
  }
  return text + "\"";
}

/// Elements in brackets by dimensions.
std::string nested(const std::vector<std::string>& words, const Dims& dims) {
  if (dims.empty()) return words[0];
  std::vector<std::string> parts = words;
  for (std::size_t d = dims.size(); d-- > 0;) {
    const auto n = static_cast<std::size_t>(dims[d]);
    std::vector<std::string> outer;
    for (std::size_t i = 0; i < parts.size(); i += n) {
      const auto first = parts.begin() + static_cast<std::ptrdiff_t>(i);
      outer.push_back(fmt::format("[{}]", fmt::join(first, first + static_cast<std::ptrdiff_t>(n), ", ")));
    }
    parts = std::move(outer);
  }
  return parts[0];
}

class DialectPrinter {
 public:
  explicit DialectPrinter(const Model& model) : model_(model) {}

  std::string module() {
    const Graph& graph = *model_.graph;
    std::vector<std::string> parameters, results;
    for (const Value* input : graph.inputs()) {
      if (input->initializer) continue;
      parameters.push_back(
          fmt::format("{}: {} {{onnx.name = {}}}", name(input), type_text(input->type), quoted(input->name())));
    }
    for (const Value* output : graph.outputs())
      results.push_back(fmt::format("{} {{onnx.name = {}}}", type_text(output->type), quoted(output->name())));
    text_ = fmt::format("// Made by ingot compile.\nmodule {{\n  func.func @main_graph({}) -> ({}) {{\n",
                        fmt::join(parameters, ", "), fmt::join(results, ", "));
    body(graph, "onnx.Return", 2);
    text_ += "  }\n  \"onnx.EntryPoint\"() {func = @main_graph} : () -> ()\n}\n";
    if (!problems_.empty()) {
      std::string said = "the model cannot be written in the ONNX dialect:";
      for (const std::string& p : problems_) said += "\n  " + p;
      throw Error(Code::not_expressible, said);
    }
    return std::move(text_);
  }

 private:
  void refuse(const std::string& why) {
    const std::string line = where_.empty() ? why : where_ + ": " + why;
    if (std::ranges::find(problems_, line) == problems_.end()) problems_.push_back(line);
  }

  std::string name(const Value* value) {
    const auto [it, is_new] = names_.try_emplace(value);
    if (is_new) it->second = fmt::format("%{}", names_.size() - 1);
    return it->second;
  }

  std::string tensor_text(DType elem, const std::optional<Shape>& shape) {
    const std::string element = element_name(elem);
    if (element.empty()) refuse("an element type that the dialect does not have: " + std::string(name_of(elem)));
    if (!shape) return fmt::format("tensor<*x{}>", element);
    std::string dims;
    for (const Dim& d : *shape) dims += (d.is_known() ? std::to_string(d.value()) : "?") + "x";
    return fmt::format("tensor<{}{}>", dims, element);
  }

  std::string type_text(const Type& type) {
    switch (type.kind) {
      case Type::Kind::tensor:
        return tensor_text(type.elem, type.shape);
      case Type::Kind::sequence:
        return fmt::format("!onnx.Seq<{}>", type_text(type.inner()));
      case Type::Kind::optional:
        return fmt::format("!onnx.Opt<{}>", type_text(type.inner()));
      case Type::Kind::none:
        return "none";
      default:
        refuse("a type that the dialect does not have: " + type.schema_name());
        return "none";
    }
  }

  std::string dense(const Tensor& tensor) {
    const DType dtype = tensor.dtype();
    const Shape shape(tensor.dims().begin(), tensor.dims().end());
    const std::string type = tensor_text(dtype, shape);
    if (tensor.size() == 0) return fmt::format("dense<> : {}", type);
    std::vector<std::string> words;
    if (dtype == DType::string) {
      for (const std::string& s : tensor.strings()) words.push_back(quoted(s));
    } else if (dtype == DType::boolean) {
      for (const std::int64_t v : tensor.to_ints()) words.push_back(v ? "true" : "false");
    } else if (is_integer(dtype) && (is_sub_byte(dtype) || (tensor.size() <= 64 && dtype != DType::u64))) {
      for (const std::int64_t v : tensor.to_ints()) words.push_back(std::to_string(v));
    } else if (is_sub_byte(dtype)) {
      for (const double v : tensor.to_doubles()) words.push_back(fmt::format("{:.6e}", v));
    } else {
      return fmt::format("dense<{}> : {}", hex(tensor), type);
    }
    return fmt::format("dense<{}> : {}", nested(words, tensor.dims()), type);
  }

  static std::string real(float value) { return fmt::format("0x{:08X} : f32", std::bit_cast<std::uint32_t>(value)); }

  /// Empty: what is not an attribute there.
  std::string attribute(const Node& node, const Attribute& a) {
    if (const auto* v = std::get_if<std::int64_t>(&a.value)) {
      // Types are attributes of their own kind.
      if (a.name == "to" && (node.is("Cast") || node.is("CastLike") || node.is("BitCast"))) {
        const std::string element = element_name(static_cast<DType>(*v));
        if (element.empty()) refuse("a cast to what the dialect does not have");
        return element;
      }
      return fmt::format("{} : si64", *v);
    }
    if (const auto* v = std::get_if<float>(&a.value)) return real(*v);
    if (const auto* v = std::get_if<std::string>(&a.value)) return quoted(*v);
    if (const auto* v = std::get_if<Tensor>(&a.value)) return dense(*v);
    std::vector<std::string> words;
    if (const auto* v = std::get_if<std::vector<std::int64_t>>(&a.value))
      for (const std::int64_t i : *v) words.push_back(std::to_string(i));
    else if (const auto* f = std::get_if<std::vector<float>>(&a.value))
      for (const float x : *f) words.push_back(real(x));
    else if (const auto* s = std::get_if<std::vector<std::string>>(&a.value))
      for (const std::string& x : *s) words.push_back(quoted(x));
    else if (const auto* t = std::get_if<std::vector<Tensor>>(&a.value))
      for (const Tensor& x : *t) words.push_back(dense(x));
    else if (const auto* type = std::get_if<Type>(&a.value))
      return type_text(*type);
    else
      refuse("attribute '" + a.name + "' is of a kind that the dialect does not have");
    return fmt::format("[{}]", fmt::join(words, ", "));
  }

  void line(const std::string& text, int depth) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    text_ += text;
    text_ += '\n';
  }

  void body(const Graph& graph, const char* end, int depth) {
    for (const Value* value : graph.initializers()) {
      if (!value->initializer) {
        refuse("'" + value->name() + "' is a sparse tensor");
        continue;
      }
      line(fmt::format("{} = \"onnx.Constant\"() {{onnx_node_name = {}, value = {}}} : () -> {}", name(value),
                       quoted(value->name()), dense(*value->initializer),
                       tensor_text(value->initializer->dtype(), value->initializer->type().shape)),
           depth);
    }
    const auto order = topological_order(graph);
    if (!order) throw Error(Code::cyclic_graph, "the graph has a cycle");
    for (const Node* node : *order) {
      const std::string outer = std::exchange(where_, node->op + " (" + node->label() + ")");
      operation(*node, depth);
      where_ = outer;
    }
    std::vector<std::string> values, types;
    for (const Value* output : graph.outputs()) {
      values.push_back(name(output));
      types.push_back(type_text(output->type));
    }
    line(fmt::format("\"{}\"({}) : ({}) -> ()", end, fmt::join(values, ", "), fmt::join(types, ", ")), depth);
  }

  void operation(const Node& node, int depth) {
    std::vector<std::string> inputs, input_types, outputs, output_types, attributes;
    for (const Value* v : node.inputs()) {
      inputs.push_back(v ? name(v) : absent(depth));
      input_types.push_back(v ? type_text(v->type) : "none");
    }
    for (const Value* v : node.outputs()) {
      outputs.push_back(v ? name(v) : fmt::format("%absent{}", next_absent_++));
      output_types.push_back(v ? type_text(v->type) : "none");
    }
    std::vector<const Graph*> graphs;
    if (node.is("If"))
      for (const char* branch : {"then_branch", "else_branch"})
        if (const GraphPtr* g = node.attributes.get<GraphPtr>(branch)) graphs.push_back(g->get());
    std::string op = "onnx." + node.op;
    if (!is_word(node.op) || !node.domain.empty()) {
      op = "onnx.Custom";
      attributes.push_back("domain_name = " + quoted(node.domain));
      attributes.push_back("function_name = " + quoted(node.op));
    }
    for (const Attribute& a : node.attributes) {
      if (const auto* graph = std::get_if<GraphPtr>(&a.value)) {
        if (!node.is("If")) graphs.push_back(graph->get());
        continue;
      }
      attributes.push_back(fmt::format("{} = {}", is_word(a.name) ? a.name : quoted(a.name), attribute(node, a)));
    }
    if (!node.name.empty()) attributes.push_back("onnx_node_name = " + quoted(node.name));
    line(fmt::format("{}{}\"{}\"({}){}", fmt::join(outputs, ", "), outputs.empty() ? "" : " = ", op,
                     fmt::join(inputs, ", "), graphs.empty() ? "" : " ({"),
         depth);
    text_.pop_back();
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      text_ += i ? "}, {\n" : "\n";
      region(*graphs[i], depth + 1);
      text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    }
    text_ += fmt::format("{} {{{}}} : ({}) -> ({})\n", graphs.empty() ? "" : "})", fmt::join(attributes, ", "),
                         fmt::join(input_types, ", "), fmt::join(output_types, ", "));
  }

  void region(const Graph& graph, int depth) {
    std::vector<std::string> parameters;
    for (const Value* input : graph.inputs())
      if (!input->initializer) parameters.push_back(fmt::format("{}: {}", name(input), type_text(input->type)));
    if (!parameters.empty()) line(fmt::format("^bb0({}):", fmt::join(parameters, ", ")), depth);
    body(graph, "onnx.Yield", depth);
  }

  std::string absent(int depth) {
    const std::string value = fmt::format("%absent{}", next_absent_++);
    line(value + " = \"onnx.NoValue\"() {value} : () -> none", depth);
    return value;
  }

  const Model& model_;
  std::string text_, where_;
  std::unordered_map<const Value*, std::string> names_;
  std::vector<std::string> problems_;
  int next_absent_ = 0;
};

}  // namespace

std::string onnx_dialect(const Model& model) { return DialectPrinter(model).module(); }

}  // namespace ingot::backends::mlir
