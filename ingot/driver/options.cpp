// The words of options, and who takes which.
#include "ingot/driver/options.h"

#include <algorithm>
#include <charconv>

#include "ingot/base/error.h"
#include "ingot/driver/format.h"

namespace ingot::driver {
namespace {

template <class T> struct Word {
  std::string_view word;
  T value;
};

/// The value of a word; `what` says what the word is not, for people.
template <class T, std::size_t n>
T parsed(std::string_view word, const Word<T> (&known)[n], const std::string& what, const std::string& words) {
  for (const Word<T>& one : known)
    if (one.word == word) return one.value;
  throw Error(Code::bad_usage, "'" + std::string(word) + "' is " + what).hint(words);
}

Error not_a_shape(const std::string& text) {
  return Error(Code::bad_usage, "'" + text + "' is not an input shape").hint("such as x:1,3,224,224 or x:N,?,10");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// "--tag is taken from tensorflow, savedmodel"
std::string takers_of(Option option) {
  std::vector<std::string> from, to;
  for (const Format* format : all_formats()) {
    if (format->import_options.has(option)) from.emplace_back(format->name);
    if (format->export_options.has(option)) to.emplace_back(format->name);
  }
  std::string text = std::string(flag_of(option)) + " is taken";
  if (!from.empty()) text += " from " + joined(from);
  if (!from.empty() && !to.empty()) text += " and";
  if (!to.empty()) text += " to " + joined(to);
  return from.empty() && to.empty() ? std::string(flag_of(option)) + " is taken by no format" : text;
}

}  // namespace

AutoCast parse_auto_cast(std::string_view word) {
  constexpr Word<AutoCast> kWords[] = {{"none", AutoCast::none}, {"up", AutoCast::up}, {"all", AutoCast::all}};
  return parsed(word, kWords, "not a rule for casts", "none, up or all");
}

Layout parse_layout(std::string_view word) {
  if (const auto layout = passes::layout_by_name(word)) return *layout;
  throw Error(Code::bad_usage, "'" + std::string(word) + "' is not a layout").hint("nchw or nhwc");
}

Mode parse_mode(std::string_view word) {
  constexpr Word<Mode> kWords[] = {{"inference", Mode::inference}, {"training", Mode::training}, {"both", Mode::both}};
  return parsed(word, kWords, "not a mode", "inference, training or both");
}

WeightForm parse_weights(std::string_view word) {
  constexpr Word<WeightForm> kWords[] = {{"as_is", WeightForm::as_is}, {"float16", WeightForm::float16}};
  return parsed(word, kWords, "no form of weights", "as_is or float16");
}

Precision parse_precision(std::string_view word) {
  constexpr Word<Precision> kWords[] = {{"float64", Precision::float64}, {"float32", Precision::float32}};
  return parsed(word, kWords, "not a precision", "float64 or float32");
}

Quantize parse_quantize(std::string_view word) {
  constexpr Word<Quantize> kWords[] = {
      {"float16", Quantize::float16}, {"uint8", Quantize::uint8}, {"uint16", Quantize::uint16}};
  return parsed(word, kWords, "no form of weights", "float16, uint8 or uint16");
}

Sequences parse_sequences(std::string_view word) {
  constexpr Word<Sequences> kWords[] = {{"lists", Sequences::lists}, {"ragged", Sequences::ragged}};
  return parsed(word, kWords, "no form of sequences", "lists or ragged");
}

std::pair<std::string, Shape> parse_input_shape(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) throw not_a_shape(text);
  Shape shape;
  std::string rest = text.substr(colon + 1);
  for (std::size_t start = 0; !rest.empty() && start <= rest.size();) {
    const std::size_t end = std::min(rest.find(',', start), rest.size());
    const std::string word = rest.substr(start, end - start);
    const bool is_number = !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
    if (word.empty() || word.size() > 100 || (is_number && word.size() > 18)) throw not_a_shape(text);
    if (is_number)
      shape.push_back(Dim(std::stoll(word)));
    else if (word == "?" || word == "-1")
      shape.push_back(Dim());
    else
      shape.push_back(Dim::symbol(word));
    start = end + 1;
  }
  return {text.substr(0, colon), std::move(shape)};
}

std::pair<std::string, DType> parse_input_type(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto dtype = colon == std::string::npos ? std::nullopt : dtype_from_name(text.substr(colon + 1));
  if (colon == 0 || !dtype || *dtype == DType::undefined)
    throw Error(Code::bad_usage, "'" + text + "' is not an input's type").hint("such as x:int64 or x:float16");
  return {text.substr(0, colon), *dtype};
}

std::pair<std::string, double> parse_input_value(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string word = equals == std::string::npos ? std::string() : text.substr(equals + 1);
  double value = word == "true" ? 1 : 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool is_number = read.ec == std::errc() && read.ptr == word.data() + word.size();
  if (equals == 0 || (!is_number && word != "true" && word != "false"))
    throw Error(Code::bad_usage, "'" + text + "' is not an input's value").hint("such as rate=16000 or is_fast=true");
  return {text.substr(0, equals), value};
}

Dim parse_batch(const std::string& text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool is_number = !text.empty() && text.size() < 10 && std::ranges::all_of(text, is_digit);
  if (is_number && std::stoll(text) > 0) return Dim(std::stoll(text));
  if (!text.empty() && text.size() <= 100 && is_letter(text.front())) return Dim::symbol(text);
  throw Error(Code::bad_usage, "'" + text + "' is not a batch").hint("a number above zero, or a name such as N");
}

std::pair<std::string, std::string> parse_rename(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(Code::bad_usage, "'" + text + "' is not a renaming").hint("such as old=new");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string parse_operator(const std::string& text) {
  if (text.empty() || text.front() == ':')
    throw Error(Code::bad_usage, "'" + text + "' does not name an operator").hint("Op or Op:domain");
  return text;
}

std::string_view flag_of(Option option) { return kOptionFlags[static_cast<std::size_t>(option)]; }

void require_taken(OptionSet given, const Format* from, const Format* to) {
  if (from) given = given.without(from->import_options);
  if (to) given = given.without(to->export_options);
  if (given.empty()) return;
  std::vector<std::string> flags, takers;
  for (std::size_t i = 0; i < kOptionCount; ++i)
    if (const auto option = static_cast<Option>(i); given.has(option)) {
      flags.emplace_back(flag_of(option));
      takers.push_back(takers_of(option));
    }
  std::string hint;
  for (const std::string& line : takers) hint += (hint.empty() ? "" : "; ") + line;
  const std::string whom = from && to
                               ? "a conversion from " + std::string(from->title) + " to " + std::string(to->title)
                           : from ? "reading " + std::string(from->title)
                                  : "writing " + std::string(to->title);
  throw Error(Code::bad_usage, whom + " does not take " + joined(flags)).hint(hint);
}

}  // namespace ingot::driver
