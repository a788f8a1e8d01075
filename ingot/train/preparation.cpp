// What a model says about the data it was trained on.
#include "ingot/train/preparation.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/csv/csv.h"
#include "ingot/ir/source_notes.h"

namespace ingot::train {
namespace {

constexpr std::string_view kClasses = "ingot.classes", kColumns = "ingot.columns", kTarget = "ingot.target",
                           kScale = "ingot.scale", kMean = "ingot.mean", kDeviation = "ingot.std",
                           kResize = "ingot.resize", kScores = "ingot.scores";

/// A list is a row of a table: names with commas in them stand in quotes.
std::string joined(const std::vector<std::string>& entries) {
  std::string text;
  for (std::size_t i = 0; i < entries.size(); ++i) text += (i ? "," : "") + formats::csv::field(entries[i]);
  return text;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> entries;
  formats::csv::Reader(Bytes::copy(bytes_of(text))).next(entries);
  return entries;
}

std::string text_of(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", number);
    text += (text.empty() ? "" : ",") + std::string(digits);
  }
  return text;
}

std::vector<double> stored_numbers(const Model& model, std::string_view key) {
  const std::string text(note_of(model.metadata, key));
  if (text.empty()) return {};
  try {
    std::vector<double> numbers = parse_numbers(text);
    const bool divides = key != kMean;
    if (divides && std::ranges::any_of(numbers, [](double v) { return v == 0; }))
      throw Error(Code::bad_usage, "a divisor of 0");
    return numbers;
  } catch (const Error&) {
    throw Error(Code::bad_annotation, "the model's property " + std::string(key) + " is '" + text.substr(0, 100) +
                                          "', which is no list of numbers to prepare data with");
  }
}

/// "0 goldfish", "1: shark", ... with every number in its place, counted from 0 or 1.
bool is_numbered(const std::vector<std::string>& labels) {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    std::size_t number = 0;
    const char* end = labels[i].data() + labels[i].size();
    const auto [stop, error] = std::from_chars(labels[i].data(), end, number);
    if (error != std::errc() || stop == end || std::string_view(" :\t").find(*stop) == std::string_view::npos)
      return false;
    if (!first) first = number;
    if (*first > 1 || number != *first + i) return false;
  }
  return first.has_value();
}

}  // namespace

std::vector<double> parse_numbers(const std::string& text) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    double number = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, number);
    if (error != std::errc() || stop != text.data() + end || !std::isfinite(number))
      throw Error(Code::bad_usage, "'" + text + "' is no list of numbers").hint("such as 0.5 or 0.485,0.456,0.406");
    numbers.push_back(number);
    at = end + 1;
  }
  return numbers;
}

Preparation preparation_of(const Model& model) {
  Preparation p;
  if (const auto scale = stored_numbers(model, kScale); !scale.empty()) p.scale = scale.front();
  p.mean = stored_numbers(model, kMean);
  p.deviation = stored_numbers(model, kDeviation);
  p.columns = split_list(note_of(model.metadata, kColumns));
  p.classes = split_list(note_of(model.metadata, kClasses));
  p.target = note_of(model.metadata, kTarget);
  p.resize = note_of(model.metadata, kResize);
  p.scores = note_of(model.metadata, kScores);
  return p;
}

void store(const Preparation& p, Model& model) {
  const auto set = [&](std::string_view key, const std::string& text) {
    std::erase_if(model.metadata, [&](const auto& entry) { return entry.first == key; });
    if (!text.empty()) model.metadata.emplace_back(key, text);
  };
  set(kScale, p.scale == 1 ? std::string() : text_of({p.scale}));
  set(kMean, text_of(p.mean));
  set(kDeviation, text_of(p.deviation));
  set(kColumns, joined(p.columns));
  set(kClasses, joined(p.classes));
  set(kTarget, p.target);
  set(kResize, p.resize);
  set(kScores, p.scores);
}

std::vector<std::string> read_labels(const std::string& file_or_words) {
  std::vector<std::string> labels;
  if (std::error_code none; std::filesystem::is_regular_file(file_or_words, none)) {
    const Bytes file = map_file(file_or_words);
    for (std::string_view rest = file.text(); !rest.empty();) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
      if (!line.empty()) labels.emplace_back(line);
    }
    if (is_numbered(labels))
      for (std::string& label : labels) {
        label.erase(0, label.find_first_not_of("0123456789"));
        label.erase(0, label.find_first_not_of(":\t "));
      }
  } else {
    for (std::size_t at = 0; at <= file_or_words.size();) {
      const std::size_t end = std::min(file_or_words.find(',', at), file_or_words.size());
      labels.push_back(file_or_words.substr(at, end - at));
      at = end + 1;
    }
  }
  if (labels.empty()) throw Error(Code::bad_usage, "'" + file_or_words + "' holds no names of classes");
  return labels;
}

}  // namespace ingot::train
