// Unigram models of tokenizer.json: the most probable pieces of a text.
#include "ingot/ops/contrib/unigram.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "ingot/ops/contrib/case_marks.h"
#include "ingot/ops/contrib/charsmap.h"
#include "ingot/ops/contrib/prefix_table.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/text/utf8.h"

namespace ingot::ops {
namespace {

using formats::json::Value;
constexpr double kUnknownPenalty = 10;
constexpr double kWorst = -std::numeric_limits<double>::max();

/// The rules of the file's normaliser, or of the first precompiled one in its list.
Charsmap rules_of(const Node& node, const Value& file) {
  const Value normalizer = file["normalizer"];
  Value text = normalizer["precompiled_charsmap"];
  for (const Value& step : normalizer["normalizers"].entries())
    if (!text.exists() && step["type"].text() == "Precompiled") text = step["precompiled_charsmap"];
  std::string bytes;
  if (!decode_base64(text.text(), bytes)) refuse_text(node, "the rules of normalisation are not base64");
  return Charsmap(bytes);
}

class Unigram : public TextMachine {
 public:
  Unigram(const Node& node, const TokenizerConfig& config, const Value& file)
      : config_(config),
        is_chat_glm_(config.type == "ChatGLMTokenizer"),
        is_marian_(config.type == "MarianTokenizer"),
        rules_(rules_of(node, file)) {
    for (const Value& token : file["added_tokens"].entries()) {
      const std::int64_t id = token["id"].as_int().value_or(0);
      if (token["special"].as_bool().value_or(false)) special_.insert(id);
      added_.add(std::string(token["content"].text()), id);
    }
    added_.seal();
    const Value model = file["model"];
    unknown_ = model["unk_id"].as_int().value_or(-1);
    if (!model["vocab"].is_list()) refuse_text(node, "the file has no list of pieces");
    load(node, model["vocab"]);
  }

  void run(KernelContext& c) const override {
    const Array& x = c.in(0);
    if (x.rank() != 1 || x.size() != 1) c.fail("a unigram tokenizer takes one text, of the shape [1]");
    if (c.wants(1) || c.wants(2)) c.fail("a unigram tokenizer gives neither mask nor offsets");
    const std::string& text = x.data<std::string>()[0];
    if (!is_utf8(text)) c.fail("the text is not UTF-8");
    const std::vector<std::int64_t> ids = encode(c, is_marian_ ? marked(text) : normalized(text));
    give_ints(c, 0, {std::ssize(ids)}, ids);
  }

 private:
  void load(const Node& node, const Value& vocabulary) {
    double least = std::numeric_limits<double>::max();
    for (const Value& entry : vocabulary.entries()) {
      if (!entry.is_list() || entry.size() < 2) refuse_text(node, "a piece is not a text and a score");
      const double score = entry[1].as_number().value_or(0);
      std::string piece = spelt(entry[0].text());
      const bool is_new = !ids_.contains(piece);
      if (score == 0 && !is_new) continue;
      const std::int64_t id = std::ssize(scores_);
      ids_[piece] = id;
      scores_.push_back(score);
      least = std::min(least, score);
    }
    for (int b = 0; is_marian_ && b < 256; ++b) {
      const std::string byte(1, static_cast<char>(b));
      if (!ids_.try_emplace(byte, std::ssize(scores_)).second) continue;
      scores_.push_back(least);
    }
    for (const auto& [piece, id] : ids_) pieces_.add(piece, id);
    pieces_.seal();
    unknown_score_ = least - kUnknownPenalty;
  }

  /// A piece as it stands in texts.
  std::string spelt(std::string_view piece) const {
    const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; };
    if (piece.size() == 6 && piece.starts_with("<0x") && piece[5] == '>' && digit(piece[3]) >= 0 &&
        digit(piece[4]) >= 0)
      return std::string(1, static_cast<char>(digit(piece[3]) << 4 | digit(piece[4])));
    if (is_chat_glm_ && piece == "<n>") return "\n";
    if (is_chat_glm_ && piece == "<|tab|>") return "\t";
    if (is_chat_glm_ && piece.size() == 11 && piece.starts_with("<|blank_") && piece[8] >= '2' && piece[8] <= '9') {
      std::string spaces;
      for (char n = '0'; n < piece[8]; ++n) spaces += kLowBlockText;
      return spaces;
    }
    return std::string(piece);
  }

  /// What the text begins with, by the rules: an added token, and a character that no rule is for, stay as they are.
  Charsmap::Rule first_piece(std::string_view text) const {
    if (const std::size_t length = added_.longest(text).length) return {length, text.substr(0, length)};
    if (const Charsmap::Rule rule = rules_.longest(text); rule.length) return rule;
    const std::size_t length = first_character(text).bytes;
    return {length, text.substr(0, length)};
  }

  /// Marian's: with marks of upper case, and white space behind the text.
  std::string marked(std::string_view text) const {
    CaseMarks marks;
    const std::size_t size = text.size();
    while (!text.empty()) {
      const Charsmap::Rule piece = first_piece(text);
      text.remove_prefix(piece.length);
      marks.add(piece.by, text.empty());
    }
    return marks.text(size) + std::string(kLowBlockText);
  }

  /// Rules applied, white space as U+2581: one before each word, or, for ChatGLM, as many as there are.
  std::string normalized(std::string_view text) const {
    std::string result;
    bool in_word = false, has_prefix = false;
    while (!text.empty()) {
      const auto [used, piece] = first_piece(text);
      for (const char b : piece) {
        if (b == ' ') {
          in_word = false;
          if (is_chat_glm_) result += kLowBlockText;
          continue;
        }
        if (!in_word && (!has_prefix || !is_chat_glm_)) result += kLowBlockText;
        in_word = has_prefix = true;
        result += b;
      }
      text.remove_prefix(used);
    }
    return result;
  }

  struct Best {
    std::size_t from = 0;
    double score = kWorst;
    std::int64_t id = 0;
  };

  std::vector<Best> best_ways(KernelContext& c, const std::string& text) const {
    std::vector<Best> best(text.size() + 1, {0, kWorst, unknown_});
    best[0].score = 0;
    Pace pace(c.host().budget());
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view rest = std::string_view(text).substr(at);
      const std::size_t character = std::min(first_character(rest).bytes, rest.size());
      const auto offer = [&](std::size_t length, double score, std::int64_t id) {
        Best& champion = best[at + length];
        // Sums are kept in single precision, as upstream does: ties depend on it.
        const double sum = best[at].score + score;
        if (sum > champion.score) champion = {at, static_cast<double>(static_cast<float>(sum)), id};
      };
      bool is_known = false;
      pieces_.for_each_prefix(rest, [&](std::size_t length, std::int64_t id) {
        is_known = is_known || length == character;
        offer(length, special_.contains(id) ? 0 : scores_[static_cast<std::size_t>(id)], id);
        pace.step(1);
      });
      if (!is_known && is_marian_)
        spell(text, at, character, best);
      else if (!is_known)
        offer(character, unknown_score_, unknown_);
      at += character;
      pace.step(1);
    }
    return best;
  }

  /// A character that no piece is for, byte by byte.
  void spell(const std::string& text, std::size_t at, std::size_t bytes, std::vector<Best>& best) const {
    for (const std::size_t end = at + bytes; at < end; ++at) {
      const std::int64_t id = id_of(text.substr(at, 1));
      const double sum = best[at].score + (special_.contains(id) ? 0 : scores_[static_cast<std::size_t>(id)]);
      if (sum > best[at + 1].score) best[at + 1] = {at, sum, id};
    }
  }

  std::vector<std::int64_t> encode(KernelContext& c, const std::string& text) const {
    std::vector<std::int64_t> ids;
    if (text.empty()) return ids;
    const std::vector<Best> best = best_ways(c, text);
    for (std::size_t at = text.size(); at > 0; at = best[at].from) {
      const bool repeats = !is_marian_ && !ids.empty() && ids.back() == unknown_ && best[at].id == unknown_;
      if (!repeats) ids.push_back(best[at].id);
    }
    if (config_.adds_bos) ids.push_back(id_of(config_.bos));
    std::ranges::reverse(ids);
    if (is_chat_glm_) {
      std::erase(ids, unknown_);
      ids.insert(ids.end(), {id_of("[gMASK]"), id_of("<sop>")});
    }
    if (config_.adds_eos) ids.push_back(id_of(config_.eos));
    return ids;
  }

  std::int64_t id_of(const std::string& token) const {
    const auto it = ids_.find(token);
    return it == ids_.end() ? unknown_ : it->second;
  }

  TokenizerConfig config_;
  bool is_chat_glm_, is_marian_;
  Charsmap rules_;
  PrefixTable added_, pieces_;
  std::unordered_set<std::int64_t> special_;
  std::unordered_map<std::string, std::int64_t> ids_;
  std::vector<double> scores_;
  std::int64_t unknown_ = -1;
  double unknown_score_ = 0;
};

}  // namespace

std::unique_ptr<TextMachine> make_unigram(const Node& node, const TokenizerConfig& config, const Value& file) {
  return std::make_unique<Unigram>(node, config, file);
}

}  // namespace ingot::ops
