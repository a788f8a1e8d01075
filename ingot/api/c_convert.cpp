// Converting across the C interface: the options of `ingot convert` by name.
#include <charconv>

#include "ingot/api/c_handles.h"
#include "ingot/driver/convert.h"

namespace {

using ingot::Code;
using ingot::Error;
using ingot::driver::ConvertRequest;

template <class T> T number(const std::string& option, const std::string& text) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    throw Error(Code::bad_usage, "option '" + option + "': '" + text + "' is no whole number");
  return value;
}

void refuse_value(const std::string& option, const std::string& value) {
  if (!value.empty()) throw Error(Code::bad_usage, "option '" + option + "' takes no value, but has '" + value + "'");
}

using Set = void (*)(ConvertRequest&, const std::string& option, const std::string& value);

template <bool ConvertRequest::*field, bool value = true>
void flag(ConvertRequest& r, const std::string& option, const std::string& v) {
  refuse_value(option, v);
  r.*field = value;
}
template <std::string ConvertRequest::*field> void text(ConvertRequest& r, const std::string&, const std::string& v) {
  r.*field = v;
}
template <std::vector<std::string> ConvertRequest::*field>
void list(ConvertRequest& r, const std::string&, const std::string& v) {
  (r.*field).push_back(v);
}

namespace driver = ingot::driver;
struct Row {
  std::string_view name;
  Set set;
};
constexpr Row kOptions[] = {
    {"allow-custom", [](ConvertRequest& r, const std::string&,
                        const std::string& v) { r.allow_custom.push_back(driver::parse_operator(v)); }},
    {"auto-cast",
     [](ConvertRequest& r, const std::string&, const std::string& v) { r.auto_cast = driver::parse_auto_cast(v); }},
    {"batch", [](ConvertRequest& r, const std::string&, const std::string& v) { r.batch = driver::parse_batch(v); }},
    {"data", text<&ConvertRequest::data>},
    {"decision-path", flag<&ConvertRequest::decision_path>},
    {"dequantize", flag<&ConvertRequest::dequantize>},
    {"external-data", flag<&ConvertRequest::external_data>},
    {"external-threshold", [](ConvertRequest& r, const std::string& o,
                              const std::string& v) { r.external_threshold = number<std::uint64_t>(o, v); }},
    {"for", text<&ConvertRequest::target>},
    {"from", [](ConvertRequest& r, const std::string&, const std::string& v) { r.from = &driver::format_by_name(v); }},
    {"functions", text<&ConvertRequest::functions>},
    {"infer-types", flag<&ConvertRequest::infer_types>},
    {"input-shape", [](ConvertRequest& r, const std::string&,
                       const std::string& v) { r.input_shapes.push_back(driver::parse_input_shape(v)); }},
    {"inputs", list<&ConvertRequest::inputs>},
    {"input-type", [](ConvertRequest& r, const std::string&,
                      const std::string& v) { r.input_types.push_back(driver::parse_input_type(v)); }},
    {"input-value", [](ConvertRequest& r, const std::string&,
                       const std::string& v) { r.input_values.push_back(driver::parse_input_value(v)); }},
    {"inputs-as",
     [](ConvertRequest& r, const std::string&, const std::string& v) { r.layout.inputs_as = driver::parse_layout(v); }},
    {"keep-functions", flag<&ConvertRequest::keep_functions>},
    {"keep-nhwc", flag<&ConvertRequest::keep_nhwc>},
    {"keep-state", flag<&ConvertRequest::keep_state>},
    {"loss", text<&ConvertRequest::loss>},
    {"map-ops", text<&ConvertRequest::map_ops>},
    {"mode", [](ConvertRequest& r, const std::string&, const std::string& v) { r.mode = driver::parse_mode(v); }},
    {"native-lstm", flag<&ConvertRequest::native_lstm>},
    {"opset",
     [](ConvertRequest& r, const std::string& o, const std::string& v) { r.opset = number<std::int64_t>(o, v); }},
    {"optimizer", text<&ConvertRequest::optimizer>},
    {"optimizer-state", text<&ConvertRequest::optimizer_state>},
    {"outputs", list<&ConvertRequest::outputs>},
    {"outputs-as", [](ConvertRequest& r, const std::string&,
                      const std::string& v) { r.layout.outputs_as = driver::parse_layout(v); }},
    {"precision",
     [](ConvertRequest& r, const std::string&, const std::string& v) { r.precision = driver::parse_precision(v); }},
    {"raw-scores", flag<&ConvertRequest::raw_scores>},
    {"quantize",
     [](ConvertRequest& r, const std::string&, const std::string& v) { r.quantize = driver::parse_quantize(v); }},
    {"rename",
     [](ConvertRequest& r, const std::string&, const std::string& v) { r.renames.push_back(driver::parse_rename(v)); }},
    {"schema", text<&ConvertRequest::schema>},
    {"sequences",
     [](ConvertRequest& r, const std::string&, const std::string& v) { r.sequences = driver::parse_sequences(v); }},
    {"signature", text<&ConvertRequest::signature>},
    {"standard", flag<&ConvertRequest::standard>},
    {"strings", text<&ConvertRequest::strings>},
    {"tag", text<&ConvertRequest::tag>},
    {"to", [](ConvertRequest& r, const std::string&, const std::string& v) { r.to = &driver::format_by_name(v); }},
    {"unchecked", flag<&ConvertRequest::requires_valid, false>},
    {"variables", flag<&ConvertRequest::variables>},
    {"weights",
     [](ConvertRequest& r, const std::string&, const std::string& v) { r.weights = driver::parse_weights(v); }},
    {"weights-from", text<&ConvertRequest::weights_from>},
    {"zipmap", flag<&ConvertRequest::zipmap>},
};

void set_option(ConvertRequest& request, const std::string& name, const std::string& value) {
  std::string known;
  for (const Row& row : kOptions) {
    if (row.name == name) return row.set(request, name, value);
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error(Code::bad_usage, "there is no option '" + name + "'").hint("options: " + known);
}

}  // namespace

extern "C" {

ingot_status ingot_convert(const char* input, const char* output, const ingot_option* options, size_t option_count,
                           ingot_report** report, ingot_error** error) {
  return ingot::guarded(error, [&] {
    if (report) *report = nullptr;
    ConvertRequest request;
    request.input = ingot::required(input, "input");
    request.output = ingot::required(output, "output");
    if (option_count) ingot::required(options, "options");
    for (size_t i = 0; i < option_count; ++i)
      set_option(request, ingot::required(options[i].name, "options[i].name"),
                 options[i].value ? options[i].value : "");
    driver::ConvertReport done = driver::convert(request);
    if (report) *report = new ingot_report{std::move(done.notes)};
  });
}

size_t ingot_report_note_count(const ingot_report* report) { return report ? report->notes.size() : 0; }
const char* ingot_report_note(const ingot_report* report, size_t index) {
  return report && index < report->notes.size() ? report->notes[index].c_str() : nullptr;
}
void ingot_report_free(ingot_report* report) { delete report; }

}  // extern "C"
