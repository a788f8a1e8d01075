#pragma once
#include <unordered_map>

#include "ingot/ops/contrib/texts.h"

namespace ingot::ops {

/// Pieces of words, each the longest that the vocabulary has at its place.
class WordPieces {
 public:
  void add(std::string token, std::int64_t id);
  /// Null: not in the vocabulary.
  const std::int64_t* id_of(const std::string& token) const;
  /// The pieces of a word; where none fits, the pieces before it and `unknown`.
  void cut(std::u32string_view word, std::size_t most_characters, std::string_view suffix_mark,
           const std::string& unknown, Texts& pieces) const;

 private:
  std::unordered_map<std::string, std::int64_t> ids_;
  std::size_t longest_ = 0;  // bytes
};

}  // namespace ingot::ops
