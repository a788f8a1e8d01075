#pragma once
#include <memory>

#include "ingot/formats/json/document.h"
#include "ingot/ops/contrib/texts.h"

namespace ingot::ops {

/// What tokenizer_config.json says.
struct TokenizerConfig {
  std::string type;  // the class of Transformers: "T5Tokenizer"
  std::string bos, eos, unknown, pad;
  bool adds_bos = false, adds_eos = false;
  bool tells_bos = false, tells_eos = false;  // the two above are given
};

/// A tokenizer.json of a unigram model, as the extensions read it.
std::unique_ptr<TextMachine> make_unigram(const Node& node, const TokenizerConfig& config,
                                          const formats::json::Value& file);

}  // namespace ingot::ops
