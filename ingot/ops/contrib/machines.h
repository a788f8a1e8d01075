#pragma once
#include "ingot/ops/contrib/texts.h"

// The machines of text operators, each in its operator's file.

namespace ingot::ops {

std::unique_ptr<TextMachine> make_bert(const Node& node);
std::unique_ptr<TextMachine> make_bert_decoder(const Node& node);
std::unique_ptr<TextMachine> make_bpe(const Node& node);
std::unique_ptr<TextMachine> make_bpe_decoder(const Node& node);
std::unique_ptr<TextMachine> make_from_vector(const Node& node);
std::unique_ptr<TextMachine> make_hf_json(const Node& node);
std::unique_ptr<TextMachine> make_mapping(const Node& node);
std::unique_ptr<TextMachine> make_sentence_breaker(const Node& node);
std::unique_ptr<TextMachine> make_sentencepiece(const Node& node);
std::unique_ptr<TextMachine> make_sentencepiece_decoder(const Node& node);
std::unique_ptr<TextMachine> make_to_vector(const Node& node);
std::unique_ptr<TextMachine> make_trie(const Node& node);
std::unique_ptr<TextMachine> make_trie_decoder(const Node& node);
std::unique_ptr<TextMachine> make_wordpiece(const Node& node);

}  // namespace ingot::ops
