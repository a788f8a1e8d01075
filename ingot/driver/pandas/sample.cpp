// A sample of a data frame: what its columns hold, and models run on it.
#include "ingot/driver/pandas/sample.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/formats/csv/csv.h"

namespace ingot::driver::pandas {
namespace {

using frontends::pandas::ColumnType;

// What pandas takes for missing.
constexpr std::array<std::string_view, 17> kMissing = {"",     "#N/A", "#N/A N/A", "#NA",     "-1.#IND", "-1.#QNAN",
                                                       "-NaN", "-nan", "1.#IND",   "1.#QNAN", "<NA>",    "N/A",
                                                       "NA",   "NULL", "NaN",      "n/a",     "nan"};

bool is_missing(std::string_view text) { return std::ranges::find(kMissing, text) != kMissing.end() || text == "null"; }

template <class T> bool parsed(std::string_view text, T& value) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto done = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && done.ec == std::errc() && done.ptr == text.data() + text.size();
}

bool is_truth(std::string_view text, bool& value) {
  value = text == "True" || text == "TRUE" || text == "true";
  return value || text == "False" || text == "FALSE" || text == "false";
}

ColumnType type_of(const std::vector<std::string>& column) {
  bool has_gap = false, is_whole = true, is_real = true, is_bool = true;
  for (const std::string& field : column) {
    if (field.empty()) {
      has_gap = true;
      continue;
    }
    std::int64_t whole = 0;
    double real = 0;
    bool truth = false;
    is_whole &= parsed(field, whole);
    is_real &= parsed(field, real);
    is_bool &= is_truth(field, truth);
  }
  if (is_whole && !has_gap) return ColumnType::integer;
  if (is_real) return ColumnType::real;
  return is_bool && !has_gap ? ColumnType::boolean : ColumnType::text;
}

Array array_of(const std::vector<std::string>& column, ColumnType type) {
  const Dims dims = {std::ssize(column), 1};
  if (type == ColumnType::text) return Array::of<std::string>(dims, column);
  std::vector<double> numbers;
  for (const std::string& field : column) {
    double value = std::nan("");
    bool truth = false;
    if (!parsed(field, value) && is_truth(field, truth)) value = truth ? 1 : 0;
    numbers.push_back(value);
  }
  if (type == ColumnType::real) return Array::of<double>(dims, numbers);
  if (type == ColumnType::integer)
    return Array::of<std::int64_t>(dims, std::vector<std::int64_t>(numbers.begin(), numbers.end()));
  Array made(DType::boolean, dims);
  for (std::size_t i = 0; i < numbers.size(); ++i) made.bytes()[i] = std::byte{numbers[i] != 0};
  return made;
}

}  // namespace

SampleTable read_sample(const Bytes& file, std::size_t most_rows) {
  formats::csv::Reader reader(file);
  std::vector<std::string> fields;
  if (!reader.next(fields)) throw Error(Code::bad_input, "the sample has no header");
  SampleTable table;
  const std::vector<std::string> names = fields;
  table.columns.resize(names.size());
  while (table.columns[0].size() < most_rows && reader.next(fields)) {
    if (fields.size() != names.size())
      throw Error(Code::bad_input, "line " + std::to_string(reader.line()) + " of the sample has " +
                                       std::to_string(fields.size()) + " fields instead of " +
                                       std::to_string(names.size()));
    for (std::size_t i = 0; i < fields.size(); ++i)
      table.columns[i].push_back(is_missing(fields[i]) ? std::string() : std::move(fields[i]));
  }
  if (table.columns[0].empty()) throw Error(Code::bad_input, "the sample has no rows");
  for (std::size_t i = 0; i < names.size(); ++i) table.schema.emplace_back(names[i], type_of(table.columns[i]));
  return table;
}

frontends::pandas::Schema parse_schema(const std::string& text) {
  frontends::pandas::Schema schema;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string entry = text.substr(start, end - start);
    const std::size_t colon = entry.rfind(':');
    const std::string word = colon == std::string::npos ? "" : entry.substr(colon + 1);
    const bool is_known = word == "float" || word == "int" || word == "bool" || word == "text";
    if (colon == 0 || !is_known)
      throw Error(Code::bad_usage, "'" + entry + "' is not a column and its type")
          .hint("such as age:int,price:float,name:text,is_new:bool");
    schema.emplace_back(entry.substr(0, colon), word == "float"  ? ColumnType::real
                                                : word == "int"  ? ColumnType::integer
                                                : word == "bool" ? ColumnType::boolean
                                                                 : ColumnType::text);
    start = end + 1;
  }
  return schema;
}

frontends::pandas::Sample run_on_sample(const Model& model, const SampleTable& sample) {
  std::vector<engine::NamedDatum> inputs;
  for (const Value* input : model.graph->inputs())
    for (std::size_t i = 0; i < sample.schema.size(); ++i)
      if (sample.schema[i].first == input->name())
        inputs.push_back({input->name(), array_of(sample.columns[i], sample.schema[i].second)});
  const auto outputs = engine::Session(model).run(inputs);
  const Array* array = outputs.at(0).value.array();
  if (!array) throw Error(Code::internal, "a column is no array");
  if (array->dtype() != DType::string) return {.numbers = array->to_doubles()};
  const auto texts = array->data<std::string>();
  return {.texts = {texts.begin(), texts.end()}};
}

}  // namespace ingot::driver::pandas
