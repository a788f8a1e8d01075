// Counts of words and what is made of them.
#include <algorithm>
#include <map>

#include "ingot/base/error.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

constexpr const char* kPad = "\x01";  // stands where a row has fewer tokens than another

/// The expression of a token, as RE2 writes it: Python's \w means letters and digits of all scripts.
std::string token_expression(const Estimator& e) {
  const std::string pattern = e.text("token_pattern");
  if (pattern == R"((?u)\b\w\w+\b)" || pattern == R"(\b\w\w+\b)") return R"([\p{L}\p{N}_]{2,})";
  if (pattern == R"((?u)\b\w+\b)" || pattern == R"(\b\w+\b)" || pattern == R"(\w+)") return R"([\p{L}\p{N}_]+)";
  const bool is_plain = !pattern.empty() && pattern.find_first_of("\\(^$") == std::string::npos;
  if (is_plain) return pattern;
  refuse("the token pattern '" + pattern + "' is not translated",
         R"(the default, (?u)\b\w+\b and classes of characters such as [a-z]+ are)");
}

/// Tokens [N, longest] of texts [N].
Value* tokens(Context& c, const Estimator& e, Value* texts) {
  const std::string analyzer = e.text("analyzer");
  for (const char* own : {"tokenizer", "preprocessor"})
    if (e.has(own)) throw Error(Code::code_refused, std::string("its ") + own + " is program code");
  if (analyzer != "word" && analyzer != "char")
    refuse("the analyzer '" + analyzer + "' is not translated", "word and char are");
  if (e.has("strip_accents")) refuse("it strips accents, for which ONNX has no operator");
  if (e.flag("lowercase", true)) texts = c.g.op("StringNormalizer", {texts}, {{"case_change_action", "LOWER"}});
  Attrs attrs = {{"mark", 0}, {"mincharnum", 1}, {"pad_value", kPad}};
  if (analyzer == "word") {
    attrs.push_back({"tokenexp", token_expression(e)});
  } else {
    attrs.push_back({"separators", std::vector<std::string>{""}});
    c.notes.add("white space is counted as it is; scikit-learn takes several in a row for one");
  }
  return c.g.node("Tokenizer", "com.microsoft", {texts}, attrs, 1)->output();
}

/// "of the people" -> its words, or the characters of a text.
std::vector<std::string> parts_of(const std::string& term, bool is_char) {
  std::vector<std::string> parts;
  std::string word;
  for (std::size_t i = 0; i < term.size(); ++i) {
    const bool goes_on = (static_cast<unsigned char>(term[i]) & 0xc0) == 0x80;  // within a character
    if (is_char && !goes_on && !word.empty()) parts.push_back(std::exchange(word, ""));
    if (!is_char && term[i] == ' ')
      parts.push_back(std::exchange(word, ""));
    else
      word += term[i];
  }
  parts.push_back(word);
  return parts;
}

struct Term {
  std::vector<std::string> parts;
  std::int64_t column;
};

/// The vocabulary by the number of parts of its terms.
std::map<std::size_t, std::vector<Term>> vocabulary_of(const Estimator& e) {
  std::map<std::size_t, std::vector<Term>> terms;
  const auto entries = pickle::entries_of(*e.get("vocabulary_"));
  const bool is_char = e.text("analyzer") == "char";
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    const auto text = e.text_in(entries[i]);
    const auto column = e.number_in(entries[i + 1]);
    if (!text || !column || *column < 0 || *column >= static_cast<double>(entries.size()))
      throw Error(Code::bad_source_graph, "its vocabulary is damaged");
    Term term{parts_of(*text, is_char), static_cast<std::int64_t>(*column)};
    const std::size_t length = term.parts.size();
    terms[length].push_back(std::move(term));
  }
  if (terms.empty()) throw Error(Code::bad_source_graph, "its vocabulary is empty");
  for (auto& [length, list] : terms) std::ranges::sort(list, {}, &Term::column);
  return terms;
}

/// Counts [N, terms] of type elem.
Value* term_counts(Context& c, const Estimator& e, const Columns& x) {
  if (width_of(x) != 1) refuse("it reads one column of texts");
  const auto terms = vocabulary_of(e);
  const auto longest = static_cast<std::int64_t>(terms.rbegin()->first);
  if (longest > 1 && e.has("stop_words"))
    refuse("its terms of several words leave out stop words between them", "fit it without stop_words");
  std::vector<std::string> pool;
  std::vector<std::int64_t> starts, columns;
  for (std::int64_t length = 1; length <= longest; ++length) {
    starts.push_back(std::ssize(pool));
    const auto found = terms.find(static_cast<std::size_t>(length));
    if (found == terms.end()) continue;
    for (const Term& term : found->second) {
      pool.insert(pool.end(), term.parts.begin(), term.parts.end());
      columns.push_back(term.column);
    }
  }
  Value* words = tokens(c, e, c.g.squeeze(c.texts(x), {1}));
  Value* counts = c.g.op("TfIdfVectorizer", {words},
                         {{"mode", "TF"},
                          {"min_gram_length", static_cast<std::int64_t>(terms.begin()->first)},
                          {"max_gram_length", longest},
                          {"max_skip_count", 0},
                          {"ngram_counts", starts},
                          {"ngram_indexes", columns},
                          {"pool_strings", pool}});
  if (e.flag("binary")) counts = c.g.cast(c.g.op("Greater", {counts, c.g.scalar(0, DType::f32)}), DType::f32);
  return c.g.cast(counts, c.elem);
}

/// Terms that many texts have weigh less.
Value* weighted_terms(Context& c, const Estimator& e, Value* counts) {
  if (e.flag("sublinear_tf")) {
    Value* is_there = c.g.op("Greater", {counts, c.number(0)});
    Value* safe = c.g.where(is_there, counts, c.number(1));
    counts = c.g.where(is_there, c.g.add(c.g.op("Log", {safe}), 1.0), c.number(0));
  }
  if (e.flag("use_idf", true)) {
    std::vector<double> weights;
    if (e.has("_idf_diag")) {
      const Matrix diagonal = e.matrix("_idf_diag");
      for (std::int64_t i = 0; i < std::min(diagonal.rows, diagonal.columns); ++i) weights.push_back(diagonal.at(i, i));
    } else {
      weights = e.vector("idf_");
    }
    counts = c.g.mul(counts, c.row(weights));
  }
  return e.has("norm") ? row_normalised(c, counts, e.text("norm")) : counts;
}

}  // namespace

Columns count_vectorizer(Context& c, const Estimator& e, const Columns& x) {
  return c.columns_of(term_counts(c, e, x));
}

Columns tfidf_transformer(Context& c, const Estimator& e, const Columns& x) {
  return c.columns_of(weighted_terms(c, e, c.numbers(x)));
}

Columns tfidf_vectorizer(Context& c, const Estimator& e, const Columns& x) {
  return c.columns_of(weighted_terms(c, e.child("_tfidf"), term_counts(c, e, x)));
}

}  // namespace ingot::frontends::sklearn
