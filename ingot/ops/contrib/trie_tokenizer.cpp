// ai.onnx.contrib: TrieTokenizer, TrieDetokenizer: the longest token at each place, of a vocabulary written in Python.
#include <algorithm>
#include <limits>
#include <map>

#include "ingot/ops/contrib/machines.h"
#include "ingot/ops/contrib/prefix_table.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 32);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Reads what follows a backslash; false: no escape of Python.
bool unescape(std::string_view& text, bool is_bytes, std::string& out) {
  constexpr std::string_view kNames = "abfnrtv\\'\"", kMeaning = "\a\b\f\n\r\t\v\\'\"";
  if (text.empty()) return false;
  const char kind = text.front();
  text.remove_prefix(1);
  if (const std::size_t at = kNames.find(kind); at != kNames.npos) {
    out += kMeaning[at];
    return true;
  }
  const auto number = [&](std::size_t digits, char32_t& value) {
    if (text.size() < digits) return false;
    for (std::size_t i = 0; i < digits; ++i) {
      const int digit = hex(text[i]);
      if (digit < 0) return false;
      value = value << 4 | static_cast<char32_t>(digit);
    }
    text.remove_prefix(digits);
    return true;
  };
  char32_t code = 0;
  if (kind == 'x' ? !number(2, code) : kind == 'u' ? !number(4, code) : kind != 'U' || !number(8, code)) return false;
  if (code > 0x10FFFF) return false;
  if (is_bytes)
    out += static_cast<char>(code);
  else
    append_utf8(out, code);
  return true;
}

/// 'text', "text" or b'bytes' of Python; false: none of them.
bool literal(std::string_view text, std::string& out) {
  const bool is_bytes = text.starts_with('b');
  if (is_bytes) text.remove_prefix(1);
  if (text.size() < 2 || (text.front() != '\'' && text.front() != '"') || text.back() != text.front()) return false;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const char b = text.front();
    text.remove_prefix(1);
    if (b != '\\')
      out += b;
    else if (!unescape(text, is_bytes, out))
      return false;
  }
  return true;
}

/// Lines "number literal length".
std::map<std::int64_t, std::string> vocabulary_of(const Node& node) {
  std::map<std::int64_t, std::string> tokens;
  for (const std::string_view line : lines_of(need_text(node, "vocab"))) {
    const std::size_t first = line.find(' '), last = line.rfind(' ');
    std::int64_t id = 0, length = 0;
    std::string token;
    const bool is_good = first != line.npos && first != last && parse_int(line.substr(0, first), id) && id > 0 &&
                         id <= std::numeric_limits<std::int32_t>::max() &&
                         literal(line.substr(first + 1, last - first - 1), token) &&
                         parse_int(line.substr(last + 1), length) && length == std::ssize(token) && length > 0;
    if (!is_good) refuse_text(node, "a line of the vocabulary is not understood: " + std::string(line.substr(0, 60)));
    tokens[id] = std::move(token);
  }
  return tokens;
}

class TrieMachine : public TextMachine {
 public:
  explicit TrieMachine(const Node& node) {
    for (auto& [id, token] : vocabulary_of(node)) table_.add(token, id);
    table_.seal();
  }
  void run(KernelContext& c) const override {
    const Array& x = c.in(0);
    std::vector<std::vector<std::int64_t>> rows;
    std::size_t width = 0;
    Pace pace(c.host().budget());
    for (const std::string& text : x.data<std::string>()) {
      rows.emplace_back();
      for (std::string_view rest = text; !rest.empty();) {
        const PrefixTable::Match match = table_.longest(rest);
        if (match.length == 0) c.fail("no token fits what is left of a text");
        rows.back().push_back(match.value);
        rest.remove_prefix(match.length);
        pace.step(static_cast<std::int64_t>(match.length));
      }
      width = std::max(width, rows.back().size());
    }
    Dims dims = x.dims();
    dims.push_back(static_cast<std::int64_t>(width));
    const auto out = c.make(0, DType::i64, dims).mutable_data<std::int64_t>();
    for (std::size_t r = 0; r < rows.size(); ++r)
      std::ranges::copy(rows[r], out.begin() + static_cast<std::ptrdiff_t>(r * width));
  }

 private:
  PrefixTable table_;
};

class TrieDecoder : public TextMachine {
 public:
  explicit TrieDecoder(const Node& node) : tokens_(vocabulary_of(node)) {}
  void run(KernelContext& c) const override {
    const Array& x = c.in(0);
    if (x.rank() != 2) c.fail("tokens must have the shape [rows, n]");
    const auto width = static_cast<std::size_t>(x.dims()[1]);
    const auto ids = x.data<std::int64_t>();
    const auto out = c.make(0, DType::string, {x.dims()[0]}).mutable_data<std::string>();
    Pace pace(c.host().budget());
    for (std::size_t row = 0; row < out.size(); ++row) {
      for (const std::int64_t id : ids.subspan(row * width, width)) {
        if (const auto it = tokens_.find(id); it != tokens_.end()) out[row] += it->second;
        pace.step(1);
      }
      if (!is_utf8(out[row])) c.fail("the tokens of a row are not a text of UTF-8");
    }
  }

 private:
  std::map<std::int64_t, std::string> tokens_;
};

void infer_trie(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  Shape y = *x;
  y.push_back(c.data_dim(0, std::ssize(*x)));
  c.out_shape(0, std::move(y));
}

void infer_decoder(InferContext& c) {
  if (const Shape* x = c.shape(0); x && x->size() == 2) c.out_shape(0, {(*x)[0]});
}

}  // namespace

std::unique_ptr<TextMachine> make_trie(const Node& node) { return std::make_unique<TrieMachine>(node); }
std::unique_ptr<TextMachine> make_trie_decoder(const Node& node) { return std::make_unique<TrieDecoder>(node); }

constinit const OpDef defs::contrib::TrieDetokenizer = {
    .name = "TrieDetokenizer", .domain = kContrib, .infer = infer_decoder, .kernel = run_machine<TrieDecoder>};
constinit const OpDef defs::contrib::TrieTokenizer = {
    .name = "TrieTokenizer", .domain = kContrib, .infer = infer_trie, .kernel = run_machine<TrieMachine>};

}  // namespace ingot::ops
