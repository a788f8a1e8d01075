// ai.onnx.contrib.BlingFireSentenceBreaker: sentences of a text, by BlingFire's rules.
#include <algorithm>

#include "ingot/ops/contrib/machines.h"
#include "ingot/ops/contrib/sentence_model.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/text/utf8.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

/// White space as BlingFire knows it.
bool is_blank(char32_t c) {
  constexpr std::u32string_view kOthers = U"\u00A0\u202F\u205F\u2060\u2420\u2424\u3000\uFEFF";
  return c <= 0x20 || (c >= 0x2000 && c <= 0x200F) || kOthers.find(c) != kOthers.npos;
}

/// In lower case, character by character; BlingFire has none for I with a dot.
Codes folded(const std::string& text, const Codes& codes) {
  Codes lower = codes_of(lower_case(text));
  for (std::size_t i = 0; i < lower.size(); ++i)
    if (codes[i] == U'\u0130') lower[i] = codes[i];
  return lower;
}

class SentenceBreaker : public TextMachine {
 public:
  explicit SentenceBreaker(const Node& node) : model_(need_text(node, "model")) {}
  void run(KernelContext& c) const override {
    const std::string& text = text_argument(c, 0);
    if (!is_utf8(text)) c.fail("the text is not UTF-8");
    Pace pace(c.host().budget());
    Texts all = sentences(text, pace);
    const std::int64_t count = std::ssize(all);
    give_texts(c, 0, {count}, std::move(all));
  }

 private:
  Texts sentences(const std::string& text, Pace& pace) const {
    Codes codes = codes_of(text), symbols = model_.ignores_case() ? folded(text, codes) : codes;
    for (Codes* all : {&codes, &symbols}) {
      if (all->starts_with(U'\uFEFF')) all->erase(0, 1);
      std::ranges::replace(*all, U'\0', U' ');
    }
    std::vector<std::ptrdiff_t> ends = model_.ends(symbols, pace);
    const std::ptrdiff_t end = std::ssize(codes) - 1;
    if (ends.empty() || ends.back() < end) ends.push_back(end);
    Texts made;
    std::ptrdiff_t begin = 0;
    for (const std::ptrdiff_t last : ends) {
      while (begin <= last && is_blank(codes[static_cast<std::size_t>(begin)])) ++begin;
      if (begin <= last) {
        made.push_back(
            utf8_of(codes.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(last - begin + 1))));
        std::ranges::replace(made.back(), '\n', ' ');
      }
      begin = last + 1;
    }
    if (made.empty()) made.emplace_back();
    return made;
  }

  SentenceModel model_;
};

void infer_sentences(InferContext& c) { c.out_shape(0, {c.data_dim(0, 0)}); }

}  // namespace

std::unique_ptr<TextMachine> make_sentence_breaker(const Node& node) { return std::make_unique<SentenceBreaker>(node); }

constinit const OpDef defs::contrib::BlingFireSentenceBreaker = {.name = "BlingFireSentenceBreaker",
                                                                 .domain = kContrib,
                                                                 .infer = infer_sentences,
                                                                 .kernel = run_machine<SentenceBreaker>};

}  // namespace ingot::ops
