// JSON as text: by a parser of our own, since old files hold NaN and Infinity.
#include "ingot/formats/boosting/json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/utf8.h"

namespace ingot::formats::boosting {
namespace {

constexpr int kMostNested = 512;

class JsonParser {
 public:
  JsonParser(std::string_view text, Budget& budget) : text_(text), budget_(budget) {}

  Json parse() {
    Json json = value(0);
    skip_space();
    if (at_ != text_.size()) refuse("something after its end");
    return json;
  }

 private:
  [[noreturn]] void refuse(const char* what) const {
    throw Error(Code::bad_json, fmt::format("the JSON text has {} (at byte {})", what, at_));
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Json value(int depth) {
    if (depth > kMostNested) refuse("too many levels");
    skip_space();
    if (at_ >= text_.size()) refuse("no value where one must be");
    Json json;
    if (text_[at_] == '{') return object(depth);
    if (text_[at_] == '[') return array(depth);
    if (text_[at_] == '"') {
      json.kind = Json::Kind::text;
      json.text = string();
    } else if (accept_word("true") || accept_word("false")) {
      json.kind = Json::Kind::boolean;
      json.number = text_[at_ - 2] == 'u';
    } else if (!accept_word("null")) {
      json.kind = Json::Kind::number;
      json.number = number();
    }
    return json;
  }

  Json object(int depth) {
    Json json;
    json.kind = Json::Kind::object;
    accept('{');
    if (accept('}')) return json;
    do {
      skip_space();
      json.keys.push_back(string());
      if (!accept(':')) refuse("no colon after a key");
      json.items.push_back(value(depth + 1));
      budget_.poll();
    } while (accept(','));
    if (!accept('}')) refuse("an object without end");
    return json;
  }

  Json array(int depth) {
    Json json;
    json.kind = Json::Kind::numbers;
    accept('[');
    if (accept(']')) return json;
    do {
      Json item = value(depth + 1);
      if (json.is(Json::Kind::numbers) && item.is(Json::Kind::number)) {
        json.numbers.push_back(item.number);
        continue;
      }
      if (json.is(Json::Kind::numbers)) widen(json);
      json.items.push_back(std::move(item));
    } while (accept(','));
    if (!accept(']')) refuse("an array without end");
    return json;
  }

  static void widen(Json& json) {
    json.kind = Json::Kind::array;
    for (const double v : json.numbers) json.items.emplace_back(Json{.kind = Json::Kind::number, .number = v});
    json.numbers.clear();
  }

  double number() {
    double sign = 1;
    const std::size_t start = at_;
    if (text_[at_] == '-') {
      sign = -1;
      ++at_;
    }
    if (accept_word("NaN") || accept_word("nan")) return std::numeric_limits<double>::quiet_NaN();
    if (accept_word("Infinity") || accept_word("infinity") || accept_word("inf")) return sign * HUGE_VAL;
    at_ = start;
    double result = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), result);
    if (error == std::errc::invalid_argument) refuse("something that is no value");
    if (error == std::errc::result_out_of_range) {  // too small or too large: from_chars leaves it as it was
      const std::string_view digits(text_.data() + at_, static_cast<std::size_t>(end - text_.data()) - at_);
      result = digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos
                   ? 0
                   : sign * HUGE_VAL;
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    return result;
  }

  std::string string() {
    if (at_ >= text_.size() || text_[at_] != '"') refuse("no string where one must be");
    std::string result;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\') {
        result += text_[at_];
        continue;
      }
      if (++at_ >= text_.size()) break;
      constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
      if (const std::size_t i = kLetters.find(text_[at_]); i != std::string_view::npos)
        result += kMeanings[i];
      else if (text_[at_] == 'u')
        append_escape(result);
      else
        refuse("an escape that is none");
    }
    if (at_ >= text_.size()) refuse("a string without end");
    ++at_;
    return result;
  }

  std::uint32_t four_digits() {
    std::uint32_t code = 0;
    const std::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4) refuse("an escape that is none");
    at_ += 4;
    return code;
  }
  void append_escape(std::string& result) {
    std::uint32_t code = four_digits();
    if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_ + 1).starts_with("\\u")) {
      at_ += 2;
      const std::uint32_t low = four_digits();
      if (low >= 0xdc00 && low < 0xe000) code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(result, code);
  }

  std::string_view text_;
  Budget& budget_;
  std::size_t at_ = 0;
};

}  // namespace

const Json* Json::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key) return &items[i];
  return nullptr;
}

const Json& Json::at(std::string_view key) const {
  const Json* found = find(key);
  if (!found) throw Error(Code::bad_json, "'" + std::string(key) + "' is missing");
  return *found;
}

double Json::as_number() const {
  if (is(Kind::number) || is(Kind::boolean)) return number;
  double result = 0;
  if (is(Kind::text)) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error == std::errc() && end == text.data() + text.size()) return result;
  }
  throw Error(Code::bad_json, "a number is expected" + (is(Kind::text) ? ", not '" + text.substr(0, 40) + "'" : ""));
}

std::int64_t Json::as_integer() const {
  const double value = as_number();
  if (!(std::abs(value) < 9e15) || value != std::floor(value))
    throw Error(Code::bad_json, "a whole number is expected");
  return static_cast<std::int64_t>(value);
}

std::vector<double> Json::as_numbers() const {
  if (is(Kind::numbers)) return numbers;
  if (!is(Kind::array)) throw Error(Code::bad_json, "an array of numbers is expected");
  std::vector<double> values;
  for (const Json& item : items) values.push_back(item.as_number());
  return values;
}

std::vector<std::int64_t> Json::as_integers() const {
  std::vector<std::int64_t> values;
  for (const double v : as_numbers()) values.push_back(Json{.kind = Kind::number, .number = v}.as_integer());
  return values;
}

Json parse_json(std::string_view text, Budget* budget) {
  return JsonParser(text, budget ? *budget : Budget::unlimited()).parse();
}

}  // namespace ingot::formats::boosting
