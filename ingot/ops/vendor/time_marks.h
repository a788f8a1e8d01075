#pragma once
#include <span>
#include <vector>

#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// What Whisper's decoders may write, where texts have marks of time: those come in pairs, never go back, and one is
/// taken where all of them together are more probable than any word.
class TimeMarks {
 public:
  /// By the attributes of WhisperBeamSearch.
  explicit TimeMarks(const KernelContext& c);
  /// Rules out what may not follow the text. `scores` are logarithms of shares.
  void restrict(std::span<const std::int32_t> text, std::vector<float>& scores) const;

 private:
  std::int64_t end_, start_, translate_, transcribe_, start_of_lm_, no_marks_;
  std::int64_t first_;  // the mark of the time 0; all tokens from there on are marks
};

}  // namespace ingot::ops
