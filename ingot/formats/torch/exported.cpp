// The JSON of torch.export.
#include "ingot/formats/torch/exported.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <optional>

#include "ingot/base/error.h"
#include "ingot/formats/torch/scalar_type.h"

namespace ingot::formats::torch {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::size_t kMostNested = 256;

[[noreturn]] void refuse_program(const std::string& why) {
  throw Error(Code::bad_json, "the exported program is refused: " + why);
}

/// The value of a key, or nothing where it is missing or null.
std::optional<element> find(const element& json, std::string_view key) {
  object fields;
  element value;
  if (json.get(fields) || fields[key].get(value) || value.is_null()) return std::nullopt;
  return value;
}

element need(const element& json, std::string_view key) {
  if (const auto value = find(json, key)) return *value;
  refuse_program(fmt::format("'{}' is missing", key));
}

std::vector<element> list_of(const element& json) {
  simdjson::dom::array items;
  if (json.get(items)) refuse_program("a list is expected");
  std::vector<element> made;
  for (const element item : items) made.push_back(item);
  return made;
}

std::string text_of(const element& json) {
  std::string_view text;
  if (json.get(text)) refuse_program("a text is expected");
  return std::string(text);
}

std::int64_t int_of(const element& json) {
  std::int64_t value = 0;
  if (json.get(value)) refuse_program("an integer is expected");
  return value;
}

/// JSON has no words for what is not finite: it comes as a text.
double real_of(const element& json) {
  double value = 0;
  if (!json.get(value)) return value;
  const std::string text = text_of(json);
  if (text == "Infinity") return INFINITY;
  if (text == "-Infinity") return -INFINITY;
  if (text == "NaN") return NAN;
  refuse_program("a number is expected");
}

/// Unions are objects of which one key is not null.
std::pair<std::string_view, element> alternative(const element& json) {
  object fields;
  if (json.get(fields)) refuse_program("an argument is no object");
  for (const auto& [key, value] : fields)
    if (!value.is_null()) return {key, value};
  return {"as_none", json};
}

SymbolicInt read_size(const element& json) {
  std::int64_t number = 0;
  if (!json.get(number)) return {.value = number};
  const auto [key, value] = alternative(json);
  if (key == "as_int") return {.value = int_of(value)};
  if (key == "as_expr") return {.value = 0, .expression = text_of(need(value, "expr_str"))};
  refuse_program("a size is neither a number nor an expression");
}

TensorMeta read_meta(const element& json) {
  TensorMeta meta;
  meta.dtype = dtype_of_export_number(int_of(need(json, "dtype")));
  for (const element& size : list_of(need(json, "sizes"))) meta.sizes.push_back(read_size(size));
  if (const auto strides = find(json, "strides"))
    for (const element& stride : list_of(*strides)) meta.strides.push_back(read_size(stride));
  if (const auto offset = find(json, "storage_offset")) meta.offset = read_size(*offset).value;
  return meta;
}

ExportedGraph read_graph(const element& json, int depth);

Argument read_symbol(const element& json, Argument::Kind known) {
  const auto [key, value] = alternative(json);
  Argument made;
  if (key == "as_name") {
    made.kind = Argument::Kind::symbol;
    made.text = text_of(value);
    return made;
  }
  made.kind = known;
  if (known == Argument::Kind::real)
    made.real = real_of(value);
  else if (known == Argument::Kind::boolean)
    made.integer = value.is_bool() && bool(value);
  else
    made.integer = int_of(value);
  return made;
}

Argument read_argument(const element& json, int depth);

template <class Read> Argument read_list(const element& json, Read&& read) {
  Argument made;
  made.kind = Argument::Kind::list;
  for (const element& part : list_of(json)) made.parts.push_back(read(part));
  return made;
}

Argument of_kind(Argument::Kind kind, const element& json) {
  Argument made;
  made.kind = kind;
  switch (kind) {
    case Argument::Kind::tensor:
      made.text = text_of(need(json, "name"));
      break;
    case Argument::Kind::integer:
    case Argument::Kind::scalar_type:
      made.integer = int_of(json);
      break;
    case Argument::Kind::real:
      made.real = real_of(json);
      break;
    case Argument::Kind::boolean:
      made.integer = json.is_bool() && bool(json);
      break;
    case Argument::Kind::text:
      made.text = text_of(json);
      break;
    default:
      break;
  }
  return made;
}

Argument read_argument(const element& json, int depth) {
  using Kind = Argument::Kind;
  const auto [key, value] = alternative(json);
  const auto each = [](Kind kind) { return [kind](const element& part) { return of_kind(kind, part); }; };
  const auto symbols = [](Kind kind) { return [kind](const element& part) { return read_symbol(part, kind); }; };
  if (key == "as_none") return {};
  if (key == "as_tensor") return of_kind(Kind::tensor, value);
  if (key == "as_int") return of_kind(Kind::integer, value);
  if (key == "as_float") return of_kind(Kind::real, value);
  if (key == "as_bool") return of_kind(Kind::boolean, value);
  if (key == "as_string" || key == "as_operator") return of_kind(Kind::text, value);
  if (key == "as_scalar_type") return of_kind(Kind::scalar_type, value);
  if (key == "as_tensors") return read_list(value, each(Kind::tensor));
  if (key == "as_ints") return read_list(value, each(Kind::integer));
  if (key == "as_floats") return read_list(value, each(Kind::real));
  if (key == "as_bools") return read_list(value, each(Kind::boolean));
  if (key == "as_strings") return read_list(value, each(Kind::text));
  if (key == "as_sym_int") return read_symbol(value, Kind::integer);
  if (key == "as_sym_float") return read_symbol(value, Kind::real);
  if (key == "as_sym_bool") return read_symbol(value, Kind::boolean);
  if (key == "as_sym_ints") return read_list(value, symbols(Kind::integer));
  if (key == "as_sym_floats") return read_list(value, symbols(Kind::real));
  if (key == "as_sym_bools") return read_list(value, symbols(Kind::boolean));
  if (key == "as_optional_tensor") return read_argument(value, depth + 1);
  if (depth > 16) refuse_program("arguments are nested too deeply");
  if (key == "as_optional_tensors")
    return read_list(value, [depth](const element& part) { return read_argument(part, depth + 1); });
  if (key == "as_graph") {
    Argument made;
    made.kind = Kind::graph;
    made.graph = std::make_shared<const ExportedGraph>(read_graph(need(value, "graph"), depth + 1));
    return made;
  }
  Argument other;  // layouts, devices, memory formats: nothing that a graph of ONNX has
  other.kind = Kind::other;
  return other;
}

std::string module_of(const element& node) {
  const auto metadata = find(node, "metadata");
  const auto stack = metadata ? find(*metadata, "nn_module_stack") : std::nullopt;
  std::string_view text;
  if (!stack || stack->get(text)) return {};
  // "key,path,type;key,path,type": the innermost module stands last.
  const std::size_t last = text.rfind(';') == std::string_view::npos ? 0 : text.rfind(';') + 1;
  const std::size_t begin = text.find(',', last);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = text.find(',', begin + 1);
  return std::string(text.substr(begin + 1, end == std::string_view::npos ? end : end - begin - 1));
}

ExportedGraph read_graph(const element& json, int depth) {
  if (depth > 16) refuse_program("graphs are nested too deeply");
  ExportedGraph graph;
  for (const element& input : list_of(need(json, "inputs"))) graph.inputs.push_back(read_argument(input, depth));
  for (const element& output : list_of(need(json, "outputs"))) graph.outputs.push_back(read_argument(output, depth));
  for (const element& node : list_of(need(json, "nodes"))) {
    ExportedNode made{.target = text_of(need(node, "target"))};
    for (const element& input : list_of(need(node, "inputs")))
      made.inputs.push_back({text_of(need(input, "name")), read_argument(need(input, "arg"), depth)});
    for (const element& output : list_of(need(node, "outputs"))) made.outputs.push_back(read_argument(output, depth));
    made.module = module_of(node);
    graph.nodes.push_back(std::move(made));
  }
  object tensors;
  if (const auto values = find(json, "tensor_values"); values && !values->get(tensors))
    for (const auto& [name, value] : tensors) {
      const auto meta = find(value, "meta");  // of schema 1
      graph.tensors.emplace(std::string(name), read_meta(meta ? *meta : value));
    }
  return graph;
}

InputSpec read_input(const element& json) {
  using Kind = InputSpec::Kind;
  const auto [key, value] = alternative(json);
  InputSpec spec;
  const auto argument = find(value, "arg");
  const auto named = argument ? find(*argument, "name") : std::nullopt;
  const std::string name = named ? text_of(*named) : std::string();
  if (key == "user_input") return spec;
  if (key == "parameter") return {Kind::parameter, name, text_of(need(value, "parameter_name"))};
  if (key == "buffer") return {Kind::buffer, name, text_of(need(value, "buffer_name"))};
  if (key == "tensor_constant") return {Kind::constant, name, text_of(need(value, "tensor_constant_name"))};
  spec.kind = key == "constant_input" ? Kind::number : Kind::other;
  return spec;
}

OutputSpec read_output(const element& json) {
  const auto [key, value] = alternative(json);
  if (key == "user_output" || key == "loss_output") return {};
  OutputSpec spec{.is_user = false, .target = std::string(key)};
  for (const std::string_view field : {"buffer_name", "user_input_name", "parameter_name"})
    if (const auto target = find(value, field)) spec.target = text_of(*target);
  return spec;
}

}  // namespace

ExportedProgram read_exported(const Bytes& json) {
  const simdjson::padded_string text(json.text());
  simdjson::dom::parser parser;
  element root;
  if (parser.allocate(text.size() + 64, kMostNested) || parser.parse(text).get(root)) refuse_program("it is no JSON");
  ExportedProgram program;
  const element version = need(root, "schema_version");
  program.schema = version.is_object() ? int_of(need(version, "major")) : int_of(version);
  const element module = need(root, "graph_module");
  program.graph = read_graph(need(module, "graph"), 0);
  const element signature = need(module, "signature");
  const auto inputs = find(signature, "input_specs");
  if (!inputs)
    throw Error(Code::unsupported_format_version, "the exported program has schema 1, of a preview of PyTorch 2.1");
  for (const element& spec : list_of(*inputs)) program.inputs.push_back(read_input(spec));
  for (const element& spec : list_of(need(signature, "output_specs"))) program.outputs.push_back(read_output(spec));
  return program;
}

std::vector<Payload> read_payloads(const Bytes& json) {
  const simdjson::padded_string text(json.text());
  simdjson::dom::parser parser;
  element root;
  if (parser.allocate(text.size() + 64, kMostNested) || parser.parse(text).get(root))
    refuse_program("a list of tensors is no JSON");
  object entries;
  if (need(root, "config").get(entries)) refuse_program("a list of tensors is no object");
  std::vector<Payload> made;
  for (const auto& [name, value] : entries) {
    Payload payload{.name = std::string(name), .path = text_of(need(value, "path_name"))};
    const auto is_pickled = find(value, "use_pickle");
    payload.is_pickled = is_pickled && is_pickled->is_bool() && bool(*is_pickled);
    const auto meta = find(value, "tensor_meta");
    if (!meta && !payload.is_pickled) continue;  // an object of another kind
    if (meta) payload.meta = read_meta(*meta);
    made.push_back(std::move(payload));
  }
  return made;
}

}  // namespace ingot::formats::torch
