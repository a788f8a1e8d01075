// CSV files as the inputs of a model.
#include "ingot/train/table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "ingot/base/error.h"

namespace ingot::train {
namespace {

constexpr const char* kAllFeatures = "features";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto is_value = [&] {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return !text.empty() && error == std::errc() && stop == text.data() + text.size();
  };
  if (is_value()) return value;
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  return is_value() ? std::optional(value) : std::nullopt;
}

bool is_missing(std::string_view text) {
  constexpr std::string_view kWords[] = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"};
  return std::ranges::find(kWords, trimmed(text)) != std::end(kWords);
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 30); ++i) text += (i ? ", '" : "'") + names[i] + "'";
  return names.size() > 30 ? text + ", ..." : text;
}

[[noreturn]] void refuse_columns(const std::string& what, const std::vector<std::string>& names) {
  throw Error(Code::bad_training_data, what).hint("its columns are " + listed(names));
}

}  // namespace

Table::Table(Bytes file, const TableOptions& options)
    : file_(std::move(file)),
      reader_(file_),
      allows_missing_(options.allows_missing),
      reads_target_(options.reads_target),
      scale_(options.known.scale) {
  read_header(options);
  choose(options);
  collect_classes(options);
}

void Table::read_header(const TableOptions& options) {
  std::vector<std::string> first;
  if (!reader_.next(first)) throw Error(Code::bad_training_data, "the file is empty");
  std::vector<std::string> words;
  for (const std::string& field : first) words.emplace_back(trimmed(field));
  const auto has = [&](const std::string& name) {
    return !number_of(name) && std::ranges::find(words, name) != words.end();
  };
  // A first row without a number, or with a name that is asked for, is a header. Texts alone may be data.
  has_header_ = has(options.target) || has(options.known.target) || std::ranges::any_of(options.columns, has) ||
                std::ranges::any_of(options.known.columns, has) ||
                std::ranges::any_of(options.inputs, has, &TableInput::name) ||
                std::ranges::none_of(words, [](const std::string& s) { return number_of(s).has_value(); });
  if (has_header_) {
    names_ = std::move(words);
    std::set<std::string> seen;
    for (const std::string& name : names_)
      if (!seen.insert(name).second) refuse_columns("there are two columns '" + name + "'", names_);
    return;
  }
  for (std::size_t i = 0; i < first.size(); ++i) names_.push_back(std::to_string(i));
  reader_ = formats::csv::Reader(file_);
}

std::size_t Table::column(const std::string& name) const {
  return static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
}

void Table::choose(const TableOptions& options) {
  target_name_ = options.target;
  if (target_name_.empty() && has_header_ && column(options.known.target) < names_.size())
    target_name_ = options.known.target;
  if (!target_name_.empty()) {
    target_ = column(target_name_);
    if (*target_ == names_.size()) refuse_columns("there is no column '" + target_name_ + "'", names_);
  }
  if (options.columns.empty() && find_own_columns(options)) return;
  Part all{{kAllFeatures}, {}};
  if (options.inputs.size() == 1) all.input.dtype = options.inputs[0].dtype;
  const auto& known = options.known.columns;
  const std::vector<std::string>& wanted = options.columns.empty() && has_header_ ? known : options.columns;
  std::string missing;
  for (const std::string& name : wanted) {
    all.fields.push_back(column(name));
    if (all.fields.back() == names_.size()) missing += (missing.empty() ? "'" : ", '") + name + "'";
  }
  if (!missing.empty()) refuse_columns("the table lacks these columns, which the model needs: " + missing, names_);
  if (wanted.empty())
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (i != target_) all.fields.push_back(i);
  if (!has_header_ && !known.empty() && all.fields.size() != known.size())
    throw Error(Code::bad_training_data, "the table has no header and " + std::to_string(all.fields.size()) +
                                             " columns, the model takes " + std::to_string(known.size()) + ": " +
                                             listed(known));
  parts_.push_back(std::move(all));
}

bool Table::find_own_columns(const TableOptions& options) {
  if (!has_header_ || options.inputs.empty()) return false;
  std::vector<Part> parts;
  std::vector<std::string> missing;
  for (const TableInput& input : options.inputs) {
    Part part{input, {}};
    if (const std::size_t own = column(input.name); own < names_.size()) part.fields.push_back(own);
    for (std::size_t i = 0; part.fields.size() == i; ++i)
      if (const std::size_t next = column(input.name + "_" + std::to_string(i)); next < names_.size())
        part.fields.push_back(next);
    const bool fits = !input.width || static_cast<std::size_t>(*input.width) == part.fields.size();
    if (part.fields.empty() || !fits) missing.push_back(input.name);
    parts.push_back(std::move(part));
  }
  if (missing.empty()) {
    parts_ = std::move(parts);
    return true;
  }
  if (options.inputs.size() == 1) return false;
  refuse_columns("the table has no columns for " + std::string(missing.size() == 1 ? "the input " : "the inputs ") +
                     listed(missing) + " of the model",
                 names_);
}

void Table::collect_classes(const TableOptions& options) {
  if (!target_ || !reads_target_) return;
  classes_ = options.known.classes;
  std::set<std::string> words;
  bool has_numbers = false;
  formats::csv::Reader whole(file_);
  std::vector<std::string> fields;
  if (has_header_) whole.next(fields);
  while (whole.next(fields)) {
    if (*target_ >= fields.size()) continue;
    const std::string word(trimmed(fields[*target_]));
    if (number_of(word))
      has_numbers = true;
    else
      words.insert(word);
  }
  if (classes_.empty()) {
    classes_.assign(words.begin(), words.end());
    if (!words.empty() && has_numbers)
      throw Error(Code::bad_training_data, "column '" + target_name_ + "': numbers and words are mixed");
    return;
  }
  std::vector<std::string> strange;
  for (const std::string& word : words)
    if (std::ranges::find(classes_, word) == classes_.end()) strange.push_back(word);
  if (!strange.empty())
    throw Error(Code::bad_training_data, "column '" + target_name_ + "' has classes that the model does not know: " +
                                             listed(strange) + "; it knows " + listed(classes_))
        .hint("'train --classes N' gives the model a new head for other classes");
}

std::vector<std::string> Table::features() const {
  std::vector<std::string> names;
  if (parts_.size() != 1 || parts_[0].input.name != kAllFeatures || !has_header_) return names;
  for (const std::size_t field : parts_[0].fields) names.push_back(names_[field]);
  return names;
}

std::vector<std::string> Table::unused() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const bool is_used = std::ranges::any_of(
        parts_, [&](const Part& part) { return std::ranges::find(part.fields, i) != part.fields.end(); });
    if (!is_used && i != target_) names.push_back(names_[i]);
  }
  return names;
}

void Table::refuse(std::size_t row, std::size_t field, const std::string& why) const {
  throw Error(Code::bad_training_data,
              "row " + std::to_string(row_count_ - rows_ + row + 1) + ", column '" + names_[field] + "': " + why)
      .hint("only targets may be words: --target '" + names_[field] + "'; --columns chooses the features");
}

double Table::number(std::size_t row, std::size_t field) {
  const std::string_view text = this->text(row, field);
  if (const auto value = number_of(text)) return *value;
  for (const std::string_view word : {"True", "TRUE", "true"})
    if (text == word) return 1;
  for (const std::string_view word : {"False", "FALSE", "false"})
    if (text == word) return 0;
  if (!allows_missing_ || !is_missing(text)) refuse(row, field, "'" + std::string(text) + "' is no number");
  ++missing_;
  return std::numeric_limits<double>::quiet_NaN();
}

Table::Columns Table::read(std::size_t rows) {
  fields_.clear();
  texts_.clear();
  std::vector<std::string_view> fields;
  for (rows_ = 0; rows_ < rows && reader_.next(fields, texts_); ++rows_) {
    ++row_count_;
    if (fields.size() != names_.size())
      throw Error(Code::bad_training_data, "row " + std::to_string(row_count_) + " has " +
                                               std::to_string(fields.size()) + " fields, not " +
                                               std::to_string(names_.size()));
    fields_.insert(fields_.end(), fields.begin(), fields.end());
  }
  Columns columns;
  for (const Part& part : parts_) columns.emplace_back(part.input.name, part_of(part));
  if (target_ && reads_target_) columns.emplace_back(target_name_, targets());
  return columns;
}

std::vector<std::string> Table::last_texts(std::size_t column) const {
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < rows_; ++row) texts.emplace_back(text(row, column));
  return texts;
}

Array Table::part_of(const Part& part) {
  const Dims dims = {static_cast<std::int64_t>(rows_), static_cast<std::int64_t>(part.fields.size())};
  const DType dtype = part.input.dtype;
  if (dtype == DType::string) {
    Array texts(DType::string, dims);
    auto out = texts.mutable_data<std::string>().begin();
    for (std::size_t row = 0; row < rows_; ++row)
      for (const std::size_t field : part.fields) *out++ = text(row, field);
    return texts;
  }
  if (!is_float(dtype)) return wholes_of(part, dims);
  Array numbers(dtype == DType::f64 ? DType::f64 : DType::f32, dims);
  const auto fill = [&]<class T>(std::span<T> to) {
    auto out = to.begin();
    for (std::size_t row = 0; row < rows_; ++row)
      for (const std::size_t field : part.fields) *out++ = static_cast<T>(number(row, field) / scale_);
  };
  if (dtype == DType::f64)
    fill(numbers.mutable_data<double>());
  else
    fill(numbers.mutable_data<float>());
  return numbers;
}

Array Table::wholes_of(const Part& part, const Dims& dims) {
  std::vector<std::int64_t> values;
  for (std::size_t row = 0; row < rows_; ++row)
    for (const std::size_t field : part.fields) values.push_back(whole(row, field, part.input.dtype == DType::boolean));
  return Array::of<std::int64_t>(dims, values);
}

std::int64_t Table::whole(std::size_t row, std::size_t field, bool is_bool) const {
  const std::string_view text = trimmed(this->text(row, field));
  if (is_bool && (text == "true" || text == "True" || text == "TRUE")) return 1;
  if (is_bool && (text == "false" || text == "False" || text == "FALSE")) return 0;
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!text.empty() && error == std::errc() && stop == text.data() + text.size()) return value;
  const auto real = number_of(text);
  if (!real || *real != std::trunc(*real) || std::abs(*real) > 9007199254740992.0)
    refuse(row, field, "'" + std::string(text) + "' is no whole number, which the input takes");
  return static_cast<std::int64_t>(*real);
}

Array Table::targets() {
  std::vector<double> values;
  for (std::size_t row = 0; row < rows_; ++row) {
    const auto found = std::ranges::find(classes_, trimmed(text(row, *target_)));
    if (found != classes_.end())
      values.push_back(static_cast<double>(found - classes_.begin()));
    else
      values.push_back(number(row, *target_));
  }
  return Array::of<double>({static_cast<std::int64_t>(rows_)}, values);
}

}  // namespace ingot::train
