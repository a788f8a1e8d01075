// TfIdfVectorizer: how often each n-gram of a vocabulary occurs.
#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>

#include "ingot/ops/catalog.h"
#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/blocks.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const auto* indexes = c.attr_ints("ngram_indexes");
  if (!indexes || indexes->empty()) return;
  for (const std::int64_t i : *indexes) c.require(i >= 0, "attribute 'ngram_indexes' is negative");
  const Dim size = Dim(*std::ranges::max_element(*indexes)) + 1;
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() == 1 || x->size() == 2, "the input must have shape [C] or [N, C]");
  c.out_shape(0, x->size() == 1 ? Shape{size} : Shape{(*x)[0], size});
}

/// The n-grams of the vocabulary: lists of numbers that stand for its words.
struct Vocabulary {
  std::unordered_map<std::string, std::int64_t> strings;
  std::unordered_map<std::int64_t, std::int64_t> ints;
  std::map<std::vector<std::int64_t>, std::size_t> grams;  // -> number in the pool

  /// -1: not a word of the vocabulary.
  std::int64_t find(const std::string& word) const { return found(strings, word); }
  std::int64_t find(std::int64_t word) const { return found(ints, word); }

 private:
  template <class Words, class Word> static std::int64_t found(const Words& words, const Word& word) {
    const auto it = words.find(word);
    return it == words.end() ? -1 : it->second;
  }
};

Vocabulary vocabulary_of(const KernelContext& c) {
  Vocabulary v;
  std::vector<std::int64_t> pool;
  if (const auto* strings = c.node.attributes.get<std::vector<std::string>>("pool_strings"))
    for (const std::string& word : *strings)
      pool.push_back(v.strings.try_emplace(word, static_cast<std::int64_t>(v.strings.size())).first->second);
  else
    for (const std::int64_t word : c.attr_ints("pool_int64s"))
      pool.push_back(v.ints.try_emplace(word, static_cast<std::int64_t>(v.ints.size())).first->second);
  // Where the n-grams of each length begin in the pool.
  const std::vector<std::int64_t> starts = c.attr_ints("ngram_counts");
  std::size_t number = 0;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const auto size = static_cast<std::int64_t>(pool.size()), length = static_cast<std::int64_t>(k) + 1;
    const std::int64_t end = k + 1 < starts.size() ? starts[k + 1] : size;
    if (starts[k] < 0 || end < starts[k] || end > size || (end - starts[k]) % length != 0)
      c.fail("ngram_counts does not fit the pool");
    for (auto at = pool.begin() + starts[k]; at != pool.begin() + end; at += length)
      v.grams.try_emplace({at, at + length}, number++);
  }
  return v;
}

/// How often each n-gram of the pool stands in a row of words, neighbours or with equal gaps between them.
std::vector<double> counts_in(KernelContext& c, const Vocabulary& v, std::span<const std::int64_t> words,
                              std::size_t pool) {
  std::vector<double> counts(pool, 0);
  const std::int64_t least = c.attr("min_gram_length", std::int64_t{1}),
                     most = c.attr("max_gram_length", std::int64_t{1});
  const std::int64_t skips = c.attr("max_skip_count", std::int64_t{0});
  const auto size = static_cast<std::int64_t>(words.size());
  const auto longest = static_cast<std::int64_t>(c.attr_ints("ngram_counts").size());
  WorkMeter meter(c.host().budget());
  std::vector<std::int64_t> gram;
  for (std::int64_t n = std::max<std::int64_t>(least, 1); n <= std::min({most, longest, size}); ++n)
    for (std::int64_t step = 1; step - 1 <= skips && (n == 1 ? step == 1 : step <= (size - 1) / (n - 1)); ++step)
      for (std::int64_t first = 0; first + (n - 1) * step < size; ++first) {
        gram.clear();
        for (std::int64_t k = 0; k < n; ++k) gram.push_back(words[static_cast<std::size_t>(first + k * step)]);
        const auto it = v.grams.find(gram);
        if (it != v.grams.end()) ++counts[it->second];
        meter.did(n);
      }
  return counts;
}

void run(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() != 1 && x.rank() != 2) c.fail("the input must have shape [C] or [N, C]");
  const std::string mode = c.attr("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") c.fail("mode '" + mode + "' is not known");
  const std::vector<std::int64_t> columns = c.attr_ints("ngram_indexes");
  const auto* weights = c.node.attributes.get<std::vector<float>>("weights");
  const Vocabulary v = vocabulary_of(c);
  for (const auto& [gram, number] : v.grams)
    if (number >= columns.size()) c.fail("ngram_indexes does not have an entry per n-gram");
  if (weights && weights->size() != columns.size()) c.fail("there is not one weight per n-gram");
  std::int64_t width = 0;
  for (const std::int64_t column : columns) {
    if (column < 0 || column == std::numeric_limits<std::int64_t>::max()) c.fail("ngram_indexes is out of range");
    width = std::max(width, column + 1);
  }
  Array words = scratch(c, DType::i64, x.dims());
  const auto ids = words.mutable_data<std::int64_t>();
  if (x.dtype() == DType::string) {
    std::ranges::transform(x.data<std::string>(), ids.begin(), [&](const std::string& s) { return v.find(s); });
  } else {
    const Array numbers = converted(x, DType::i64, c.host());
    std::ranges::transform(numbers.data<std::int64_t>(), ids.begin(), [&](std::int64_t i) { return v.find(i); });
  }
  const std::int64_t rows = x.rank() == 1 ? 1 : x.dims()[0];
  const auto length = static_cast<std::size_t>(x.dims().back());
  const auto out = c.make(0, DType::f32, x.rank() == 1 ? Dims{width} : Dims{rows, width}).mutable_data<float>();
  std::ranges::fill(out, 0.0f);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    const std::vector<double> counts = counts_in(c, v, ids.subspan(row * length, length), columns.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      const double weight = weights && mode != "TF" ? static_cast<double>((*weights)[i]) : 1.0;
      out[row * static_cast<std::size_t>(width) + static_cast<std::size_t>(columns[i])] +=
          static_cast<float>((mode == "IDF" ? 1.0 : counts[i]) * weight);
    }
  }
}

}  // namespace

constinit const OpDef defs::TfIdfVectorizer = {
    .name = "TfIdfVectorizer",
    .infer = infer,
    .kernel = run,
};

}  // namespace ingot::ops
