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
    {"dequantize", set<&ConvertRequest::dequantize>},
    {"external_data", set<&ConvertRequest::external_data>},
    {"external_threshold", [](auto& r, const auto& v) { r.external_threshold = v.template cast<std::uint64_t>(); }},
    {"float16", [](auto& r, const auto& v) { set_half(r, v, DType::f16); }},
    {"from_format", [](auto& r, const auto& v) { r.from = &format_by_name(word(v)); }},
    {"functions", [](auto& r, const auto& v) { r.functions = to_path(v); }},
    {"half_ports", [](auto& r, const auto& v) { half_of(r).converts_ports = v.template cast<bool>(); }},
    {"infer_types", set<&ConvertRequest::infer_types>},
    {"input_shapes", [](auto& r, const auto& v) { r.input_shapes = to_input_shapes(v.template cast<py::dict>()); }},
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
    {"rename",
     [](auto& r, const auto& v) {
       for (const auto& [from, to] : v.template cast<py::dict>()) r.renames.emplace_back(word(from), word(to));
     }},
    {"signature", set<&ConvertRequest::signature>},
    {"standard", set<&ConvertRequest::standard>},
    {"tag", set<&ConvertRequest::tag>},
    {"target", set<&ConvertRequest::target>},
    {"to_format", [](auto& r, const auto& v) { r.to = &format_by_name(word(v)); }},
    {"weights", [](auto& r, const auto& v) { r.weights = driver::parse_weights(word(v)); }},
    {"weights_from", [](auto& r, const auto& v) { r.weights_from = to_path(v); }},
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
  return request;
}

AdjustOptions to_adjust(const ConvertRequest& r) {
  if (r.dequantize || r.keep_functions || r.keep_nhwc || r.mode || !r.signature.empty() || !r.tag.empty() ||
      !r.inputs.empty() || !r.outputs.empty() || !r.functions.empty() || !r.map_ops.empty() ||
      !r.weights_from.empty() || !r.optimizer_state.empty() || !r.loss.empty() || !r.optimizer.empty() ||
      r.keep_state || r.from)
    throw Error(Code::bad_usage, "what says how a file is read means nothing of a model in memory")
        .hint("give convert() the file");
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

SaveOptions to_save(const ConvertRequest& r) {
  SaveOptions options;
  options.to = r.to;
  options.external_data = r.external_data;
  options.external_threshold = r.external_threshold;
  options.weights = r.weights;
  options.native_lstm = r.native_lstm;
  options.layout = r.layout;
  options.allow_custom = r.allow_custom;
  return options;
}

}  // namespace ingot::python
