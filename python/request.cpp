// Keyword arguments of convert().
#include "request.h"

#include <pybind11/stl.h>

namespace ingot::python {
namespace {

using Setter = void (*)(ConvertRequest&, const py::handle&);

template <auto member> void set(ConvertRequest& request, const py::handle& value) {
  auto& field = request.*member;
  field = value.cast<std::remove_reference_t<decltype(field)>>();
}

std::string word(const py::handle& value) { return py::str(value).cast<std::string>(); }

void set_half(ConvertRequest& request, const py::handle& value, DType to) {
  if (!value.cast<bool>()) return;
  if (!request.half) request.half.emplace();
  request.half->to = to;
}

passes::HalfOptions& half_of(ConvertRequest& request) {
  if (!request.half) request.half.emplace();
  return *request.half;
}

/// "age:int,name:text", or {"age": "int", "name": "text"}
std::string to_schema(const py::handle& value) {
  if (!py::isinstance<py::dict>(value)) return word(value);
  std::string text;
  for (const auto& [name, type] : value.cast<py::dict>())
    text += (text.empty() ? "" : ",") + word(name) + ":" + word(type);
  return text;
}

struct Row {
  std::string_view name;
  Setter set;
};

constexpr Row kRows[] = {
    {"allow_custom", set<&ConvertRequest::allow_custom>},
    {"allow_links", set<&ConvertRequest::allow_links>},
    {"auto_cast", [](auto& r, const auto& v) { r.auto_cast = driver::parse_auto_cast(word(v)); }},
    {"batch", [](auto& r, const auto& v) { r.batch = driver::parse_batch(word(v)); }},
    {"bfloat16", [](auto& r, const auto& v) { set_half(r, v, DType::bf16); }},
    {"checked", set<&ConvertRequest::requires_valid>},
    {"data", [](auto& r, const auto& v) { r.data = to_path(v); }},
    {"decision_path", set<&ConvertRequest::decision_path>},
    {"dequantize", set<&ConvertRequest::dequantize>},
    {"external_data", set<&ConvertRequest::external_data>},
    {"external_threshold", [](auto& r, const auto& v) { r.external_threshold = v.template cast<std::uint64_t>(); }},
    {"float16", [](auto& r, const auto& v) { set_half(r, v, DType::f16); }},
    {"from_format", [](auto& r, const auto& v) { r.from = &format_by_name(word(v)); }},
    {"functions", [](auto& r, const auto& v) { r.functions = to_path(v); }},
    {"half_ports", [](auto& r, const auto& v) { half_of(r).converts_ports = v.template cast<bool>(); }},
    {"infer_types", set<&ConvertRequest::infer_types>},
    {"input_shapes", [](auto& r, const auto& v) { r.input_shapes = to_input_shapes(v.template cast<py::dict>()); }},
    {"input_types",
     [](auto& r, const auto& v) {
       for (const auto& [name, type] : v.template cast<py::dict>())
         r.input_types.emplace_back(word(name), to_dtype(type));
     }},
    {"input_values",
     [](auto& r, const auto& v) {
       for (const auto& [name, value] : v.template cast<py::dict>())
         r.input_values.emplace_back(word(name), value.template cast<double>());
     }},
    {"inputs", set<&ConvertRequest::inputs>},
    {"inputs_as", [](auto& r, const auto& v) { r.layout.inputs_as = driver::parse_layout(word(v)); }},
    {"keep_float", [](auto& r, const auto& v) { half_of(r).keep = v.template cast<std::vector<std::string>>(); }},
    {"keep_functions", set<&ConvertRequest::keep_functions>},
    {"keep_nhwc", set<&ConvertRequest::keep_nhwc>},
    {"keep_state", set<&ConvertRequest::keep_state>},
    {"loss", set<&ConvertRequest::loss>},
    {"map_ops", [](auto& r, const auto& v) { r.map_ops = to_path(v); }},
    {"mode", [](auto& r, const auto& v) { r.mode = driver::parse_mode(word(v)); }},
    {"native_lstm", set<&ConvertRequest::native_lstm>},
    {"opset", [](auto& r, const auto& v) { r.opset = v.template cast<std::int64_t>(); }},
    {"optimizer", set<&ConvertRequest::optimizer>},
    {"optimizer_state", [](auto& r, const auto& v) { r.optimizer_state = to_path(v); }},
    {"outputs", set<&ConvertRequest::outputs>},
    {"outputs_as", [](auto& r, const auto& v) { r.layout.outputs_as = driver::parse_layout(word(v)); }},
    {"precision", [](auto& r, const auto& v) { r.precision = driver::parse_precision(word(v)); }},
    {"quantize", [](auto& r, const auto& v) { r.quantize = driver::parse_quantize(word(v)); }},
    {"raw_scores", set<&ConvertRequest::raw_scores>},
    {"rename",
     [](auto& r, const auto& v) {
       for (const auto& [from, to] : v.template cast<py::dict>()) r.renames.emplace_back(word(from), word(to));
     }},
    {"schema", [](auto& r, const auto& v) { r.schema = to_schema(v); }},
    {"sequences", [](auto& r, const auto& v) { r.sequences = driver::parse_sequences(word(v)); }},
    {"signature", set<&ConvertRequest::signature>},
    {"standard", set<&ConvertRequest::standard>},
    {"strings", set<&ConvertRequest::strings>},
    {"tag", set<&ConvertRequest::tag>},
    {"target", set<&ConvertRequest::target>},
    {"to_format", [](auto& r, const auto& v) { r.to = &format_by_name(word(v)); }},
    {"variables", set<&ConvertRequest::variables>},
    {"weights", [](auto& r, const auto& v) { r.weights = driver::parse_weights(word(v)); }},
    {"weights_from", [](auto& r, const auto& v) { r.weights_from = to_path(v); }},
    {"zipmap", set<&ConvertRequest::zipmap>},
};

}  // namespace

ConvertRequest to_request(const py::dict& options) {
  ConvertRequest request;
  request.requires_valid = true;
  for (const auto& [key, value] : options) {
    if (value.is_none()) continue;
    const std::string name = word(key);
    const auto row = std::ranges::find(kRows, name, &Row::name);
    if (row == std::end(kRows)) throw py::type_error("convert() has no option '" + name + "'");
    row->set(request, value);
  }
  const auto is_on = [&](const char* name) { return options.contains(name) && options[name].cast<bool>(); };
  if (request.half && !is_on("float16") && !is_on("bfloat16"))
    throw Error(Code::bad_usage, "keep_float and half_ports do nothing by themselves").hint("add float16 or bfloat16");
  return request;
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

LoadOptions to_load(const ConvertRequest& r) {
  LoadOptions options;
  options.from = r.from;
  options.import = driver::import_part(r);
  options.requires_valid = r.requires_valid;
  options.allow_links = r.allow_links;
  return options;
}

AdjustOptions to_adjust(const ConvertRequest& r) {
  AdjustOptions options;
  options.opset = r.opset;
  options.target = r.target;
  options.input_shapes = r.input_shapes;
  options.batch = r.batch;
  options.renames = r.renames;
  options.infer_types = r.infer_types;
  options.auto_cast = r.auto_cast.value_or(AutoCast::none);
  options.standard = r.standard;
  options.half = r.half;
  return options;
}

void refuse_reading(const ConvertRequest& request) {
  driver::ImportOptions import = driver::import_part(request);
  import.allow_custom.clear();  // these the writer takes too
  import.layout = {};
  if (driver::given(import).empty() && !request.from) return;
  throw Error(Code::bad_usage, "what says how a file is read means nothing of a model in memory")
      .hint("give convert() or load() the file");
}

void refuse_writing(const ConvertRequest& request) {
  driver::SaveOptions save = driver::save_part(request);
  save.allow_custom.clear();  // these the reader takes too
  save.layout = {};
  const bool adjusts = request.opset || !request.target.empty() || request.batch || !request.renames.empty() ||
                       request.infer_types || request.standard || request.half;
  if (driver::given(save).empty() && !request.to && !adjusts) return;
  throw Error(Code::bad_usage, "load() takes what says how a file is read").hint("convert() changes models");
}

}  // namespace ingot::python
