// ai.onnx.contrib.BertTokenizerDecoder: texts from the numbers of word pieces.
#include <algorithm>

#include "ingot/ops/contrib/basic_tokenizer.h"
#include "ingot/ops/contrib/machines.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

using Ids = std::span<const std::int64_t>;

bool is_one_of(std::u32string_view set, char32_t code) { return set.find(code) != set.npos; }

/// Whether clean text has no space between a piece that ends with one character and one that begins with another.
bool joins(char32_t before, char32_t after) {
  return is_one_of(U"!.?,~:}]>)", after) || is_one_of(U"{[<($", before) || is_one_of(U"-'\"/@\\", before) ||
         is_one_of(U"-'\"/@\\", after) || (before > 128 && is_extension_punctuation(before)) ||
         (after > 128 && is_extension_punctuation(after));
}

class BertDecoder : public TextMachine {
 public:
  explicit BertDecoder(const Node& node)
      : unknown_(node.attributes.string_or("unk_token", "[UNK]")),
        uses_positions_(node.attributes.int_or("use_indices", 0) != 0),
        skips_special_(node.attributes.int_or("skip_special_tokens", 0) != 0),
        cleans_(node.attributes.int_or("clean_up_tokenization_spaces", 1) != 0) {
    const std::string mark = node.attributes.string_or("suffix_indicator", "##");
    const std::string separator = node.attributes.string_or("sep_token", "[SEP]");
    const std::string pad = node.attributes.string_or("pad_token", "[PAD]");
    const std::string start = node.attributes.string_or("cls_token", "[CLS]");
    const std::string mask = node.attributes.string_or("mask_token", "[MASK]");
    for (const std::string_view token : parts_of(need_text(node, "vocab_file"), "\n")) {
      const std::int64_t id = std::ssize(pieces_);
      if (token == separator || token == pad) special_[0] = id;  // one place for both: the later one has it
      if (token == start) special_[1] = id;
      if (token == mask) special_[2] = id;
      const bool goes_on = token.starts_with(mark);
      const std::string text(goes_on ? token.substr(mark.size()) : token);
      const Codes codes = codes_of(text);
      pieces_.push_back({text, goes_on, codes.empty() ? U'\0' : codes.front(), codes.empty() ? U'\0' : codes.back()});
    }
  }

  void run(KernelContext& c) const override {
    const Array &x = c.in(0), &positions = c.in(1);
    if (x.rank() != 1 && !(x.rank() == 2 && x.dims()[0] == 1)) c.fail("ids must have the shape [n] or [1, n]");
    const Ids ids = x.data<std::int64_t>(), places = positions.data<std::int64_t>();
    if (!uses_positions_) return give_texts(c, 0, {1}, {text_of(c, ids)});
    if (!places.empty() && (positions.rank() != 2 || positions.dims()[1] != 2))
      c.fail("positions must be empty or have the shape [n, 2]");
    Texts texts;
    for (std::size_t i = 0; i < places.size(); i += 2) {
      if (places[i] < 0 || places[i] > places[i + 1] || places[i + 1] > std::ssize(ids))
        c.fail("a position is outside of the ids");
      texts.push_back(text_of(
          c, ids.subspan(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(places[i + 1] - places[i]))));
    }
    const auto count = std::ssize(texts);
    give_texts(c, 0, {count}, std::move(texts));
  }

 private:
  struct Piece {
    std::string text;
    bool goes_on;
    char32_t first, last;
  };

  std::string text_of(KernelContext& c, Ids ids) const {
    std::string text;
    const Piece* before = nullptr;
    Pace pace(c.host().budget());
    for (const std::int64_t id : ids) {
      if (skips_special_ && std::ranges::find(special_, id) != std::end(special_)) continue;
      if (id < 0 || id >= std::ssize(pieces_)) {
        text += (text.empty() ? "" : " ") + unknown_;
        continue;
      }
      const Piece& piece = pieces_[static_cast<std::size_t>(id)];
      pace.step(std::ssize(piece.text) + 1);
      if (text.empty() && piece.goes_on) continue;
      const bool is_joined =
          text.empty() || piece.goes_on || (cleans_ && (!before || joins(before->last, piece.first)));
      if (!is_joined) text += ' ';
      text += piece.text;
      before = &piece;
    }
    return text;
  }

  std::vector<Piece> pieces_;
  std::string unknown_;
  std::int64_t special_[3] = {-1, -1, -1};
  bool uses_positions_, skips_special_, cleans_;
};

void infer_decoder(InferContext& c) {
  if (!c.attr("use_indices", std::int64_t{0})) return c.out_shape(0, {1});
  const Shape* positions = c.shape(1);
  c.out_shape(0, {positions && positions->size() == 2 ? (*positions)[0] : c.data_dim(0, 0)});
}

}  // namespace

std::unique_ptr<TextMachine> make_bert_decoder(const Node& node) { return std::make_unique<BertDecoder>(node); }

constinit const OpDef defs::contrib::BertTokenizerDecoder = {
    .name = "BertTokenizerDecoder", .domain = kContrib, .infer = infer_decoder, .kernel = run_machine<BertDecoder>};

}  // namespace ingot::ops
