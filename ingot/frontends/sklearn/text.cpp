// Counts of words and what is made of them.
#include <algorithm>
#include <map>

#include "ingot/base/error.h"
#include "ingot/frontends/sklearn/analyze.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

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

/// Terms and their columns in turn: as it was fitted, or given as a dict.
std::span<const pickle::Ref> vocabulary_entries(const Estimator& e) {
  for (const char* name : {"vocabulary_", "vocabulary"})
    if (e.has(name))
      if (const auto entries = pickle::entries_of(*e.get(name)); !entries.empty()) return entries;
  throw Error(Code::bad_source_graph, "it has no vocabulary").hint("fit it before it is written");
}

/// The vocabulary by the number of parts of its terms.
std::map<std::size_t, std::vector<Term>> vocabulary_of(const Estimator& e) {
  std::map<std::size_t, std::vector<Term>> terms;
  const auto entries = vocabulary_entries(e);
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    const auto text = e.text_in(entries[i]);
    const auto column = e.number_in(entries[i + 1]);
    if (!text || !column || *column < 0 || *column >= static_cast<double>(entries.size()) / 2)
      throw Error(Code::bad_source_graph, "its vocabulary is damaged");
    Term term{parts_of(*text, counts_characters(e)), static_cast<std::int64_t>(*column)};
    const std::size_t length = term.parts.size();
    terms[length].push_back(std::move(term));
  }
  for (auto& [length, list] : terms) std::ranges::sort(list, {}, &Term::column);
  return terms;
}

/// Counts [N, terms] of type elem.
Value* term_counts(Context& c, const Estimator& e, const Columns& x) {
  if (width_of(x) != 1) refuse("it reads one column of texts");
  const auto terms = vocabulary_of(e);
  const auto longest = static_cast<std::int64_t>(terms.rbegin()->first);
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
  Value* words = tokens_of(c, e, c.g.squeeze(c.texts(x), {1}));
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
    // A diagonal matrix, whose numbers stand in one row: as a whole it would be terms x terms.
    const std::vector<double> weights = e.has("_idf_diag") ? e.child("_idf_diag").vector("data") : e.vector("idf_");
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
