#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingot/ops/contrib/charsmap.h"
#include "ingot/ops/contrib/prefix_table.h"

namespace ingot {
class Budget;
}

namespace ingot::ops {

/// A model of SentencePiece: pieces of texts with their scores, and how a text is normalised before.
class SentencePieceModel {
 public:
  /// The bytes of a ModelProto. Throws Error for what is none, or has no piece for what is unknown.
  explicit SentencePieceModel(std::string_view bytes);

  struct Token {
    std::int32_t id;
    std::int32_t begin;  // byte of the text
  };
  std::vector<Token> encode(const std::string& text, Budget& budget) const;
  /// Throws Error for a number that is no piece's.
  std::string decode(const std::vector<std::int64_t>& ids) const;

  std::int32_t bos() const { return bos_; }
  std::int32_t eos() const { return eos_; }

 private:
  enum Type { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };
  enum class Kind { unigram = 1, bpe, word, character };
  struct Piece {
    std::string text;
    float score = 0;
    Type type = kNormal;
  };
  /// A text after normalisation, and the byte of the original at which each of its bytes begins.
  struct Normal {
    std::string text;
    std::vector<std::int32_t> origin;
  };
  struct Cut {
    std::string_view text;
    std::int32_t id;
  };
  struct Prefix {
    std::string_view text;
    std::size_t used;
  };

  void read(std::string_view bytes);
  void index();
  std::int32_t id_of(std::string_view piece) const;
  Prefix normal_prefix(std::string_view text) const;
  Normal normalized(std::string_view text) const;
  std::vector<Cut> unigram(const std::string& text, Budget& budget) const;
  std::vector<Cut> bpe(const std::string& text, Budget& budget) const;
  std::vector<Cut> words(std::string_view text) const;
  std::vector<Cut> characters(std::string_view text) const;
  std::vector<Token> tokens(const std::vector<Cut>& cuts, const Normal& normal) const;

  std::vector<Piece> pieces_;
  std::unordered_map<std::string, std::int32_t> ids_;
  PrefixTable table_, user_defined_;
  Charsmap rules_, final_rules_;  // before a text is cut, and after one is put together
  Kind kind_ = Kind::unigram;
  bool is_suffix_ = false, has_byte_fallback_ = false;
  bool adds_prefix_ = true, removes_spaces_ = true, escapes_spaces_ = true;
  std::string unknown_surface_ = " \xe2\x81\x87 ", bos_piece_ = "<s>", eos_piece_ = "</s>";
  std::int32_t unknown_ = -1, bos_ = -1, eos_ = -1;
  float least_score_ = 0;
};

}  // namespace ingot::ops
