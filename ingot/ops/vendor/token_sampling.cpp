// com.microsoft.Sampling: each token is drawn, of the likeliest ones.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ingot/ops/infer.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/text_generation.h"

namespace ingot::ops {
namespace {

/// Numbers from 0 to 1 as ONNX Runtime draws them: the default engine of GNU's C++ library, two draws for each.
class DrawnNumbers {
 public:
  explicit DrawnNumbers(std::int64_t seed) : state_(static_cast<std::uint64_t>(seed) % kModulus) {
    if (state_ == 0) state_ = 1;
  }
  double next() {
    constexpr auto kValues = static_cast<double>(kModulus - 1);
    const auto low = static_cast<double>(step() - 1), high = static_cast<double>(step() - 1);
    return std::min((low + high * kValues) / (kValues * kValues), std::nextafter(1.0, 0.0));
  }

 private:
  static constexpr std::uint64_t kModulus = 2147483647;
  std::uint64_t step() { return state_ = state_ * 16807 % kModulus; }
  std::uint64_t state_;
};

/// What the attributes say of the choice.
struct Rules {
  float temperature, top_share, filter;
  std::int64_t least_kept;
  bool is_custom;
};

std::vector<float> shares_of(const std::vector<float>& scores, const std::vector<std::size_t>& order) {
  const float top = *std::ranges::max_element(scores);
  std::vector<float> shares;
  float sum = 0;
  for (const std::size_t i : order) sum += shares.emplace_back(std::exp(scores[i] - top));
  for (float& share : shares) share /= sum;
  return shares;
}

/// Takes out the tokens that are not among the likeliest. The two ways differ by the token at the border.
void filter(std::vector<float>& scores, const Rules& rules) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return rules.is_custom ? scores[a] > scores[b] : scores[a] < scores[b];
  });
  const std::vector<float> shares = shares_of(scores, order);
  const auto count = std::ssize(order);
  float sum = 0;
  for (std::ptrdiff_t i = 0; i < (rules.is_custom ? count - 1 : std::max<std::ptrdiff_t>(count - rules.least_kept, 1));
       ++i) {
    const auto at = static_cast<std::size_t>(i);
    sum += shares[at];
    if (rules.is_custom && sum > rules.top_share) scores[order[at + 1]] = rules.filter;
    if (!rules.is_custom && sum <= 1 - rules.top_share) scores[order[at]] = rules.filter;
  }
}

std::int64_t draw(const std::vector<float>& scores, DrawnNumbers& numbers) {
  float top = std::numeric_limits<float>::lowest();
  for (const float score : scores)
    if (std::isfinite(score)) top = std::max(top, score);
  std::vector<double> sums;
  double sum = 0;
  for (const float score : scores) {
    if (std::isfinite(score)) sum += std::exp(static_cast<double>(score) - static_cast<double>(top));
    sums.push_back(sum);
  }
  const auto found = std::ranges::upper_bound(sums, numbers.next() * sum) - sums.begin();
  return std::min<std::int64_t>(found, std::ssize(scores) - 1);
}

void run_sampling(KernelContext& c) {
  if (c.attr("model_type", std::int64_t{0}) != 0) c.fail("only decoders of GPT's kind are run (model_type 0)");
  if (c.attr("presence_penalty", 0.0f) != 0) c.fail("presence_penalty takes all of it from one token: it is not run");
  if (c.wants(1)) c.fail("the scores of all steps are not kept");
  const Rules rules{c.attr("temperature", 1.0f), c.attr("top_p", 0.0f), c.attr("filter_value", -1e20f),
                    c.attr("min_tokens_to_keep", std::int64_t{0}), c.attr("custom", std::int64_t{0}) != 0};
  std::int64_t seed = 0;
  if (c.has(8)) {
    if (c.in(8).size() != 1 || c.in(8).dtype() != DType::i32) c.fail("the seed is not one int32");
    seed = c.in(8).data<std::int32_t>()[0];
  }
  if (seed < 0) c.fail("the seed is negative");
  DrawnNumbers numbers(seed);
  write_texts(c, [&](std::vector<float>& scores) {
    if (rules.least_kept < 0 || rules.least_kept >= std::ssize(scores))
      c.fail("min_tokens_to_keep is not within the vocabulary");
    if (rules.temperature != 1)
      for (float& score : scores) score /= rules.temperature;
    filter(scores, rules);
    return draw(scores, numbers);
  });
}

void infer_sampling(InferContext& c) {
  for (const char* name : {"encoder", "init_decoder", "decoder"})
    if (c.node().attributes.get<GraphPtr>(name)) c.subgraph(name, {});
  c.out_elem(0, DType::i32);
  c.out_rank(0, 2);
}

}  // namespace

constinit const OpDef defs::microsoft::Sampling = {
    .name = "Sampling", .domain = kMicrosoft, .infer = infer_sampling, .kernel = run_sampling};

}  // namespace ingot::ops
