// The text operators that make something of their attributes once.
#include "ingot/ops/contrib/machines.h"

#include <algorithm>

namespace ingot::ops {
namespace {

struct Row {
  std::string_view op;
  std::unique_ptr<TextMachine> (*make)(const Node&);
};
constexpr Row kRows[] = {
    {"BertTokenizer", make_bert},
    {"BertTokenizerDecoder", make_bert_decoder},
    {"BlingFireSentenceBreaker", make_sentence_breaker},
    {"BpeDecoder", make_bpe_decoder},
    {"CLIPTokenizer", make_bpe},
    {"GPT2Tokenizer", make_bpe},
    {"HfBertTokenizer", make_bert},
    {"HfJsonTokenizer", make_hf_json},
    {"RobertaTokenizer", make_bpe},
    {"SentencepieceDecoder", make_sentencepiece_decoder},
    {"SentencepieceTokenizer", make_sentencepiece},
    {"SpmTokenizer", make_bpe},
    {"StringMapping", make_mapping},
    {"StringToVector", make_to_vector},
    {"TrieDetokenizer", make_trie_decoder},
    {"TrieTokenizer", make_trie},
    {"VectorToString", make_from_vector},
    {"WordpieceTokenizer", make_wordpiece},
};

}  // namespace

std::unique_ptr<TextMachine> make_text_machine(const Node& node) {
  const auto* row = std::ranges::find(kRows, node.op, &Row::op);
  return row == std::end(kRows) ? nullptr : row->make(node);
}

}  // namespace ingot::ops
