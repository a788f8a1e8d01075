// From texts to tokens, as the vectorisers of scikit-learn cut them.
#include "ingot/frontends/sklearn/analyze.h"

#include <array>

#include "ingot/base/error.h"

namespace ingot::frontends::sklearn {
namespace {

constexpr std::string_view kEnglishStopWords[] = {
#include "ingot/frontends/sklearn/english_stop_words.inc"
};

// What Python's \s and str.split() take for white space.
constexpr std::array<const char*, 29> kSpaces = {
    " ",      "\t",     "\n",     "\r",     "\f",     "\v",     "\x1c",   "\x1d",   "\x1e",   "\x1f",
    "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
constexpr const char* kWord = R"([^\s\x0b\x1c-\x1f\x{85}\p{Z}]+)";

/// Python's classes of characters mean letters and digits of all scripts; RE2's mean ASCII.
std::string re2_class(char letter, bool is_inside) {
  switch (letter) {
    case 'w':
      return is_inside ? R"(\p{L}\p{N}_)" : R"([\p{L}\p{N}_])";
    case 'd':
      return R"(\p{Nd})";
    case 's':
      return is_inside ? R"(\s\x0b\p{Z})" : R"([\s\x0b\p{Z}])";
    case 'W':
      return is_inside ? "" : R"([^\p{L}\p{N}_])";
    case 'D':
      return is_inside ? "" : R"(\P{Nd})";
    case 'S':
      return is_inside ? "" : R"([^\s\x0b\p{Z}])";
    default:
      return std::string("\\") + letter;
  }
}

[[noreturn]] void refuse_pattern(const std::string& pattern, const std::string& why) {
  refuse("the token pattern '" + pattern + "' is not translated: " + why);
}

/// The expression of a token, as RE2 writes it.
std::string token_expression(const Estimator& e) {
  const std::string pattern = e.text("token_pattern", R"((?u)\b\w\w+\b)");
  std::string_view rest = pattern;
  if (rest.starts_with("(?u)")) rest.remove_prefix(4);
  // Runs of word characters end at their borders by themselves, which RE2's \b would find for ASCII only.
  if (rest == R"(\b\w\w+\b)") return R"([\p{L}\p{N}_]{2,})";
  if (rest == R"(\b\w+\b)" || rest == R"(\w+)") return R"([\p{L}\p{N}_]+)";
  std::string made;
  bool is_inside = false;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char ch = rest[i];
    const char next = i + 1 < rest.size() ? rest[i + 1] : '\0';
    if (ch == '\\') {
      const std::string part = re2_class(next, is_inside);
      if (part.empty() || next == '\0' || (next >= '1' && next <= '9'))
        refuse_pattern(pattern, std::string("\\") + next + " stands where RE2 has no word for it");
      made += part;
      ++i;
      continue;
    }
    if (!is_inside && ch == '(' && !rest.substr(i).starts_with("(?:")) refuse_pattern(pattern, "it has groups");
    if (!is_inside && next == '?' && (ch == '+' || ch == '*' || ch == '?' || ch == '}'))
      refuse_pattern(pattern, "it takes as little as it can");
    if (ch == '[') is_inside = true;
    if (ch == ']') is_inside = false;
    made += ch;
  }
  if (made.empty()) refuse_pattern(pattern, "it is empty");
  return made;
}

Value* cut(Context& c, Value* texts, Attr how) {
  Node* node = c.g.node("Tokenizer", "com.microsoft", {texts},
                        {{"mark", 0}, {"mincharnum", 1}, {"pad_value", kNoToken}, std::move(how)}, 1);
  Shape shape = texts->type.shape.value_or(Shape{Dim::symbol("N")});
  shape.push_back(Dim::symbol("tokens" + std::to_string(shape.size())));
  node->output()->type = Type::tensor(DType::string, shape);
  return node->output();
}

Value* characters(Context& c, Value* texts) { return cut(c, texts, {"separators", std::vector<std::string>{""}}); }

Value* text(Context& c, const char* value) { return c.g.constant(Tensor::of_strings({1, 1}, {value})); }

/// 1 where a token is one of these, else 0: [N, tokens] int64.
Value* is_one_of(Context& c, Value* tokens, std::vector<std::string> words) {
  std::vector<std::int64_t> ones(words.size(), 1);
  return c.g.op("LabelEncoder", {tokens},
                {{"keys_strings", std::move(words)}, {"values_int64s", ones}, {"default_int64", 0}});
}

/// The tokens that stay move to the front of their rows in their order.
Value* packed(Context& c, Value* tokens, Value* stays) {
  Value* count = c.g.op("Slice", {c.g.shape(tokens), c.g.ints({1}), c.g.ints({2})});
  Value* size = c.g.squeeze(count, {0});
  Value* place = c.g.op("Range", {c.g.index(0), size, c.g.index(1)});
  Value* order = c.g.add(place, c.g.where(stays, c.g.index(0), size));
  const Values sorted = c.g.op("TopK", {order, count}, {{"axis", 1}, {"largest", 0}, {"sorted", 1}}, 2);
  Value* moved = c.g.op("GatherElements", {tokens, sorted[1]}, {{"axis", 1}});
  return c.g.where(c.g.op("Less", {sorted[0], size}), moved, text(c, kNoToken));
}

std::vector<std::string> stop_words(const Estimator& e) {
  std::vector<std::string> words;
  const pickle::Ref given = e.find("stop_words");
  if (const auto name = e.text_in(given)) {
    if (*name != "english") refuse("the stop words '" + *name + "' are not known");
    words.assign(std::begin(kEnglishStopWords), std::end(kEnglishStopWords));
    return words;
  }
  for (const pickle::Ref item : pickle::items_of(*given))
    if (auto word = e.text_in(item)) words.push_back(std::move(*word));
  return words;
}

/// Of several spaces in a row one is left, which is a blank.
Value* single_spaced(Context& c, Value* tokens) {
  Value* spaces = is_one_of(c, tokens, {kSpaces.begin(), kSpaces.end()});
  Value* first = c.g.op("Slice", {spaces, c.g.ints({0}), c.g.ints({1}), c.g.ints({1})});
  Value* none = c.g.mul(first, c.g.index(0));
  Value* before = c.g.op("Slice", {c.g.concat({none, spaces}, 1), c.g.ints({0}), c.g.ints({-1}), c.g.ints({1})});
  Value* rest = c.g.op("Slice", {spaces, c.g.ints({1}), c.g.ints({INT64_MAX}), c.g.ints({1})});
  Value* after = c.g.concat({rest, none}, 1);
  const auto both = [&](Value* other) { return c.g.cast(c.g.mul(spaces, other), DType::boolean); };
  return packed(c, c.g.where(both(after), text(c, " "), tokens), c.g.op("Not", {both(before)}));
}

/// The characters of each word between blanks, with a gap behind each word.
Value* characters_of_words(Context& c, Value* texts) {
  Value* words = cut(c, texts, {"tokenexp", kWord});
  Value* is_none = c.g.op("Equal", {words, text(c, kNoToken)});
  Value* blank = text(c, " ");
  Value* padded = c.g.op("StringConcat", {c.g.op("StringConcat", {blank, words}), blank});
  Value* letters = characters(c, c.g.where(is_none, text(c, ""), padded));  // [N, words, letters]
  // A column of gaps behind the letters, so that the longest word is kept from the next.
  Value* shape = c.g.shape(letters);
  const auto size = [&](std::int64_t i) { return c.g.op("Slice", {shape, c.g.ints({i}), c.g.ints({i + 1})}); };
  Value* gap = c.g.constant(Tensor::of_strings({1, 1, 1}, {kNoToken}));
  Value* gaps = c.g.op("Expand", {gap, c.g.concat({size(0), size(1), c.g.ints({1})}, 0)});
  Value* apart = c.g.concat({letters, gaps}, 2);
  Value* width = c.g.mul(size(1), c.g.add(size(2), c.g.ints({1})));
  return c.g.op("Reshape", {apart, c.g.concat({size(0), width}, 0)}, {{"allowzero", 1}});
}

}  // namespace

bool counts_characters(const Estimator& e) { return e.text("analyzer", "word").starts_with("char"); }

Value* tokens_of(Context& c, const Estimator& e, Value* texts) {
  const std::string analyzer = e.text("analyzer", "");
  for (const char* own : {"tokenizer", "preprocessor"})
    if (e.has(own)) throw Error(Code::code_refused, std::string("its ") + own + " is program code");
  if (analyzer.empty()) throw Error(Code::code_refused, "its analyzer is program code");
  if (e.has("strip_accents")) refuse("it strips accents, for which ONNX has no operator");
  if (e.flag("lowercase", true)) texts = c.g.op("StringNormalizer", {texts}, {{"case_change_action", "LOWER"}});
  if (analyzer == "char") return single_spaced(c, characters(c, texts));
  if (analyzer == "char_wb") return characters_of_words(c, texts);
  if (analyzer != "word") refuse("the analyzer '" + analyzer + "' is not known");
  Value* words = cut(c, texts, {"tokenexp", token_expression(e)});
  // What a vocabulary of single words leaves out need not be taken out before.
  const auto range = e.has("ngram_range") ? e.doubles(e.get("ngram_range")) : std::vector<double>{1, 1};
  const bool has_vocabulary = e.has("vocabulary_") || e.has("vocabulary");
  if (!e.has("stop_words") || (has_vocabulary && !range.empty() && range.back() <= 1)) return words;
  return packed(c, words, c.g.op("Not", {c.g.cast(is_one_of(c, words, stop_words(e)), DType::boolean)}));
}

}  // namespace ingot::frontends::sklearn
