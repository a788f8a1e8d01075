// Keyword arguments of convert().
#include "request.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <map>

namespace ingot::python {
namespace {

std::string spelt(const py::handle& value) { return py::str(value).cast<std::string>(); }

/// "age:int,name:text", or {"age": "int", "name": "text"}
std::string to_schema(const py::handle& value) {
  if (!py::isinstance<py::dict>(value)) return spelt(value);
  std::string text;
  for (const auto& [name, type] : value.cast<py::dict>())
    text += (text.empty() ? "" : ",") + spelt(name) + ":" + spelt(type);
  return text;
}

/// What Python says otherwise than the command line does: by dictionaries, and where a word is one of its own.
struct Row {
  std::string_view name;
  std::string_view word;  // of the command line, which this stands for; empty: of none
  void (*set)(ConvertRequest&, const py::handle&) = nullptr;  // null: as the word does
};

constexpr Row kRows[] = {
    {"allow_links", "", [](auto& r, const auto& v) { r.allow_links = v.template cast<bool>(); }},
    {"checked", "", [](auto& r, const auto& v) { r.requires_valid = v.template cast<bool>(); }},
    {"from_format", "from"},
    {"input_shapes", "input-shape",
     [](auto& r, const auto& v) { r.input_shapes = to_input_shapes(v.template cast<py::dict>()); }},
    {"input_types", "input-type",
     [](auto& r, const auto& v) {
       for (const auto& [name, type] : v.template cast<py::dict>())
         r.input_types.emplace_back(spelt(name), to_dtype(type));
     }},
    {"input_values", "input-value",
     [](auto& r, const auto& v) {
       for (const auto& [name, value] : v.template cast<py::dict>())
         r.input_values.emplace_back(spelt(name), value.template cast<double>());
     }},
    {"rename", "rename",
     [](auto& r, const auto& v) {
       for (const auto& [from, to] : v.template cast<py::dict>()) r.renames.emplace_back(spelt(from), spelt(to));
     }},
    {"schema", "schema", [](auto& r, const auto& v) { r.schema = to_schema(v); }},
    {"target", "for"},
    {"to_format", "to"},
};

/// All that convert() takes: the command line's words, but for those that Python says in its own.
std::map<std::string, Row> all_rows() {
  std::map<std::string, Row> rows;
  for (const Row& row : kRows) rows.emplace(row.name, row);
  for (const driver::ConvertWord& word : driver::convert_words()) {
    if (std::ranges::find(kRows, word.name, &Row::word) != std::end(kRows)) continue;
    std::string name(word.name);
    std::ranges::replace(name, '-', '_');
    rows.emplace(name, Row{word.name, word.name});
  }
  return rows;
}

/// A value as the command line would have it.
void say(std::vector<driver::WordGiven>& words, const driver::ConvertWord& word, const py::handle& value) {
  using Takes = driver::ConvertWord::Takes;
  const std::string name(word.name);
  if (word.takes == Takes::nothing) {
    if (value.cast<bool>()) words.push_back({name});
  } else if (word.takes == Takes::one) {
    words.push_back({name, py::hasattr(value, "__fspath__") ? to_path(value) : spelt(value)});
  } else {
    for (std::string& text : value.cast<std::vector<std::string>>()) words.push_back({name, std::move(text)});
  }
}

}  // namespace

ConvertRequest to_request(const py::dict& options) {
  const std::map<std::string, Row> rows = all_rows();
  ConvertRequest request;
  request.requires_valid = true;
  std::vector<driver::WordGiven> words;
  for (const auto& [key, value] : options) {
    if (value.is_none()) continue;
    const std::string name = spelt(key);
    const auto row = rows.find(name);
    if (row == rows.end())
      throw py::type_error("convert() has no option '" + name + "'; ingot.convert_options() names them");
    if (row->second.set)
      row->second.set(request, value);
    else
      say(words, driver::convert_word(row->second.word), value);
  }
  driver::set_words(request, words);
  return request;
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const auto& [name, row] : all_rows()) names.push_back(name);
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
