// Texts into the numbers of a byte pair encoding.
#include "ingot/ops/contrib/bpe_tokenizer.h"

#include <algorithm>
#include <array>

#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/text/utf8.h"

namespace ingot::ops {
namespace {

using Symbol = BpeModel::Symbol;
using Ints = BpeTokenizer::Ints;

/// Each byte as a character that can be printed.
const std::array<std::string, 256>& printed_bytes() {
  static const auto all = [] {
    std::array<std::string, 256> bytes;
    char32_t other = 256;
    for (char32_t b = 0; b < 256; ++b) {
      const bool is_printed = (b >= 33 && b <= 126) || (b >= 161 && b != 173);
      append_utf8(bytes[b], is_printed ? b : other++);
    }
    return bytes;
  }();
  return all;
}

std::string without(std::string_view text, char byte) {
  std::string rest(text);
  std::erase(rest, byte);
  return rest;
}

/// Puts numbers behind those that are there, up to a limit; `change` is added to each length.
void append(const std::vector<Symbol>& symbols, std::size_t most, std::int64_t change, Ints& ids, Ints& places,
            std::int64_t& at) {
  for (const Symbol& s : symbols) {
    if (ids.size() >= most) return;
    ids.push_back(s.id);
    const std::int64_t length = static_cast<std::int64_t>(s.bytes) + change;
    places.insert(places.end(), {at, at + length});
    at += length;
  }
}

}  // namespace

/// CLIP: runs of white space are one, none at the ends, no line ends, lower case.
std::string BpeTokenizer::cleaned(const std::string& text) const {
  Codes codes;
  bool was_space = false;
  for (const char32_t code : codes_of(text)) {
    const bool space = is_space(code);
    if (!space || !was_space) codes.push_back(code);
    was_space = space;
  }
  if (!is_clip) return utf8_of(codes_of(text));
  if (!codes.empty() && is_space(codes.front())) codes.erase(codes.begin());
  if (!codes.empty() && is_space(codes.back())) codes.pop_back();
  std::erase_if(codes, [](char32_t code) { return code == U'\n' || code == U'\r'; });
  std::string result;
  for (const char32_t code : codes) {
    if (code == 0x130)
      result += "i\xcc\x87";
    else
      append_utf8(result, code);
  }
  return lower_case(result);
}

std::vector<BpeTokenizer::Part> BpeTokenizer::parts_of_text(std::string_view text) const {
  std::vector<Part> parts;
  const auto add_plain = [&](std::string_view plain) {
    std::vector<Part> pieces{{plain}};
    for (const auto& [token, id] : specials) {
      std::vector<Part> cut;
      for (const Part& piece : pieces) {
        std::string_view rest = piece.text;
        for (std::size_t at = 0; piece.id == BpeModel::kNone && (at = rest.find(token)) != rest.npos;) {
          if (at) cut.push_back({rest.substr(0, at)});
          cut.push_back({rest.substr(at, token.size()), id});
          rest.remove_prefix(at + token.size());
        }
        if (piece.id != BpeModel::kNone || !rest.empty()) cut.push_back({rest, piece.id});
      }
      pieces = std::move(cut);
    }
    parts.insert(parts.end(), pieces.begin(), pieces.end());
  };
  std::size_t begin = 0, at = 0;
  while (!added.empty() && at < text.size()) {
    const PrefixTable::Match match = added.longest(text.substr(at));
    if (match.length == 0) {
      at += first_character(text.substr(at)).bytes;
      continue;
    }
    if (at > begin) add_plain(text.substr(begin, at - begin));
    const Added& token = added_tokens[static_cast<std::size_t>(match.value)];
    parts.push_back({text.substr(at, match.length), token.id});
    at += match.length;
    if (token.strips_right) at = std::min(text.find_first_not_of(" \n\r\t", at), text.size());
    begin = at;
  }
  if (begin < text.size()) add_plain(text.substr(begin));
  return parts;
}

std::vector<Symbol> BpeTokenizer::byte_symbols(std::string_view piece) const {
  constexpr std::string_view kWordEnd = "</w>";
  std::string word;
  for (const char b : piece) word += printed_bytes()[static_cast<unsigned char>(b)];
  if (is_clip) word += kWordEnd;
  if (const std::uint32_t id = model.id_of(word); id != BpeModel::kNone)
    return {{id, static_cast<std::uint32_t>(piece.size())}};
  std::vector<Symbol> symbols;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    std::string symbol = printed_bytes()[static_cast<unsigned char>(piece[i])];
    if (is_clip && i + 1 == piece.size()) symbol += kWordEnd;
    symbols.push_back({model.id_of(symbol), static_cast<std::uint32_t>(symbol.size())});
  }
  model.merge(symbols);
  return symbols;
}

void BpeTokenizer::encode_bytes(std::string_view part, std::size_t most, Ints& ids, Ints& places) const {
  std::vector<std::string_view> pieces{part}, cut;
  for (const PreTokenizer& step : steps) {
    for (const std::string_view piece : pieces) step.cut(piece, cut);
    pieces = std::move(cut);
    cut.clear();
  }
  std::int64_t at = 0;
  for (const std::string_view piece : pieces) {
    if (ids.size() >= most) return;
    const bool has_space = piece.starts_with(' ');
    if (has_space) ++at;
    const std::string held = is_clip ? without(piece, ' ') : std::string();
    const std::string_view word = is_clip ? held : piece;
    if (!word.empty()) append(byte_symbols(word), most, has_space && !is_clip ? -1 : 0, ids, places, at);
  }
}

/// A symbol for each character, or for each of its bytes where the vocabulary lacks it.
void BpeTokenizer::character_symbols(std::string_view text, std::vector<Symbol>& symbols) const {
  while (!text.empty()) {
    const std::size_t bytes = first_character(text).bytes;
    const std::string character(text.front() == ' ' ? kLowBlockText : text.substr(0, bytes));
    text.remove_prefix(bytes);
    if (const std::uint32_t id = model.id_of(character); id != BpeModel::kNone) {
      symbols.push_back({id, static_cast<std::uint32_t>(character.size())});
      continue;
    }
    for (const char b : character) symbols.push_back({model.id_of(std::string(1, b)), 1});
  }
}

/// Symbols are joined when a word seems to end, or when there are many.
void BpeTokenizer::encode_whole(const std::string& text, std::size_t most, Ints& ids, Ints& places) const {
  const auto separates = [](char32_t c) { return c == U' ' || c == U'\n' || c == U'\r' || c == kLowBlock; };
  const Codes codes = codes_of(text);
  std::vector<Symbol> symbols;
  std::int64_t at = 0;
  for (std::size_t i = 0; i <= codes.size(); ++i) {
    const bool is_end = i == codes.size();
    const bool is_full =
        symbols.size() > 100 || (!is_end && symbols.size() > 10 && !separates(codes[i - 1]) && separates(codes[i]));
    if (is_end || is_full) {
      model.merge(symbols);
      append(symbols, most, 0, ids, places, at);
      symbols.clear();
    }
    if (!is_end) character_symbols(utf8_of({&codes[i], 1}), symbols);
  }
}

void BpeTokenizer::encode_characters(std::string_view part, std::size_t most, Ints& ids, Ints& places) const {
  const bool begins_with_space = has_prefix && part.starts_with(' ');
  const std::string text = (has_prefix && !part.empty() ? std::string(kLowBlockText) : "") + std::string(part);
  if (is_whole || begins_with_space) return encode_whole(text, most, ids, places);
  std::vector<std::string_view> pieces;
  steps.front().cut(text, pieces);
  std::int64_t at = 0;
  for (const std::string_view piece : pieces) {
    if (ids.size() >= most) return;
    std::string word;
    for (const char b : piece) b == ' ' ? word += kLowBlockText : word += b;
    std::vector<Symbol> symbols;
    if (const std::uint32_t id = model.id_of(word); id != BpeModel::kNone)
      symbols.push_back({id, static_cast<std::uint32_t>(word.size())});
    else
      character_symbols(word, symbols);
    model.merge(symbols);
    append(symbols, most, 0, ids, places, at);
  }
}

void BpeTokenizer::encode(const std::string& text, bool adds_special, std::size_t most, Ints& ids, Ints& places) const {
  const std::string plain = cleaned(text);
  const bool is_blank = is_clip && std::ranges::all_of(codes_of(plain), [](char32_t code) { return is_space(code); });
  if (is_blank) {
    ids.insert(ids.end(), {bos, eos});
    return;
  }
  if (adds_bos && adds_special) ids.push_back(bos);
  for (const Part& part : parts_of_text(plain)) {
    if (ids.size() >= most) break;
    if (part.id != BpeModel::kNone) {
      ids.push_back(part.id);
      continue;
    }
    if (adds_bos && adds_special) places.insert(places.end(), {0, 0});
    is_spm ? encode_characters(part.text, most, ids, places) : encode_bytes(part.text, most, ids, places);
    if (adds_eos && !is_spm) places.insert(places.end(), {0, 0});
  }
  if (adds_eos && adds_special && !is_spm) ids.push_back(eos);
}

void BpeTokenizer::run(KernelContext& c, std::int64_t padding) const {
  const Array& x = c.in(0);
  const bool adds_special = bool_argument(c, 1, true);
  const std::size_t most = padding > 0 ? static_cast<std::size_t>(padding) : BpeModel::kNone;
  std::vector<Ints> rows;
  Ints places;
  Pace pace(c.host().budget());
  std::size_t width = padding > 0 ? most : 0;
  for (const std::string& text : x.data<std::string>()) {
    pace.step(std::ssize(text) + 1);
    encode(text, adds_special, most, rows.emplace_back(), places);
    if (padding > 0) rows.back().resize(std::min(rows.back().size(), most));
    width = std::max(width, rows.back().size());
  }
  Dims dims = x.dims();
  dims.push_back(static_cast<std::int64_t>(width));
  const auto ids = c.make(0, DType::i64, dims).mutable_data<std::int64_t>();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto row = ids.subspan(r * width, width);
    std::fill(std::ranges::copy(rows[r], row.begin()).out, row.end(), std::int64_t{pad});
  }
  if (c.wants(1)) {
    const auto mask = c.make(1, DType::i64, dims).mutable_data<std::int64_t>();
    for (std::size_t r = 0; r < rows.size(); ++r)
      std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(r * width), rows[r].size(), 1);
  }
  if (c.wants(2)) {
    dims.push_back(2);
    const auto out = c.make(2, DType::i64, dims).mutable_data<std::int64_t>();
    std::copy_n(places.begin(), std::min(places.size(), out.size()), out.begin());
  }
}

void infer_bpe(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  const std::int64_t padding = c.attr("padding_length", std::int64_t{-1});
  Shape y = *x;
  y.push_back(padding > 0 ? Dim(padding) : c.data_dim(0, std::ssize(*x)));
  c.out_shape(0, y);
  c.out_shape(1, y);
  y.emplace_back(2);
  c.out_shape(2, y);
}

}  // namespace ingot::ops
