// com.microsoft.WhisperBeamSearch: marks of time in texts.
#include "ingot/ops/vendor/time_marks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/base/error.h"

namespace ingot::ops {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr std::int64_t kLatestFirstMark = 50;  // one second

/// Tokens from `begin` up to and without `end`.
void forbid(std::vector<float>& scores, std::int64_t begin, std::int64_t end) {
  begin = std::max<std::int64_t>(begin, 0);
  end = std::min<std::int64_t>(end, std::ssize(scores));
  if (begin < end) std::fill(scores.begin() + begin, scores.begin() + end, kLowest);
}

void forbid(std::vector<float>& scores, std::int64_t token) {
  if (token >= 0) forbid(scores, token, token + 1);
}

/// The logarithm of the share of all that is not ruled out.
float share_of_all(std::span<const float> scores) {
  const float top = *std::ranges::max_element(scores);
  float sum = 0;
  for (const float score : scores)
    if (score > kLowest) sum += std::exp(score - top);
  return sum > 0 ? std::log(sum) + top : kLowest;
}

}  // namespace

TimeMarks::TimeMarks(const KernelContext& c)
    : end_(c.attr("eos_token_id", std::int64_t{-1})),
      start_(c.attr("decoder_start_token_id", std::int64_t{-1})),
      translate_(c.attr("translate_token_id", std::int64_t{-1})),
      transcribe_(c.attr("transcribe_token_id", std::int64_t{-1})),
      start_of_lm_(c.attr("start_of_lm_token_id", std::int64_t{-1})),
      no_marks_(c.attr("no_timestamps_token_id", std::int64_t{-1})),
      first_(c.attr("beginning_timestamp_token_id", std::int64_t{-1})) {
  if (first_ <= 0) c.fail("beginning_timestamp_token_id is not a token of the vocabulary");
}

void TimeMarks::restrict(std::span<const std::int32_t> text, std::vector<float>& scores) const {
  const auto is_mark = [&](std::int32_t token) { return token >= first_; };
  const std::int64_t count = std::ssize(scores), length = std::ssize(text);
  if (first_ >= count) throw Error(Code::execution_failed, "beginning_timestamp_token_id is beyond the vocabulary");
  const auto mark = std::ranges::find_if(text, is_mark);
  // The text's own begin ends with the first mark, if there is one.
  const std::int64_t begin = std::min<std::int64_t>(mark - text.begin() + 1, length);
  forbid(scores, no_marks_);
  forbid(scores, start_of_lm_);
  if (length > begin)
    for (const std::int64_t token : {start_, translate_, transcribe_}) forbid(scores, token);

  const bool ends_with_mark = length > 0 && is_mark(text.back());
  const bool ends_with_pair = ends_with_mark && (length <= begin || is_mark(text[text.size() - 2]));
  if (ends_with_pair)
    forbid(scores, first_, count);
  else if (ends_with_mark)
    forbid(scores, 0, end_);
  if (mark != text.end()) {
    const std::int32_t last = *std::find_if(text.rbegin(), text.rend(), is_mark);
    forbid(scores, first_, ends_with_mark && !ends_with_pair ? last : std::int64_t{last} + 1);
  }
  if (length == begin) forbid(scores, first_ + kLatestFirstMark + 1, count);

  const std::span<const float> all = scores;
  const auto words = all.first(static_cast<std::size_t>(first_)), marks = all.subspan(static_cast<std::size_t>(first_));
  if (share_of_all(marks) > *std::ranges::max_element(words)) forbid(scores, 0, first_);
}

}  // namespace ingot::ops
