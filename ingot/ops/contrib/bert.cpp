// ai.onnx.contrib: BertTokenizer and HfBertTokenizer.
#include <algorithm>

#include "ingot/ops/contrib/basic_tokenizer.h"
#include "ingot/ops/contrib/machines.h"
#include "ingot/ops/contrib/wordpiece.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

using Ints = std::vector<std::int64_t>;
constexpr std::size_t kMostCharacters = 100;  // of a word that is looked up at all

/// A vocabulary with its special tokens.
class Bert {
 public:
  explicit Bert(const Node& node)
      : mark_(node.attributes.string_or("suffix_indicator", "##")),
        unknown_text_(node.attributes.string_or("unk_token", "[UNK]")) {
    const auto is_set = [&](const char* name, std::int64_t fallback) {
      return node.attributes.int_or(name, fallback) != 0;
    };
    std::int64_t id = 0;
    for (const std::string_view token : parts_of(need_text(node, "vocab_file"), "\r\n"))
      pieces_.add(std::string(token), id++);
    const auto special = [&](const char* name, const char* fallback) {
      const std::string token = node.attributes.string_or(name, fallback);
      const std::int64_t* found = pieces_.id_of(token);
      if (!found) refuse_text(node, "the vocabulary has no '" + token.substr(0, 50) + "'");
      return *found;
    };
    unknown_ = special("unk_token", "[UNK]");
    separator_ = special("sep_token", "[SEP]");
    special("pad_token", "[PAD]");
    class_ = special("cls_token", "[CLS]");
    special("mask_token", "[MASK]");
    cuts_words_ = is_set("do_basic_tokenize", 1);
    rules_ = {is_set("do_lower_case", 1), is_set("tokenize_chinese_chars", 1), is_set("strip_accents", 0), true, true};
  }

  Texts tokens(const std::string& text) const {
    Texts tokens;
    for (const Codes& word : cuts_words_ ? basic_words(text, rules_) : plain_words(text))
      pieces_.cut(word, kMostCharacters, mark_, unknown_text_, tokens);
    return tokens;
  }

  Ints ids(const Texts& tokens) const {
    Ints ids;
    for (const std::string& token : tokens) {
      const std::int64_t* id = pieces_.id_of(token);
      ids.push_back(id ? *id : unknown_);
    }
    return ids;
  }

  /// CLS a SEP b SEP, and to which of the two each belongs.
  void joined(const std::vector<Ints>& parts, Ints& ids, Ints& types) const {
    ids.push_back(class_);
    for (const Ints& part : parts) {
      ids.insert(ids.end(), part.begin(), part.end());
      ids.push_back(separator_);
      types.resize(ids.size(), &part == &parts.front() ? 0 : 1);
    }
  }

  /// Places as they would be in a text with one space between its words.
  void offsets(const Texts& tokens, Ints& places) const {
    if (!cuts_words_) return;
    std::int64_t at = 0;
    const auto add = [&](std::int64_t begin, std::int64_t end) { places.insert(places.end(), {begin, end}); };
    add(0, 0);
    for (const std::string& token : tokens) {
      const std::size_t marks = std::min(token.find_first_not_of('#'), token.size());
      const std::int64_t length = token == "[UNK]" ? 1 : static_cast<std::int64_t>(token.size() - marks);
      if (marks) --at;
      add(at, at + length);
      at += length + 1;
    }
    add(0, 0);
  }

 private:
  /// Without rules of words a space ends one, and at a word's beginning belongs to it.
  static std::vector<Codes> plain_words(const std::string& text) {
    std::vector<Codes> words;
    Codes word;
    for (const char32_t code : codes_of(text)) {
      if (code == U' ' && !word.empty()) {
        words.push_back(std::move(word));
        word.clear();
      } else {
        word.push_back(code);
      }
    }
    if (!word.empty()) words.push_back(std::move(word));
    return words;
  }

  WordPieces pieces_;
  std::string mark_, unknown_text_;
  std::int64_t unknown_ = 0, separator_ = 0, class_ = 0;
  bool cuts_words_ = true;
  BasicRules rules_;
};

class BertMachine : public TextMachine {
 public:
  explicit BertMachine(const Node& node)
      : bert_(node), is_hf_(node.op == "HfBertTokenizer"), longest_(node.attributes.int_or("max_length", -1)) {}

  void run(KernelContext& c) const override {
    const auto texts = c.in(0).data<std::string>();
    if (texts.size() != 2 && (is_hf_ || texts.size() != 1))
      c.fail(is_hf_ ? "two texts are needed" : "one or two texts are needed");
    Ints ids, types, places;
    std::vector<Ints> parts;
    Pace pace(c.host().budget());
    for (const std::string& text : texts) {
      pace.step(std::ssize(text) + 1);
      const Texts tokens = bert_.tokens(text);
      parts.push_back(bert_.ids(tokens));
      bert_.offsets(tokens, places);
    }
    // Only one text is ever shortened, and not to less than one token.
    if (texts.size() == 1 && longest_ > 2)
      parts[0].resize(std::min(parts[0].size(), static_cast<std::size_t>(longest_ - 2)));
    bert_.joined(parts, ids, types);
    const auto count = std::ssize(ids);
    const Dims dims = is_hf_ ? Dims{1, count} : Dims{count};
    give_ints(c, 0, dims, ids);
    give_ints(c, is_hf_ ? 2 : 1, dims, types);
    give_ints(c, is_hf_ ? 1 : 2, dims, Ints(ids.size(), 1));
    places.resize(2 * ids.size());
    give_ints(c, 3, {count, 2}, places);
  }

 private:
  Bert bert_;
  bool is_hf_;
  std::int64_t longest_;
};

void infer_bert(InferContext& c) {
  for (std::size_t i = 0; i < 3; ++i) c.out_shape(i, {c.data_dim(0, 0)});
  c.out_shape(3, {c.data_dim(0, 0), 2});
}

void infer_hf_bert(InferContext& c) {
  for (std::size_t i = 0; i < 3; ++i) c.out_shape(i, {1, c.data_dim(0, 1)});
  c.out_shape(3, {c.data_dim(0, 1), 2});
}

}  // namespace

std::unique_ptr<TextMachine> make_bert(const Node& node) { return std::make_unique<BertMachine>(node); }

constinit const OpDef defs::contrib::BertTokenizer = {
    .name = "BertTokenizer", .domain = kContrib, .infer = infer_bert, .kernel = run_machine<BertMachine>};
constinit const OpDef defs::contrib::HfBertTokenizer = {
    .name = "HfBertTokenizer", .domain = kContrib, .infer = infer_hf_bert, .kernel = run_machine<BertMachine>};

}  // namespace ingot::ops
