// Marks of upper case in texts, as Marian's tokenizers put them.
#include "ingot/ops/contrib/case_marks.h"

#include <algorithm>

#include "ingot/ops/contrib/texts.h"

namespace ingot::ops {
namespace {

/// The end of the signs and white space that begin at `at`; `at` itself: there are none.
std::size_t behind_gap(std::string_view kinds, std::size_t at) {
  for (;;) {
    if (at < kinds.size() && kinds[at] == 'p')
      ++at;
    else if (kinds.substr(at, 3) == "sss")
      at += 3;
    else
      return at;
  }
}

/// The end of the words in upper case that begin at `begin`, if there are three or more; else `begin`.
std::size_t behind_words(std::string_view kinds, std::size_t begin) {
  std::size_t words = 0, at = begin;
  while (at < kinds.size() && kinds[at] == 'U') {
    const std::size_t letters = at + 1, end = std::min(kinds.find_first_not_of('u', letters), kinds.size());
    const std::size_t gap = behind_gap(kinds, end);
    if (end == letters || (gap == end && end != kinds.size())) break;
    ++words;
    at = gap;
  }
  return words >= 3 ? at : begin;
}

}  // namespace

void CaseMarks::put(std::string_view piece) {
  for (const char b : piece)
    if (b == ' ')
      text_ += kLowBlockText;
    else
      text_ += b;
}

void CaseMarks::add(std::string_view piece, bool is_last) {
  const char first = piece.empty() ? '\0' : piece[0];
  if (first == 'U') {
    const bool begins = run_ == Run::none;
    if (begins) run_begin_ = text_.size();
    if (run_ == Run::one) ++words_;
    put(begins ? piece : piece.substr(1));
    if (begins) note('U', 1);
    note('u', piece.size() - 1);
    text_[run_begin_] = begins ? 'T' : 'U';
    run_ = begins ? Run::one : Run::several;
    // Words are counted before a text's last letter, as upstream does.
    if (!is_last && words_ >= 3) has_three_words_ = true;
    return;
  }
  if (first == 'P' || first == ' ') {
    if (run_ == Run::one) ++words_;
    if (first == 'P') piece.remove_prefix(1);
    if (first == 'P')
      note('p', piece.size());
    else
      note('s', kLowBlockText.size());
  } else {
    words_ = 0;
    if (run_ == Run::several) {
      put("L");
      note('L', 1);
    }
    note('l', piece.size());
  }
  put(piece);
  if (run_ == Run::none && words_ >= 3) has_three_words_ = true;
  run_ = Run::none;
}

std::string CaseMarks::text(std::size_t size_of_source) const {
  if (!has_three_words_) return text_;
  // Upstream looks at so many bytes only, and kinds may be fewer or more than bytes where a rule gives several
  // characters.
  const std::size_t most = std::min({text_.size(), kinds_.size(), 3 * size_of_source});
  std::string marked;
  std::size_t done = 0;
  for (std::size_t begin = 0; begin < kinds_.size();) {
    const std::size_t end = behind_words(kinds_, begin);
    if (end == begin) {
      ++begin;
      continue;
    }
    if (begin >= most) break;
    marked.append(text_, done, begin - done);
    marked += 'A';
    for (done = begin; done < end && done < most; ++done)
      if (kinds_[done] != 'U') marked += text_[done];
    if (end < kinds_.size() && kinds_[end] != 'U' && done < most) marked += 'L';
    begin = end;
  }
  return marked.append(text_, done);
}

}  // namespace ingot::ops
