#pragma once
#include <memory>
#include <optional>

#include "ingot/ops/contrib/bpe_model.h"
#include "ingot/ops/contrib/prefix_table.h"
#include "ingot/ops/contrib/pretokenizer.h"
#include "ingot/ops/contrib/texts.h"

namespace ingot::ops {

/// A tokenizer of byte pair encoding, as its operator and its vocabulary make it.
struct BpeTokenizer {
  BpeModel model;
  std::vector<PreTokenizer> steps;  // one after the other, each on the pieces of the one before
  bool is_clip = false;             // lower case, and a mark at the end of words
  bool is_spm = false;              // symbols are characters, a space is U+2581
  bool has_prefix = false;          // is_spm: U+2581 before each text
  bool is_whole = false;            // is_spm: no words are cut
  bool adds_bos = false, adds_eos = false;
  std::uint32_t bos = BpeModel::kNone, eos = BpeModel::kNone, pad = 0;
  PrefixTable added;  // tokens that texts are cut at first; numbers of `added_tokens`
  struct Added {
    std::uint32_t id;
    bool strips_right;
  };
  std::vector<Added> added_tokens;
  std::vector<std::pair<std::string, std::uint32_t>> specials;  // then at these, in this order

  using Ints = std::vector<std::int64_t>;
  /// Numbers of tokens, and pairs of places as the extensions count them.
  void encode(const std::string& text, bool adds_special, std::size_t most, Ints& ids, Ints& places) const;
  /// Rows of numbers, padded to one length.
  void run(KernelContext& c, std::int64_t padding) const;

 private:
  struct Part {
    std::string_view text;
    std::uint32_t id = BpeModel::kNone;
  };
  std::vector<Part> parts_of_text(std::string_view text) const;
  std::string cleaned(const std::string& text) const;
  std::vector<BpeModel::Symbol> byte_symbols(std::string_view piece) const;
  void character_symbols(std::string_view text, std::vector<BpeModel::Symbol>& symbols) const;
  void encode_bytes(std::string_view part, std::size_t most, Ints& ids, Ints& places) const;
  void encode_characters(std::string_view part, std::size_t most, Ints& ids, Ints& places) const;
  void encode_whole(const std::string& text, std::size_t most, Ints& ids, Ints& places) const;
};

/// How the numbers of a text end up in an operator's outputs.
void infer_bpe(InferContext& c);

}  // namespace ingot::ops
