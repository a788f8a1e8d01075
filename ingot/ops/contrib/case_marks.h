#pragma once
#include <string>
#include <string_view>

namespace ingot::ops {

/// Marian's marks of upper case. Its rules write an upper-case letter as U and its lower case, a sign as P and itself.
/// Here a word that begins with one such letter gets a T, several get one U and an L behind them, three or more words
/// of them one A in all.
class CaseMarks {
 public:
  /// What a rule made of the next characters; white space becomes U+2581.
  void add(std::string_view piece, bool is_last);
  /// All that was added, of a text of that many bytes.
  std::string text(std::size_t size_of_source) const;

 private:
  void put(std::string_view piece);
  void note(char kind, std::size_t count) { kinds_.append(count, kind); }

  enum class Run { none, one, several };  // upper-case letters just before

  std::string text_;
  std::string kinds_;  // of each byte of text_: U a mark, u upper case, l lower case, p a sign, s white space, L an end
  Run run_ = Run::none;
  std::size_t run_begin_ = 0;
  std::size_t words_ = 0;  // in upper case, one after the other
  bool has_three_words_ = false;
};

}  // namespace ingot::ops
