// TextVectorization: texts as the indices of their words.
#include "ingot/frontends/keras/lookup.h"
#include "ingot/frontends/keras/translators.h"
#include "ingot/frontends/texts.h"

namespace ingot::frontends::keras {
namespace {

constexpr std::string_view kPunctuation = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'";

IrValue* standardized(Call& call, IrValue* x) {
  const Config how = call.at("standardize");
  if (how.is_null()) return x;
  const std::string word = how.exists() ? std::string(how.text()) : "lower_and_strip_punctuation";
  const bool lowers = word == "lower_and_strip_punctuation" || word == "lower";
  const bool strips = word == "lower_and_strip_punctuation" || word == "strip_punctuation";
  if (!lowers && !strips)
    call.refuse("how it standardizes texts is Python code", "lower or strip_punctuation have a translation");
  if (lowers) {
    x = with_case(call.b, x, "LOWER");
    call.import.notes.add("layer '" + call.layer.scope +
                          "' leaves letters beyond ASCII as they are in Keras; in ONNX their case changes too");
  }
  if (strips)
    for (const char c : kPunctuation) x = with_replaced(call.b, x, std::string(1, c), "");
  return x;
}

/// The words along a new last axis, with empty texts behind the last of each.
IrValue* words_of(Call& call, IrValue* x) {
  GraphBuilder& b = call.b;
  const Config how = call.at("split");
  if (how.exists() && how.is_null()) return x;
  if (how.exists() && how.text() != "whitespace")
    call.refuse(
        how.text() == "character" ? "ONNX cannot split texts into characters" : "how it splits texts is Python code",
        "'whitespace' has a translation");
  if (call.rank() > 1) {
    call.require(dim_of(x, -1) == 1, "texts stand alone in the last dimension");
    x = b.squeeze(x, {-1});
  }
  return b.op("StringSplit", {x}, {}, 2)[0];
}

/// Neighbours of each of these numbers, with spaces between, behind each other: in this order in no row of words.
IrValue* neighbours(Call& call, IrValue* words, const Ints& widths) {
  GraphBuilder& b = call.b;
  IrValue* empty = b.constant(Tensor::of_strings({}, {""}));
  IrValue* space = b.constant(Tensor::of_strings({}, {" "}));
  Values all;
  for (const std::int64_t width : widths) {
    call.require(width > 0 && width < 100, "a bad number of neighbours");
    // Behind the last word stand empty texts, so that there is always one to look at.
    IrValue* joined = nullptr;
    IrValue* last = nullptr;
    IrValue* count = b.op("Max", {b.sub(size_of(b, words, -1), b.index(width - 1)), b.index(0)});
    for (std::int64_t i = 0; i < width; ++i) {
      IrValue* end = b.unsqueeze(b.add(count, b.index(i)), {0});
      last = b.op("Slice", {words, b.ints({i}), end, b.ints({-1})});
      joined = joined ? b.op("StringConcat", {b.op("StringConcat", {joined, space}), last}) : last;
    }
    all.push_back(b.where(b.op("Equal", {last, empty}), empty, joined));
  }
  return all.size() == 1 ? all[0] : b.concat(all, -1);
}

}  // namespace

void text_vectorization(Call& call) {
  GraphBuilder& b = call.b;
  const Lookup lookup = lookup_of(call, "");
  IrValue* words = words_of(call, standardized(call, call.in()));
  const Config ngrams = call.at("ngrams");
  if (!ngrams.is_null()) {
    Ints widths;
    for (const Config& entry : ngrams.entries()) widths.push_back(entry.as_int().value_or(0));
    if (const auto most = ngrams.as_int())
      for (std::int64_t i = 1; i <= *most && i < 100; ++i) widths.push_back(i);
    call.require(!widths.empty(), "it has no number of neighbours");
    if (lookup.mode == "int" && widths != Ints{1} && widths.size() > 1)
      call.refuse("ngrams of several widths as indices have no translation",
                  "one width, or output_mode 'multi_hot', 'count' or 'tf_idf'");
    words = neighbours(call, words, widths);
  }
  IrValue* index = indices_of(call, lookup, words);
  if (const auto length = call.at("output_sequence_length").as_int(); length && lookup.mode == "int") {
    call.require(*length > 0 && *length < (1 << 24), "a bad length of its output");
    IrValue* outer = b.op("Slice", {b.shape(index), b.ints({0}), b.ints({-1}), b.ints({0})});
    IrValue* none = b.op("Expand", {b.index(0), b.concat({outer, b.ints({*length})}, 0)});
    index = b.op("Slice", {b.concat({index, none}, -1), b.ints({0}), b.ints({*length}), b.ints({-1})});
  }
  call.set(given_out(call, lookup, index));
}

}  // namespace ingot::frontends::keras
