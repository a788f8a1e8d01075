// com.microsoft: operators that search for equal runs of tokens.
#include <algorithm>
#include <limits>

#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

using Tokens = std::span<const std::int64_t>;

void infer_block(InferContext& c) { c.out_like(0, 1); }

/// Tokens that would complete a run that is already there are ruled out.
void run_block(KernelContext& c) {
  const Array &ids = c.in(0), &scores = c.in(1);
  const std::int64_t size = c.attr("ngram_size", std::int64_t{0});
  if (ids.rank() != 2 || scores.rank() != 2 || ids.dims()[0] != scores.dims()[0])
    c.fail("input_ids and scores must be matrices with as many rows");
  if (size <= 0) c.fail("attribute 'ngram_size' must be positive");
  const std::int64_t length = ids.dims()[1], words = scores.dims()[1];
  Array& y = c.make(0, scores.dtype(), scores.dims());
  std::ranges::copy(scores.data<float>(), y.mutable_data<float>().begin());
  Pace pace(c.host().budget());
  for (std::int64_t row = 0; row < ids.dims()[0]; ++row) {
    const Tokens tokens =
        ids.data<std::int64_t>().subspan(static_cast<std::size_t>(row * length), static_cast<std::size_t>(length));
    if (length < size - 1) continue;
    const Tokens ending = tokens.last(static_cast<std::size_t>(size - 1));
    for (std::int64_t i = 0; i + size <= length; ++i) {
      pace.step(size);
      if (!std::ranges::equal(tokens.subspan(static_cast<std::size_t>(i), ending.size()), ending)) continue;
      const std::int64_t word = tokens[static_cast<std::size_t>(i + size - 1)];
      if (word < 0 || word >= words) c.fail("a token is not one of the vocabulary");
      y.mutable_data<float>()[static_cast<std::size_t>(row * words + word)] = -std::numeric_limits<float>::infinity();
    }
  }
}

void infer_bifurcation(InferContext& c) {
  c.out_shape(0, {c.data_dim(0, 0)});
  c.out_shape(1, {});
}

/// Where the source goes on as the new tokens end; -1: nowhere, or in several places.
std::int64_t only_match(Tokens source, Tokens all, std::int64_t least, std::int64_t most) {
  std::int64_t found = -1;
  for (std::int64_t n = least; n <= most; ++n) {
    if (n > std::ssize(all)) break;
    const Tokens ending = all.last(static_cast<std::size_t>(n));
    const auto first = std::search(source.begin(), source.end(), ending.begin(), ending.end());
    if (first == source.end()) break;
    found = first - source.begin() + n;
    if (std::search(first + 1, source.end(), ending.begin(), ending.end()) == source.end()) return found;
    found = -1;
  }
  return -1;
}

void run_bifurcation(KernelContext& c) {
  const Tokens source = c.in(0).data<std::int64_t>(), current = c.in(1).data<std::int64_t>();
  if (c.in(2).size() != 1) c.fail("prev_suffix_match_idx is not one number");
  const std::int64_t start = c.in(2).data<std::int64_t>()[0], least = c.attr("min_ngram_size", std::int64_t{1});
  if (least < 1) c.fail("attribute 'min_ngram_size' must be positive");
  std::vector<std::int64_t> tokens(current.begin(), current.end());
  if (c.has(3)) {
    const Tokens predicted = c.in(3).data<std::int64_t>();
    if (start < 0 || start > std::ssize(source)) c.fail("prev_suffix_match_idx is not a place of the source");
    if (std::ssize(predicted) != std::ssize(source) + 1 - start) c.fail("pred_tokens must go on to the source's end");
    std::size_t same = 0;
    while (same + 1 < predicted.size() && predicted[same] == source[static_cast<std::size_t>(start) + same]) ++same;
    tokens.insert(tokens.end(), predicted.begin(), predicted.begin() + static_cast<std::ptrdiff_t>(same) + 1);
  }
  Array& out = c.make(0, DType::i64, {std::ssize(tokens)});
  std::ranges::copy(tokens, out.mutable_data<std::int64_t>().begin());
  c.make(1, DType::i64, {}).mutable_data<std::int64_t>()[0] =
      only_match(source, tokens, least, c.attr("max_ngram_size", std::int64_t{3}));
}

}  // namespace

constinit const OpDef defs::microsoft::BifurcationDetector = {
    .name = "BifurcationDetector", .domain = kMicrosoft, .infer = infer_bifurcation, .kernel = run_bifurcation};
constinit const OpDef defs::microsoft::NGramRepeatBlock = {
    .name = "NGramRepeatBlock", .domain = kMicrosoft, .infer = infer_block, .kernel = run_block};

}  // namespace ingot::ops
