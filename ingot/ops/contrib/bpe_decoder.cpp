// ai.onnx.contrib.BpeDecoder: texts from the numbers of a byte pair encoding.
#include <unordered_map>
#include <unordered_set>

#include "ingot/ops/contrib/machines.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

class BpeDecoderMachine : public TextMachine {
 public:
  explicit BpeDecoderMachine(const Node& node)
      : unknown_(node.attributes.string_or("unk_token", "<|endoftext|>")),
        skips_special_(node.attributes.int_or("skip_special_tokens", 0) != 0),
        spaces_special_(node.attributes.int_or("whitespace_token", 0) != 0) {
    for (const std::string_view piece : lines_of(need_text(node, "id_vocab"))) pieces_.emplace_back(piece);
    for (const auto& [code, byte] : numbered(node, need_text(node, "byte_decoder"))) {
      std::int64_t value = 0;
      if (!parse_int(byte, value) || value < 0 || value > 255) refuse_text(node, "'byte_decoder' has no byte");
      bytes_[static_cast<char32_t>(code)] = static_cast<char>(value);
    }
    added_ = numbered(node, node.attributes.string_or("added_tokens", ""));
    for (const auto& [id, rest] : numbered(node, node.attributes.string_or("all_special_ids", ""))) special_.insert(id);
    is_spm_ = bytes_.contains(kLowBlock);
  }

  void run(KernelContext& c) const override {
    const Array& x = c.in(0);
    if (x.rank() == 0) c.fail("ids must have a dimension");
    Dims dims = x.dims();
    const auto width = static_cast<std::size_t>(dims.back());
    dims.pop_back();
    if (dims.empty()) dims = {1};
    const auto ids = x.data<std::int64_t>();
    const auto out = c.make(0, DType::string, dims).mutable_data<std::string>();
    Pace pace(c.host().budget());
    for (std::size_t row = 0; row < out.size(); ++row) {
      out[row] = text_of(ids.subspan(row * width, width));
      pace.step(std::ssize(out[row]) + 1);
    }
  }

 private:
  using Numbered = std::unordered_map<std::int64_t, std::string>;

  /// Lines of a number, and, if more belongs to it, a tab and a text.
  static Numbered numbered(const Node& node, const std::string& text) {
    Numbered entries;
    for (const std::string_view line : lines_of(text)) {
      const std::size_t tab = std::min(line.find('\t'), line.size());
      std::int64_t number = 0;
      if (!parse_int(line.substr(0, tab), number)) refuse_text(node, "a line of an attribute begins with no number");
      entries.emplace(number, tab == line.size() ? "" : line.substr(tab + 1));
    }
    return entries;
  }

  std::string text_of(std::span<const std::int64_t> ids) const {
    std::string text;
    bool was_special = false;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool is_special = special_.contains(ids[i]);
      std::string token;
      if ((is_special && skips_special_) || !decode(ids[i], token)) {
        if (is_special) was_special = true;
        continue;
      }
      if (spaces_special_ && is_special && i > 0 && !was_special) text += ' ';
      text += token;
      if (spaces_special_ && is_special && i + 1 != ids.size()) text += ' ';
      was_special = is_special;
    }
    return text;
  }

  /// False: the token is left out.
  bool decode(std::int64_t id, std::string& token) const {
    if (const auto it = added_.find(id); it != added_.end()) {
      token = it->second;
      return true;
    }
    if (id < 0 || id >= std::ssize(pieces_)) {
      token = unknown_;
      return !skips_special_;
    }
    const std::string& piece = pieces_[static_cast<std::size_t>(id)];
    if (is_spm_) {
      token = spm_text(piece);
      return true;
    }
    for (const char32_t code : codes_of(piece)) {
      const auto it = bytes_.find(code);
      if (it != bytes_.end() || code <= 0xFF) {
        token += it != bytes_.end() ? it->second : static_cast<char>(code);
      } else if (!skips_special_) {
        token = unknown_;
        return true;
      }
    }
    return true;
  }

  static std::string spm_text(std::string_view piece) {
    const auto digit = [](char c) {
      return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 0;
    };
    if (piece.size() == 6 && piece.starts_with("<0x") && piece[5] == '>')
      return std::string(1, static_cast<char>(digit(piece[3]) << 4 | digit(piece[4])));
    std::string text;
    for (std::size_t at = 0; !piece.empty(); piece.remove_prefix(std::min(at + kLowBlockText.size(), piece.size()))) {
      at = std::min(piece.find(kLowBlockText), piece.size());
      text += piece.substr(0, at);
      if (at < piece.size()) text += ' ';
    }
    return text;
  }

  Texts pieces_;
  std::unordered_map<char32_t, char> bytes_;
  Numbered added_;
  std::unordered_set<std::int64_t> special_;
  std::string unknown_;
  bool skips_special_, spaces_special_, is_spm_ = false;
};

void infer_decoder(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(!x->empty(), "ids must have a dimension");
  Shape y(x->begin(), x->end() - 1);
  if (y.empty()) y.emplace_back(1);
  c.out_shape(0, std::move(y));
}

}  // namespace

std::unique_ptr<TextMachine> make_bpe_decoder(const Node& node) { return std::make_unique<BpeDecoderMachine>(node); }

constinit const OpDef defs::contrib::BpeDecoder = {
    .name = "BpeDecoder", .domain = kContrib, .infer = infer_decoder, .kernel = run_machine<BpeDecoderMachine>};

}  // namespace ingot::ops
