// Models of SentencePiece: reading, normalisation, decoding.
#include "ingot/ops/contrib/sentencepiece_model.h"

#include <algorithm>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/protobuf/wire_reader.h"
#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/text/utf8.h"

namespace ingot::ops {
namespace {

using formats::protobuf::Reader;

[[noreturn]] void refuse_model(const std::string& why) {
  throw Error(Code::bad_attribute, "the SentencePiece model " + why);
}

}  // namespace

SentencePieceModel::SentencePieceModel(std::string_view bytes) {
  read(bytes);
  index();
}

void SentencePieceModel::read(std::string_view bytes) {
  const auto piece = [&](Reader r) {
    Piece p;
    while (r.next()) {
      if (r.field() == 1) p.text = r.string();
      if (r.field() == 2) p.score = r.fixed_float();
      if (r.field() == 3) p.type = static_cast<Type>(std::clamp<std::int64_t>(r.int64(), kNormal, kByte));
    }
    pieces_.push_back(std::move(p));
  };
  const auto trainer = [&](Reader r) {
    while (r.next()) {
      if (r.field() == 3) kind_ = static_cast<Kind>(std::clamp<std::int64_t>(r.int64(), 1, 4));
      if (r.field() == 24) is_suffix_ = r.boolean();
      if (r.field() == 35) has_byte_fallback_ = r.boolean();
      if (r.field() == 44) unknown_surface_ = r.string();
      if (r.field() == 46) bos_piece_ = r.string();
      if (r.field() == 47) eos_piece_ = r.string();
    }
  };
  const auto normalizer = [&](Reader r) {
    while (r.next()) {
      if (r.field() == 2) rules_ = Charsmap(r.text());
      if (r.field() == 3) adds_prefix_ = r.boolean();
      if (r.field() == 4) removes_spaces_ = r.boolean();
      if (r.field() == 5) escapes_spaces_ = r.boolean();
    }
  };
  for (Reader r(Bytes::copy(std::as_bytes(std::span(bytes)))); r.next();) {
    if (r.field() == 1) piece(r.message());
    if (r.field() == 2) trainer(r.message());
    if (r.field() == 3) normalizer(r.message());
    if (r.field() == 5)
      for (Reader last = r.message(); last.next();)
        if (last.field() == 2) final_rules_ = Charsmap(last.text());
  }
}

void SentencePieceModel::index() {
  least_score_ = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& p = pieces_[i];
    const auto id = static_cast<std::int32_t>(i);
    if (p.text.empty()) refuse_model("has a piece without text");
    if (!ids_.emplace(p.text, id).second) refuse_model("has the piece '" + p.text.substr(0, 40) + "' twice");
    if (p.type == kUnknown) unknown_ = id;
    if (p.type == kNormal) least_score_ = std::min(least_score_, p.score);
    if (p.type == kUserDefined) user_defined_.add(p.text, id);
    if (p.type == kNormal || p.type == kUserDefined || p.type == kUnused) table_.add(p.text, id);
  }
  if (unknown_ < 0) refuse_model("has no piece for what is unknown");
  table_.seal();
  user_defined_.seal();
  const auto control = [&](const std::string& piece) {
    const auto it = ids_.find(piece);
    return it != ids_.end() && pieces_[static_cast<std::size_t>(it->second)].type == kControl ? it->second : -1;
  };
  bos_ = control(bos_piece_);
  eos_ = control(eos_piece_);
}

std::int32_t SentencePieceModel::id_of(std::string_view piece) const {
  const auto it = ids_.find(std::string(piece));
  return it == ids_.end() ? unknown_ : it->second;
}

SentencePieceModel::Prefix SentencePieceModel::normal_prefix(std::string_view text) const {
  if (const std::size_t length = user_defined_.longest(text).length) return {text.substr(0, length), length};
  if (const Charsmap::Rule rule = rules_.longest(text); rule.length) return {rule.by, rule.length};
  const Character c = first_character(text);
  if (!c.is_valid) return {"\xef\xbf\xbd", 1};
  return {text.substr(0, c.bytes), c.bytes};
}

SentencePieceModel::Normal SentencePieceModel::normalized(std::string_view text) const {
  Normal n;
  std::int32_t used = 0;
  const auto take = [&](const Prefix& p) {
    used += static_cast<std::int32_t>(p.used);
    text.remove_prefix(p.used);
  };
  const std::string_view space = escapes_spaces_ ? kLowBlockText : " ";
  const auto add = [&](std::string_view part) {
    n.text += part;
    n.origin.resize(n.text.size(), used);
  };
  while (removes_spaces_ && !text.empty()) {
    const Prefix p = normal_prefix(text);
    if (p.text != " ") break;
    take(p);
  }
  if (text.empty()) return n;
  if (adds_prefix_ && !is_suffix_) add(space);
  for (bool was_space = removes_spaces_; !text.empty();) {
    const Prefix p = normal_prefix(text);
    std::string_view part = p.text;
    while (was_space && part.starts_with(' ')) part.remove_prefix(1);
    for (const char b : part) add(b == ' ' ? space : std::string_view(&b, 1));
    if (!part.empty()) was_space = part.ends_with(' ');
    take(p);
    if (!removes_spaces_) was_space = false;
  }
  while (removes_spaces_ && n.text.ends_with(space)) {
    n.text.erase(n.text.size() - space.size());
    used = n.origin[n.text.size()];
    n.origin.resize(n.text.size());
  }
  if (adds_prefix_ && is_suffix_) add(space);
  n.origin.push_back(used);
  return n;
}

std::vector<SentencePieceModel::Token> SentencePieceModel::tokens(const std::vector<Cut>& cuts,
                                                                  const Normal& normal) const {
  std::vector<Token> tokens;
  std::size_t at = 0;
  bool was_unknown = false;
  for (const Cut& cut : cuts) {
    const std::int32_t begin = normal.origin[at];
    const bool is_unknown = cut.id == unknown_;
    at += cut.text.size();
    if (is_unknown && has_byte_fallback_) {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      for (const char b : cut.text) {
        const auto byte = static_cast<unsigned char>(b);
        tokens.push_back({id_of(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + '>'), begin});
      }
    } else if (!is_unknown || !was_unknown) {
      tokens.push_back({cut.id, begin});
    }
    was_unknown = is_unknown;
  }
  return tokens;
}

std::vector<SentencePieceModel::Token> SentencePieceModel::encode(const std::string& text, Budget& budget) const {
  if (text.size() > std::numeric_limits<std::int32_t>::max() / 4) refuse_model("is asked for a text that is too long");
  const Normal normal = normalized(text);
  if (normal.text.empty()) return {};
  switch (kind_) {
    case Kind::bpe:
      return tokens(bpe(normal.text, budget), normal);
    case Kind::word:
      return tokens(words(normal.text), normal);
    case Kind::character:
      return tokens(characters(normal.text), normal);
    case Kind::unigram:
      break;
  }
  return tokens(unigram(normal.text, budget), normal);
}

namespace {

/// Bytes as UTF-8; one that begins no character is U+FFFD.
void flush(std::string& bytes, std::string& text) {
  text += utf8_of(codes_of(bytes));
  bytes.clear();
}

std::string replaced(std::string_view text, const Charsmap& rules) {
  std::string result;
  while (!text.empty()) {
    const Charsmap::Rule rule = rules.longest(text);
    const std::size_t used = rule.length ? rule.length : first_character(text).bytes;
    result += rule.length ? rule.by : text.substr(0, used);
    text.remove_prefix(used);
  }
  return result;
}

std::string with_spaces(std::string_view piece) {
  std::string text;
  while (!piece.empty()) {
    const bool is_space = piece.starts_with(kLowBlockText);
    text += is_space ? ' ' : piece.front();
    piece.remove_prefix(is_space ? kLowBlockText.size() : 1);
  }
  return text;
}

}  // namespace

std::string SentencePieceModel::decode(const std::vector<std::int64_t>& ids) const {
  std::string text, bytes;
  bool saw_space = false;
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= std::ssize(pieces_)) refuse_model("has no piece with the number " + std::to_string(id));
    const Piece& p = pieces_[static_cast<std::size_t>(id)];
    if (p.type == kByte && p.text.size() == 6) {
      const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
      bytes += static_cast<char>(digit(p.text[3]) << 4 | (digit(p.text[4]) & 15));
      continue;
    }
    flush(bytes, text);
    if (p.type == kControl) continue;
    if (p.type == kUnknown) {
      text += unknown_surface_;
      continue;
    }
    std::string_view piece = p.text;
    if (text.empty() && !saw_space && (adds_prefix_ || removes_spaces_) && piece.starts_with(kLowBlockText)) {
      piece.remove_prefix(kLowBlockText.size());
      saw_space = !removes_spaces_;
    }
    text += with_spaces(piece);
  }
  flush(bytes, text);
  return replaced(text, final_rules_);
}

}  // namespace ingot::ops
