// com.microsoft: GreedySearch takes the best token each time, BeamSearch and WhisperBeamSearch keep several texts and
// take the best of them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ingot/ops/infer.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/text_generation.h"

namespace ingot::ops {
namespace {

std::int32_t token_attribute(const KernelContext& c, const char* name) {
  return static_cast<std::int32_t>(c.attr(name, std::int64_t{0}));
}

/// A text, with padding behind it.
void write(std::span<const std::int32_t> text, std::int32_t pad, std::span<std::int32_t> to) {
  std::ranges::fill(to, pad);
  std::copy_n(text.begin(), std::min(text.size(), to.size()), to.begin());
}

}  // namespace

void write_texts(KernelContext& c, const ChooseToken& choose) {
  Generation g(c, 1);
  const std::int32_t end = token_attribute(c, "eos_token_id"), pad = token_attribute(c, "pad_token_id");
  std::vector<bool> is_done(static_cast<std::size_t>(g.rows()), false);
  std::vector<std::int64_t> same(static_cast<std::size_t>(g.rows()));
  std::iota(same.begin(), same.end(), 0);
  while (g.length() < g.most() && std::ranges::find(is_done, false) != is_done.end()) {
    auto scores = g.scores();
    g.adjust(scores);
    std::vector<std::int32_t> tokens;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const std::int64_t chosen = choose(scores[i]);
      is_done[i] = is_done[i] || chosen == end;
      tokens.push_back(is_done[i] ? pad : static_cast<std::int32_t>(chosen));
    }
    g.extend(tokens, same);
  }
  Array& y = c.make(0, DType::i32, {g.rows(), g.most()});
  for (std::int64_t i = 0; i < g.rows(); ++i)
    write(g.text(i), pad,
          y.mutable_data<std::int32_t>().subspan(static_cast<std::size_t>(i * g.most()),
                                                 static_cast<std::size_t>(g.most())));
}

namespace {

void run_greedy_search(KernelContext& c) {
  write_texts(c, [](std::vector<float>& scores) { return std::ranges::max_element(scores) - scores.begin(); });
}

/// The best texts of one row that have ended.
class Hypotheses {
 public:
  Hypotheses(std::int64_t most, double penalty) : most_(static_cast<std::size_t>(most)), penalty_(penalty) {}

  struct Text {
    std::vector<std::int32_t> tokens;
    float score;
  };
  void add(const std::vector<std::int32_t>& tokens, float sum) {
    const float score = scaled(sum, std::ssize(tokens));
    if (texts_.size() == most_ && score <= worst()) return;
    texts_.push_back({tokens, score});
    std::ranges::stable_sort(texts_, std::ranges::greater(), &Text::score);
    if (texts_.size() > most_) texts_.pop_back();
  }
  bool is_full() const { return texts_.size() == most_; }
  float worst() const { return texts_.back().score; }
  float scaled(float sum, std::int64_t length) const {
    return static_cast<float>(static_cast<double>(sum) / std::pow(static_cast<double>(length), penalty_));
  }
  const std::vector<Text>& texts() const { return texts_; }

 private:
  std::size_t most_;
  double penalty_;
  std::vector<Text> texts_;  // the best first
};

class BeamSearching {
 public:
  explicit BeamSearching(KernelContext& c)
      : c_(c),
        beams_(number(c, 3)),
        wanted_(number(c, 4)),
        g_(c, beams_),
        batch_(g_.rows() / beams_),
        begin_(g_.length()),
        end_(token_attribute(c, "eos_token_id")),
        pad_(token_attribute(c, "pad_token_id")),
        sums_(static_cast<std::size_t>(g_.rows()), 0.0f),
        done_(static_cast<std::size_t>(batch_), false) {
    if (wanted_ > beams_) c.fail("there are fewer beams than texts asked for");
    double penalty = 1;
    if (c.has(5)) penalty = static_cast<double>(c.in(5).data<float>()[0]);
    for (std::int64_t b = 0; b < batch_; ++b) found_.emplace_back(beams_, penalty);
    // At first all beams are the same: one counts.
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (i % static_cast<std::size_t>(beams_) != 0) sums_[i] = -1e9f;
  }

  void run() {
    while (g_.length() < g_.most() && std::ranges::find(done_, false) != done_.end()) step();
    for (std::int64_t b = 0; b < batch_; ++b)
      for (std::int64_t k = b * beams_; k < (b + 1) * beams_ && !done_[at(b)]; ++k)
        found_[at(b)].add(g_.text(k), sums_[at(k)]);
    Array& y = c_.make(0, DType::i32, {batch_, wanted_, g_.most()});
    Array* scores = c_.wants(1) ? &c_.make(1, DType::f32, {batch_, wanted_}) : nullptr;
    for (std::int64_t i = 0; i < batch_ * wanted_; ++i) {
      const auto& text = found_[at(i / wanted_)].texts().at(at(i % wanted_));
      write(text.tokens, pad_, y.mutable_data<std::int32_t>().subspan(at(i * g_.most()), at(g_.most())));
      if (scores) scores->mutable_data<float>()[at(i)] = text.score;
    }
  }

 private:
  struct Candidate {
    float sum;
    std::int64_t row;
    std::int32_t token;
  };

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  static std::int64_t number(const KernelContext& c, std::size_t i) {
    const Array& a = c.in(i);
    constexpr std::int32_t kMost = 128;
    if (a.size() != 1 || a.dtype() != DType::i32) c.fail("a count is not one int32");
    const std::int32_t count = a.data<std::int32_t>()[0];
    if (count < 1 || count > kMost) c.fail("a count is not within 1 and 128");
    return count;
  }

  static void to_log_shares(std::vector<float>& row) {
    const float top = *std::ranges::max_element(row);
    double sum = 0;
    for (const float v : row) sum += std::exp(static_cast<double>(v - top));
    const auto shift = static_cast<float>(std::log(sum));
    for (float& v : row) v = v - top - shift;
  }

  /// The best 2 * beams of a row's beams, in order.
  std::vector<Candidate> best_of(std::int64_t b, const std::vector<std::vector<float>>& scores) const {
    std::vector<Candidate> all;
    for (std::int64_t k = b * beams_; k < (b + 1) * beams_; ++k)
      for (std::size_t token = 0; token < scores[at(k)].size(); ++token)
        all.push_back({scores[at(k)][token] + sums_[at(k)], k, static_cast<std::int32_t>(token)});
    const auto count = at(2 * beams_);
    if (all.size() < count) c_.fail("the vocabulary is too small for so many beams");
    const auto is_better = [](const Candidate& a, const Candidate& b2) {
      if (a.sum != b2.sum) return a.sum > b2.sum;
      return a.row != b2.row ? a.row < b2.row : a.token < b2.token;
    };
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(count), is_better);
    all.resize(count);
    return all;
  }

  /// How probable it is that nobody speaks, by the first scores.
  void keep_silence(const std::vector<std::vector<float>>& scores) {
    if (!c_.wants(4)) return;
    const std::int64_t token = c_.attr("no_speech_token_id", std::int64_t{-1});
    if (token < 0 || token >= std::ssize(scores[0])) c_.fail("no_speech_token_id is not a token of the vocabulary");
    const auto silence = c_.make(4, DType::f32, {batch_}).mutable_data<float>();
    for (std::int64_t b = 0; b < batch_; ++b) silence[at(b)] = std::exp(scores[at(b * beams_)][at(token)]);
  }

  /// The scores of this step as an output; where texts end early, those of later steps are 0.
  void keep(const std::vector<std::vector<float>>& scores) {
    if (!c_.wants(2)) return;
    const std::int64_t words = std::ssize(scores[0]), each = g_.rows() * words;
    if (!kept_) {
      kept_ = &c_.make(2, DType::f32, {g_.most() - begin_, batch_, beams_, words});
      std::ranges::fill(kept_->mutable_data<float>(), 0.0f);
    }
    auto to = kept_->mutable_data<float>().begin() + (g_.length() - begin_) * each;
    for (std::int64_t k = 0; k < g_.rows(); ++k)
      to = std::ranges::transform(scores[at(k)], to, [&](float score) { return score + sums_[at(k)]; }).out;
  }

  void step() {
    auto scores = g_.scores();
    for (auto& row : scores) to_log_shares(row);
    if (g_.length() == begin_) keep_silence(scores);
    g_.adjust(scores);
    keep(scores);
    std::vector<std::int32_t> tokens;
    std::vector<std::int64_t> from;
    std::vector<float> sums, tops;
    for (std::int64_t b = 0; b < batch_; ++b) {
      const auto candidates = best_of(b, scores);
      for (const auto& candidate : candidates) tops.push_back(candidate.sum);
      if (done_[at(b)]) {
        tokens.insert(tokens.end(), at(beams_), pad_);
        from.insert(from.end(), at(beams_), b * beams_);
        sums.insert(sums.end(), at(beams_), 0.0f);
        continue;
      }
      std::int64_t kept = 0;
      for (std::size_t k = 0; k < candidates.size() && kept < beams_; ++k) {
        if (candidates[k].token == end_) {
          if (k < at(beams_)) found_[at(b)].add(g_.text(candidates[k].row), candidates[k].sum);
          continue;
        }
        tokens.push_back(candidates[k].token);
        from.push_back(candidates[k].row);
        sums.push_back(candidates[k].sum);
        ++kept;
      }
    }
    for (std::int64_t b = 0; b < batch_; ++b) done_[at(b)] = done_[at(b)] || is_done(b, tops);
    sums_ = sums;
    g_.extend(tokens, from);
  }

  bool is_done(std::int64_t b, const std::vector<float>& tops) const {
    const Hypotheses& found = found_[at(b)];
    if (!found.is_full()) return false;
    if (c_.attr("early_stopping", std::int64_t{0})) return true;
    // ONNX Runtime looks at these scores, of which half belong to another row in the second row, and all from the third
    // on.
    const auto first = tops.begin() + b * beams_;
    return found.worst() >= found.scaled(*std::max_element(first, first + 2 * beams_), g_.length());
  }

  KernelContext& c_;
  std::int64_t beams_, wanted_;
  Generation g_;
  std::int64_t batch_, begin_;
  Array* kept_ = nullptr;
  std::int32_t end_, pad_;
  std::vector<float> sums_;
  std::vector<bool> done_;
  std::vector<Hypotheses> found_;
};

void run_beam_search(KernelContext& c) { BeamSearching(c).run(); }

void infer_search(InferContext& c) {
  for (const char* name : {"encoder", "init_decoder", "decoder"})
    if (c.node().attributes.get<GraphPtr>(name)) c.subgraph(name, {});
  c.out_elem(0, DType::i32);
  c.out_rank(0, 2);
}

void infer_beam_search(InferContext& c) {
  infer_search(c);
  constexpr std::size_t kRanks[] = {3, 2, 4, 4, 1};
  for (std::size_t i = 0; i < std::size(kRanks); ++i) {
    if (!c.wants(i)) continue;
    c.out_elem(i, i ? DType::f32 : DType::i32);
    c.out_rank(i, kRanks[i]);
  }
}

}  // namespace

constinit const OpDef defs::microsoft::BeamSearch = {
    .name = "BeamSearch", .domain = kMicrosoft, .infer = infer_beam_search, .kernel = run_beam_search};
constinit const OpDef defs::microsoft::WhisperBeamSearch = {
    .name = "WhisperBeamSearch", .domain = kMicrosoft, .infer = infer_beam_search, .kernel = run_beam_search};
constinit const OpDef defs::microsoft::GreedySearch = {
    .name = "GreedySearch", .domain = kMicrosoft, .infer = infer_search, .kernel = run_greedy_search};

}  // namespace ingot::ops
