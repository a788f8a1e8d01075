// JSON texts become flat lists of values.
#include "ingot/formats/json/document.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/utf8.h"

namespace ingot::formats::json {

/// Values in the order of the text; a list's entries follow it, an object's keys and values in turn.
struct Tape {
  struct Cell {
    Value::Kind kind = Value::Kind::null;
    std::uint32_t next = 0;  // the cell behind this value and all in it
    union {
      std::int64_t integer;
      double real;
      struct {
        std::uint32_t begin, size;
      } text;
      std::uint32_t count;
    };
    Cell() : integer(0) {}
  };
  std::vector<Cell> cells;
  std::string texts;

  std::string_view text_of(const Cell& cell) const {
    return std::string_view(texts).substr(cell.text.begin, cell.text.size);
  }
  struct Parser;
};

namespace {

constexpr int kDeepest = 512;

}  // namespace

struct Tape::Parser {
  using Kind = Value::Kind;
  std::string_view in;
  std::size_t at = 0;
  Tape& tape;
  int depth = 0;

  [[noreturn]] void fail(const char* what) const {
    throw Error(Code::bad_json, fmt::format("the JSON is damaged at byte {}: {}", at, what));
  }
  void skip_space() {
    while (at < in.size() && (in[at] == ' ' || in[at] == '\t' || in[at] == '\n' || in[at] == '\r')) ++at;
  }
  char peek() const { return at < in.size() ? in[at] : '\0'; }
  bool take(char c) {
    skip_space();
    if (peek() != c) return false;
    ++at;
    return true;
  }
  bool take(std::string_view word) {
    if (!in.substr(at).starts_with(word)) return false;
    at += word.size();
    return true;
  }
  std::size_t add(Kind kind) {
    if (tape.cells.size() >= std::numeric_limits<std::uint32_t>::max() - 1) fail("it has too many values");
    tape.cells.emplace_back().kind = kind;
    tape.cells.back().next = static_cast<std::uint32_t>(tape.cells.size());
    return tape.cells.size() - 1;
  }

  void value() {
    skip_space();
    const char c = peek();
    if (c == '{' || c == '[') return nested(c == '{');
    if (c == '"') return text();
    if (take("true")) {
      tape.cells[add(Kind::boolean)].integer = 1;
    } else if (take("false")) {
      add(Kind::boolean);
    } else if (take("null")) {
      add(Kind::null);
    } else if (take("NaN")) {
      tape.cells[add(Kind::real)].real = std::numeric_limits<double>::quiet_NaN();
    } else if (take("Infinity")) {
      tape.cells[add(Kind::real)].real = std::numeric_limits<double>::infinity();
    } else if (take("-Infinity")) {
      tape.cells[add(Kind::real)].real = -std::numeric_limits<double>::infinity();
    } else {
      number();
    }
  }

  void nested(bool is_object) {
    if (++depth > kDeepest) fail("it is nested too deeply");
    ++at;
    const char end = is_object ? '}' : ']';
    const std::size_t head = add(is_object ? Kind::object : Kind::list);
    std::uint32_t count = 0;
    if (!take(end)) {
      do {
        if (is_object) {
          skip_space();
          if (peek() != '"') fail("a key is missing");
          text();
          if (!take(':')) fail("a ':' is missing");
        }
        value();
        ++count;
      } while (take(','));
      if (!take(end)) fail(is_object ? "a '}' is missing" : "a ']' is missing");
    }
    tape.cells[head].count = count;
    tape.cells[head].next = static_cast<std::uint32_t>(tape.cells.size());
    --depth;
  }

  void number() {
    const std::size_t begin = at;
    while (at < in.size() &&
           (std::string_view("+-.eE").find(in[at]) != std::string_view::npos || (in[at] >= '0' && in[at] <= '9')))
      ++at;
    const std::string_view word = in.substr(begin, at - begin);
    std::int64_t integer = 0;
    const auto whole = std::from_chars(word.data(), word.data() + word.size(), integer);
    if (whole.ec == std::errc() && whole.ptr == word.data() + word.size()) {
      tape.cells[add(Kind::integer)].integer = integer;
      return;
    }
    double real = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), real);
    if (word.empty() || parsed.ptr != word.data() + word.size() || parsed.ec == std::errc::invalid_argument)
      fail("this is no value");
    if (parsed.ec == std::errc::result_out_of_range) real = std::strtod(std::string(word).c_str(), nullptr);
    tape.cells[add(Kind::real)].real = real;
  }

  std::uint32_t hex4() {
    if (in.size() - at < 4) fail("an escape is cut off");
    std::uint32_t code = 0;
    const auto parsed = std::from_chars(in.data() + at, in.data() + at + 4, code, 16);
    if (parsed.ptr != in.data() + at + 4) fail("an escape is not hexadecimal");
    at += 4;
    return code;
  }

  void escape() {
    const char c = peek();
    ++at;
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t i = kLetters.find(c); c != '\0' && i != kLetters.npos) {
      tape.texts.push_back(kMeanings[i]);
      return;
    }
    if (c != 'u') fail("an escape is unknown");
    std::uint32_t code = hex4();
    if (code >= 0xd800 && code < 0xdc00 && take("\\u")) {
      const std::uint32_t low = hex4();
      code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
    }
    append_utf8(tape.texts, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
  }

  void text() {
    ++at;
    const std::size_t begin = tape.texts.size();
    for (;;) {
      const std::size_t stop = in.find_first_of("\"\\", at);
      if (stop == in.npos) fail("a text has no end");
      tape.texts.append(in, at, stop - at);
      at = stop + 1;
      if (in[stop] == '"') break;
      escape();
    }
    if (tape.texts.size() > std::numeric_limits<std::uint32_t>::max()) fail("it has too many texts");
    Cell& cell = tape.cells[add(Kind::text)];
    cell.text = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(tape.texts.size() - begin)};
  }
};

Value parse(std::string_view text, Budget* budget) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (budget) budget->charge_memory(text.size());
  auto tape = std::make_shared<Tape>();
  Tape::Parser parser{text, 0, *tape};
  parser.value();
  parser.skip_space();
  if (parser.at != text.size()) parser.fail("something follows the end");
  return Value(std::move(tape), 0);
}

Value::Kind Value::kind() const { return tape_->cells[at_].kind; }

std::optional<bool> Value::as_bool() const {
  if (is_bool() || is_integer()) return tape_->cells[at_].integer != 0;
  return std::nullopt;
}

std::optional<std::int64_t> Value::as_int() const {
  if (is_integer() || is_bool()) return tape_->cells[at_].integer;
  if (is_number()) {
    const double real = tape_->cells[at_].real;
    if (std::abs(real) < 9e15 && std::floor(real) == real) return static_cast<std::int64_t>(real);
  }
  return std::nullopt;
}

std::optional<double> Value::as_number() const {
  if (is_integer() || is_bool()) return static_cast<double>(tape_->cells[at_].integer);
  if (is_number()) return tape_->cells[at_].real;
  return std::nullopt;
}

std::string_view Value::text() const { return is_text() ? tape_->text_of(tape_->cells[at_]) : std::string_view(); }

std::size_t Value::size() const { return is_list() || is_object() ? tape_->cells[at_].count : 0; }

Value Value::operator[](std::size_t i) const {
  if (!is_list() || i >= size()) return {};
  std::uint32_t at = at_ + 1;
  for (; i > 0; --i) at = tape_->cells[at].next;
  return Value(tape_, at);
}

Value Value::operator[](std::string_view key) const {
  Value found;
  if (!is_object()) return found;
  std::uint32_t at = at_ + 1;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::uint32_t value = at + 1;
    if (tape_->text_of(tape_->cells[at]) == key) found = Value(tape_, value);
    at = tape_->cells[value].next;
  }
  return found;
}

std::vector<Value> Value::entries() const {
  std::vector<Value> all;
  if (!is_list()) return all;
  std::uint32_t at = at_ + 1;
  for (std::size_t i = 0; i < size(); ++i, at = tape_->cells[at].next) all.push_back(Value(tape_, at));
  return all;
}

std::vector<std::pair<std::string_view, Value>> Value::members() const {
  std::vector<std::pair<std::string_view, Value>> all;
  if (!is_object()) return all;
  std::uint32_t at = at_ + 1;
  for (std::size_t i = 0; i < size(); ++i) {
    all.emplace_back(tape_->text_of(tape_->cells[at]), Value(tape_, at + 1));
    at = tape_->cells[at + 1].next;
  }
  return all;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

void Value::write(std::string& out) const {
  if (is_null()) {
    out += "null";
  } else if (is_bool()) {
    out += *as_bool() ? "true" : "false";
  } else if (is_integer()) {
    out += std::to_string(*as_int());
  } else if (is_number()) {
    const double real = *as_number();
    out += std::isfinite(real) ? fmt::format("{}", real) : "null";
  } else if (is_text()) {
    out += quoted(text());
  } else {
    const char* between = "";
    out += is_list() ? '[' : '{';
    for (const Value& entry : entries()) {
      out += between;
      entry.write(out);
      between = ",";
    }
    for (const auto& [key, value] : members()) {
      out += between + quoted(key) + ':';
      value.write(out);
      between = ",";
    }
    out += is_list() ? ']' : '}';
  }
}

std::string Value::dump() const {
  std::string out;
  write(out);
  return out;
}

}  // namespace ingot::formats::json
