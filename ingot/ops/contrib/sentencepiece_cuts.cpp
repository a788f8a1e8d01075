// Models of SentencePiece: which pieces a normalised text is cut into.
#include <algorithm>
#include <limits>
#include <queue>

#include "ingot/ops/contrib/sentencepiece_model.h"
#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/text/utf8.h"

namespace ingot::ops {

std::vector<SentencePieceModel::Cut> SentencePieceModel::unigram(const std::string& text, Budget& budget) const {
  struct Best {
    std::size_t from = 0;
    float score = 0;
    std::int32_t id = -1;  // no way leads here yet
  };
  constexpr double kPenalty = 10;
  // Pieces that users defined are nearly free. The best score of all that this is said to depend on begins with the
  // smallest positive number, and scores are negative.
  constexpr double kUserScore = std::numeric_limits<float>::min();
  std::vector<Best> best(text.size() + 1);
  Pace pace(budget);
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const std::size_t character = std::min(first_character(rest).bytes, rest.size());
    const auto offer = [&](std::size_t length, double score, std::int32_t id) {
      Best& champion = best[at + length];
      const double sum = score + static_cast<double>(best[at].score);
      if (champion.id < 0 || sum > static_cast<double>(champion.score)) champion = {at, static_cast<float>(sum), id};
    };
    bool is_known = false;
    table_.for_each_prefix(rest, [&](std::size_t length, std::int64_t value) {
      const Piece& p = pieces_[static_cast<std::size_t>(value)];
      if (p.type == kUnused) return;
      is_known = is_known || length == character;
      const double score =
          p.type == kUserDefined ? static_cast<double>(length) * kUserScore - 0.1 : static_cast<double>(p.score);
      offer(length, score, static_cast<std::int32_t>(value));
      pace.step(1);
    });
    if (!is_known) offer(character, static_cast<double>(least_score_) - kPenalty, unknown_);
    at += character;
    pace.step(1);
  }
  std::vector<Cut> cuts;
  for (std::size_t at = text.size(); at > 0; at = best[at].from)
    cuts.push_back({std::string_view(text).substr(best[at].from, at - best[at].from), best[at].id});
  std::ranges::reverse(cuts);
  return cuts;
}

namespace {

constexpr std::size_t kEnd = static_cast<std::size_t>(-1);

/// Two neighbours that are a piece together.
struct Pair {
  float score;
  std::size_t left, right, size;

  bool operator<(const Pair& other) const { return score < other.score || (score == other.score && left > other.left); }
};

struct Symbol {
  std::string_view text;
  std::size_t before, next;
  bool is_fixed;
};

}  // namespace

std::vector<SentencePieceModel::Cut> SentencePieceModel::bpe(const std::string& text, Budget& budget) const {
  std::vector<Symbol> symbols;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    const std::size_t defined = user_defined_.longest(rest).length;
    const std::size_t size = defined ? defined : std::min(first_character(rest).bytes, rest.size());
    const std::size_t i = symbols.size();
    symbols.push_back({rest.substr(0, size), i ? i - 1 : kEnd, i + 1, defined != 0});
    at += size;
  }
  if (symbols.empty()) return {};
  symbols.back().next = kEnd;
  std::unordered_map<std::string_view, std::size_t> unused_halves;  // how long the left part of an unused piece is
  std::priority_queue<Pair> queue;
  const auto look = [&](std::size_t left, std::size_t right) {
    if (left == kEnd || right == kEnd || symbols[left].is_fixed || symbols[right].is_fixed) return;
    const std::string_view piece(symbols[left].text.data(), symbols[left].text.size() + symbols[right].text.size());
    const auto it = ids_.find(std::string(piece));
    if (it == ids_.end()) return;
    const Piece& p = pieces_[static_cast<std::size_t>(it->second)];
    if (p.type != kNormal && p.type != kUserDefined && p.type != kUnused) return;
    queue.push({p.score, left, right, piece.size()});
    if (p.type == kUnused) unused_halves[piece] = symbols[left].text.size();
  };
  Pace pace(budget);
  for (std::size_t i = 1; i < symbols.size(); ++i) look(i - 1, i);
  while (!queue.empty()) {
    const Pair pair = queue.top();
    queue.pop();
    Symbol &left = symbols[pair.left], &right = symbols[pair.right];
    pace.step(static_cast<std::int64_t>(pair.size));
    if (left.text.empty() || right.text.empty() || left.text.size() + right.text.size() != pair.size) continue;
    left.text = {left.text.data(), pair.size};
    left.next = right.next;
    if (right.next != kEnd) symbols[right.next].before = pair.left;
    right.text = {};
    look(left.before, pair.left);
    look(pair.left, left.next);
  }
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i != kEnd; i = symbols[i].next) {
    std::vector<std::string_view> todo{symbols[i].text};
    while (!todo.empty()) {
      const std::string_view piece = todo.back();
      todo.pop_back();
      const std::int32_t id = id_of(piece);
      const auto half = unused_halves.find(piece);
      if (pieces_[static_cast<std::size_t>(id)].type == kUnused && half != unused_halves.end()) {
        todo.push_back(piece.substr(half->second));
        todo.push_back(piece.substr(0, half->second));
      } else {
        cuts.push_back({piece, id});
      }
    }
  }
  return cuts;
}

std::vector<SentencePieceModel::Cut> SentencePieceModel::words(std::string_view text) const {
  std::vector<Cut> cuts;
  while (!text.empty()) {
    std::size_t end = text.find(kLowBlockText, is_suffix_ ? 0 : kLowBlockText.size());
    if (text.size() < kLowBlockText.size() || end == text.npos)
      end = text.size();
    else if (is_suffix_)
      end += kLowBlockText.size();
    cuts.push_back({text.substr(0, end), id_of(text.substr(0, end))});
    text.remove_prefix(end);
  }
  return cuts;
}

std::vector<SentencePieceModel::Cut> SentencePieceModel::characters(std::string_view text) const {
  std::vector<Cut> cuts;
  while (!text.empty()) {
    const std::size_t size = std::min(first_character(text).bytes, text.size());
    cuts.push_back({text.substr(0, size), id_of(text.substr(0, size))});
    text.remove_prefix(size);
  }
  return cuts;
}

}  // namespace ingot::ops
