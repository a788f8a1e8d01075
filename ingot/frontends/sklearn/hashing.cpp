// Features whose column is a hash of their name, and rows that are dictionaries.
#include <algorithm>
#include <cmath>
#include <map>

#include "ingot/base/error.h"
#include "ingot/frontends/sklearn/analyze.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

constexpr std::int64_t kMostFeatures = std::int64_t{1} << 24;

/// The tokens as they stand `by` places further on: [N, tokens].
Value* moved(Context& c, Value* tokens, std::int64_t by) {
  if (by == 0) return tokens;
  Value* gap = c.g.constant(Tensor::of_strings({1, 1}, {kNoToken}));
  Value* rows = c.g.op("Slice", {c.g.shape(tokens), c.g.ints({0}), c.g.ints({1})});
  Value* gaps = c.g.op("Expand", {gap, c.g.concat({rows, c.g.ints({by})}, 0)});
  Value* longer = c.g.concat({tokens, gaps}, 1);
  return c.g.op("Slice", {longer, c.g.ints({by}), c.g.ints({INT64_MAX}), c.g.ints({1})});
}

struct Terms {
  Value* texts;    // [N, terms]
  Value* is_none;  // [N, terms]: it is no term
};

/// Sequences of so many tokens, with blanks between words.
Terms sequences(Context& c, Value* tokens, std::int64_t length, bool is_of_words) {
  Value* gap = c.g.constant(Tensor::of_strings({1, 1}, {kNoToken}));
  Terms made{tokens, c.g.op("Equal", {tokens, gap})};
  for (std::int64_t i = 1; i < length; ++i) {
    Value* next = moved(c, tokens, i);
    if (is_of_words) made.texts = c.g.op("StringConcat", {made.texts, c.g.constant(Tensor::of_strings({1, 1}, {" "}))});
    made.texts = c.g.op("StringConcat", {made.texts, next});
    made.is_none = c.g.op("Or", {made.is_none, c.g.op("Equal", {next, gap})});
  }
  return made;
}

/// The sum of the terms' signs in the column of each term's hash: [N, columns].
Value* hashed(Context& c, const Estimator& e, const Terms& terms) {
  const std::int64_t columns = e.integer("n_features", std::int64_t{1} << 20);
  if (columns < 1 || columns > kMostFeatures) refuse("it has more columns than a tensor should have");
  Node* hash = c.g.node("MurmurHash3", "com.microsoft", {terms.texts}, {{"positive", 0}, {"seed", 0}}, 1);
  hash->output()->type = terms.texts->type;
  hash->output()->type.elem = DType::i32;
  Value* whole = c.g.cast(hash->output(), DType::i64);
  Value* place = c.g.op("Mod", {c.g.op("Abs", {whole}), c.g.index(columns)});
  // Colliding terms cancel out by their signs; only whether there was one is asked of binary ones.
  const bool is_signed = e.flag("alternate_sign", true) && !e.flag("binary");
  Value* sign = c.number(1);
  if (is_signed) sign = c.g.where(c.g.op("Less", {whole, c.g.index(0)}), c.number(-1), c.number(1));
  Value* weight = c.g.where(terms.is_none, c.number(0), sign);
  Value* rows = c.g.op("Slice", {c.g.shape(terms.texts), c.g.ints({0}), c.g.ints({1})});
  Value* nothing = c.g.op("Expand", {c.number(0), c.g.concat({rows, c.g.ints({columns})}, 0)});
  nothing->type.shape = Shape{Dim::symbol("N"), Dim(columns)};
  Value* sums = c.g.op("ScatterElements", {nothing, place, weight}, {{"axis", 1}, {"reduction", "add"}});
  if (e.flag("binary")) sums = c.g.cast(c.g.op("Greater", {sums, c.number(0)}), c.elem);
  if (e.flag("non_negative")) sums = c.g.op("Abs", {sums});
  return e.has("norm") ? row_normalised(c, sums, e.text("norm")) : sums;
}

}  // namespace

Columns hashing_vectorizer(Context& c, const Estimator& e, const Columns& x) {
  if (width_of(x) != 1) refuse("it reads one column of texts");
  const auto range = e.has("ngram_range") ? e.doubles(e.get("ngram_range")) : std::vector<double>{1, 1};
  if (range.size() != 2 || range[0] < 1 || range[1] < range[0] || range[1] > 100)
    throw Error(Code::bad_source_graph, "its range of terms is damaged");
  if (e.text("analyzer") == "char_wb" && range[0] > 3)
    refuse("it counts words that are shorter than its shortest term");
  Value* tokens = tokens_of(c, e, c.g.squeeze(c.texts(x), {1}));
  Values texts, gaps;
  for (auto length = static_cast<std::int64_t>(range[0]); length <= static_cast<std::int64_t>(range[1]); ++length) {
    const Terms terms = sequences(c, tokens, length, !counts_characters(e));
    texts.push_back(terms.texts);
    gaps.push_back(terms.is_none);
  }
  const Terms all = {texts.size() == 1 ? texts[0] : c.g.concat(texts, 1),
                     gaps.size() == 1 ? gaps[0] : c.g.concat(gaps, 1)};
  return c.columns_of(hashed(c, e, all));
}

/// Rows are lists of names, as many as the longest has; where a row has fewer, texts are empty.
Columns feature_hasher(Context& c, const Estimator& e, const Columns& x) {
  if (e.text("input_type", "dict") != "string")
    refuse("its rows are dictionaries, which are no tensors", "those of input_type='string' are translated");
  c.notes.add("rows of a FeatureHasher are filled up with empty texts");
  Value* texts = c.texts(x);
  Value* is_none = c.g.op("Equal", {texts, c.g.constant(Tensor::of_strings({1, 1}, {""}))});
  return c.columns_of(hashed(c, e, {texts, is_none}));
}

std::vector<DictColumn> dict_columns(const Estimator& e) {
  const std::string separator = e.text("separator", "=");
  const pickle::Ref names = e.has("feature_names_") ? e.get("feature_names_") : e.get("vocabulary_");
  std::map<std::string, DictColumn> columns;
  std::int64_t place = 0;
  for (const Estimator& one : e.items(names)) {
    const auto name = e.text_in(one.value());
    if (!name) refuse("a feature's name is no text");
    const std::size_t at = separator.empty() ? std::string::npos : name->find(separator);
    const bool is_category = at != std::string::npos;
    DictColumn& column = columns[name->substr(0, at)];
    column.name = name->substr(0, at);
    (is_category ? column.category_places : column.number_places).push_back(place++);
    if (is_category) column.categories.push_back(name->substr(at + separator.size()));
  }
  std::vector<DictColumn> made;
  for (auto& [name, column] : columns) {
    if (!column.number_places.empty() && !column.category_places.empty())
      refuse("the entry '" + name + "' was a number in one row and a text in another");
    made.push_back(std::move(column));
  }
  return made;
}

/// What each key of the dictionaries holds is a column of its own.
Columns dict_vectorizer(Context& c, const Estimator& e, const Columns& x) {
  const auto columns = dict_columns(e);
  if (std::cmp_not_equal(columns.size(), width_of(x)) || columns.size() != x.size())
    throw Error(Code::bad_source_graph, "its rows are made of something else");
  c.notes.add("an entry that a row does not have is NaN, or an empty text");
  Values parts;
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const DictColumn& column = columns[i];
    places.insert(places.end(), column.number_places.begin(), column.number_places.end());
    places.insert(places.end(), column.category_places.begin(), column.category_places.end());
    if (column.categories.empty()) {
      Value* v = c.numbers({x[i]});
      parts.push_back(c.g.where(c.is_nan(v), c.number(0), v));
      continue;
    }
    Value* all = c.g.constant(Tensor::of_strings({1, std::ssize(column.categories)}, column.categories));
    parts.push_back(c.g.cast(c.g.op("Equal", {c.texts({x[i]}), all}), c.elem));
  }
  // From the order of keys to that of the features.
  std::vector<std::int64_t> order(places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    order[static_cast<std::size_t>(places[i])] = static_cast<std::int64_t>(i);
  Value* joined = parts.size() == 1 ? parts[0] : c.g.concat(parts, 1);
  return c.columns_of(c.g.op("Gather", {joined, c.g.ints(order)}, {{"axis", 1}}));
}

}  // namespace ingot::frontends::sklearn
