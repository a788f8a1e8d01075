// Pieces of words, and ai.onnx.contrib.WordpieceTokenizer, which cuts rows of texts into them.
#include "ingot/ops/contrib/wordpiece.h"

#include <algorithm>

#include "ingot/formats/json/document.h"
#include "ingot/ops/contrib/machines.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {

void WordPieces::add(std::string token, std::int64_t id) {
  longest_ = std::max(longest_, token.size());
  ids_[std::move(token)] = id;
}

const std::int64_t* WordPieces::id_of(const std::string& token) const {
  const auto it = ids_.find(token);
  return it == ids_.end() ? nullptr : &it->second;
}

void WordPieces::cut(std::u32string_view word, std::size_t most_characters, std::string_view suffix_mark,
                     const std::string& unknown, Texts& pieces) const {
  if (word.size() > most_characters) {
    pieces.push_back(unknown);
    return;
  }
  for (std::string_view mark; !word.empty(); mark = suffix_mark) {
    std::string prefix(mark), longest;
    std::size_t taken = 0;
    for (std::size_t n = 1; n <= word.size(); ++n) {
      append_utf8(prefix, word[n - 1]);
      if (prefix.size() > longest_) break;
      if (!ids_.contains(prefix)) continue;
      taken = n;
      longest = prefix;
    }
    if (taken == 0) {
      pieces.push_back(unknown);
      return;
    }
    pieces.push_back(std::move(longest));
    word.remove_prefix(taken);
  }
}

namespace {

class Wordpiece : public TextMachine {
 public:
  explicit Wordpiece(const Node& node)
      : mark_(node.attributes.string_or("suffix_indicator", "")),
        unknown_(node.attributes.string_or("unknown_token", "")),
        most_(static_cast<std::size_t>(
            std::clamp<std::int64_t>(node.attributes.int_or("max_input_chars_per_word", 200), 0, 1 << 20))) {
    const formats::json::Value vocabulary = formats::json::parse(need_text(node, "vocab"));
    if (!vocabulary.is_object()) refuse_text(node, "'vocab' is not an object of JSON");
    for (const auto& [token, id] : vocabulary.members()) pieces_.add(std::string(token), id.as_int().value_or(0));
  }

  /// With row_indices a new row begins at the texts that it names, without it at each.
  void run(KernelContext& c) const override {
    const auto starts = c.in(1).data<std::int64_t>();
    Texts tokens;
    std::vector<std::int64_t> splits, begin, end;
    std::size_t next = 0;
    std::int64_t index = 0;
    Pace pace(c.host().budget());
    for (const std::string& text : c.in(0).data<std::string>()) {
      pace.step(std::ssize(text) + 1);
      const bool begins = starts.empty() || (next < starts.size() && index == starts[next]);
      if (begins) splits.push_back(std::ssize(tokens));
      if (begins) ++next;
      for (const std::string_view word : parts_of(text, " "))
        pieces_.cut(codes_of(word), most_, mark_, unknown_, tokens);
      ++index;
    }
    splits.push_back(std::ssize(tokens));
    begin.assign(splits.begin(), splits.end() - 1);
    end.assign(splits.begin() + 1, splits.end());
    const auto count = std::ssize(tokens);
    give_texts(c, 0, {count}, std::move(tokens));
    give_ints(c, 1, {std::ssize(splits)}, splits);
    give_ints(c, 2, {std::ssize(begin)}, begin);
    give_ints(c, 3, {std::ssize(end)}, end);
  }

 private:
  WordPieces pieces_;
  std::string mark_, unknown_;
  std::size_t most_;
};

void infer_wordpiece(InferContext& c) {
  c.out_shape(0, {c.data_dim(0, 0)});
  c.out_shape(1, {c.data_dim(1, 0)});
  c.out_shape(2, {c.data_dim(2, 0)});
  c.out_shape(3, {c.data_dim(2, 0)});
}

}  // namespace

std::unique_ptr<TextMachine> make_wordpiece(const Node& node) { return std::make_unique<Wordpiece>(node); }

constinit const OpDef defs::contrib::WordpieceTokenizer = {
    .name = "WordpieceTokenizer", .domain = kContrib, .infer = infer_wordpiece, .kernel = run_machine<Wordpiece>};

}  // namespace ingot::ops
