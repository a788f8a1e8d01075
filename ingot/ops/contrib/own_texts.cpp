// Texts as TensorFlow has them, where ONNX has no words: operators of the domain ingot.
#include <re2/re2.h>

#include <algorithm>

#include "ingot/ops/contrib/regex.h"
#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/text/utf8.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

template <class T, class Map> void run_each(KernelContext& c, Map map) {
  const Array& x = c.in(0);
  const auto out = c.make(0, dtype_of<T>, x.dims()).template mutable_data<T>();
  Pace pace(c.host().budget());
  std::size_t i = 0;
  for (const std::string& text : x.data<std::string>()) {
    pace.step(std::ssize(text) + 1);
    out[i++] = map(text);
  }
}

void run_full_match(KernelContext& c) {
  const auto regex = compiled_regex(c, text_argument(c, 1));
  run_each<bool>(c, [&](const std::string& text) { return RE2::FullMatch(text, *regex); });
}

void run_replace(KernelContext& c) {
  const auto regex = compiled_regex(c, text_argument(c, 1));
  const std::string& rewrite = text_argument(c, 2);
  std::string error;
  if (!regex->CheckRewriteString(rewrite, &error)) c.fail("the rewrite is not understood: " + error);
  const bool is_global = c.attr("replace_global", std::int64_t{1}) != 0;
  run_each<std::string>(c, [&](std::string text) {
    if (is_global)
      RE2::GlobalReplace(&text, *regex, rewrite);
    else
      RE2::Replace(&text, *regex, rewrite);
    return text;
  });
}

bool counts_characters(KernelContext& c) {
  const std::string unit = c.attr("unit", "BYTE");
  if (unit != "BYTE" && unit != "UTF8_CHAR") c.fail("the unit is '" + unit + "'");
  return unit == "UTF8_CHAR";
}

/// Characters as TensorFlow counts them: all bytes that continue none.
bool begins_character(char b) { return (static_cast<unsigned char>(b) & 0xC0) != 0x80; }

void run_length(KernelContext& c) {
  const bool is_characters = counts_characters(c);
  run_each<std::int32_t>(c, [&](const std::string& text) {
    return static_cast<std::int32_t>(is_characters ? std::ranges::count_if(text, begins_character) : std::ssize(text));
  });
}

/// Without an encoding only ASCII has cases.
template <bool kIsUpper> void run_case(KernelContext& c) {
  const bool is_unicode = c.attr("encoding", "") == "utf-8";
  run_each<std::string>(c, [&](std::string text) {
    if (is_unicode) return kIsUpper ? upper_case(text) : lower_case(text);
    for (char& b : text) {
      if (kIsUpper && b >= 'a' && b <= 'z') b = static_cast<char>(b - 32);
      if (!kIsUpper && b >= 'A' && b <= 'Z') b = static_cast<char>(b + 32);
    }
    return text;
  });
}

void run_strip(KernelContext& c) {
  constexpr std::string_view kWhite = " \t\n\r\f\v";
  run_each<std::string>(c, [&](const std::string& text) {
    const std::size_t begin = text.find_first_not_of(kWhite);
    return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(kWhite) - begin + 1);
  });
}

/// The part of a text, and whether the place is one of it.
std::string part_of(KernelContext& c, const std::string& text, std::int64_t at, std::int64_t length, bool characters) {
  std::vector<std::size_t> starts;  // where characters begin
  if (characters)
    for (std::size_t i = 0; i < text.size(); ++i)
      if (begins_character(text[i])) starts.push_back(i);
  const std::int64_t count = characters ? std::ssize(starts) : std::ssize(text);
  if (at < -count || at > count)
    c.fail("the position " + std::to_string(at) + " is not one of a text of " + std::to_string(count));
  if (length < 0) c.fail("a length is negative");
  if (at < 0) at += count;
  const std::int64_t end = at + std::min(length, count - at);
  const auto byte = [&](std::int64_t i) {
    if (!characters) return static_cast<std::size_t>(i);
    return i < count ? starts[static_cast<std::size_t>(i)] : text.size();
  };
  return text.substr(byte(at), byte(end) - byte(at));
}

void run_substr(KernelContext& c) {
  const bool is_characters = counts_characters(c);
  const Array &x = c.in(0), &position = c.in(1), &length = c.in(2);
  const Dims dims = broadcast_dims(c, {&x.dims(), &position.dims(), &length.dims()});
  const Walk walk = broadcast(dims, {&x.dims(), &position.dims(), &length.dims()});
  const std::string* texts = x.data<std::string>().data();
  const std::int64_t *at = position.data<std::int64_t>().data(), *sizes = length.data<std::int64_t>().data();
  std::string* out = c.make(0, DType::string, dims).mutable_data<std::string>().data();
  const std::int64_t i = walk.strides[0].back(), j = walk.strides[1].back(), k = walk.strides[2].back();
  for_each_row(walk, c.host().budget(), [&](const std::int64_t* place, std::int64_t n) {
    for (std::int64_t e = 0; e < n; ++e)
      *out++ = part_of(c, texts[place[0] + e * i], at[place[1] + e * j], sizes[place[2] + e * k], is_characters);
  });
}

/// Without a separator runs of white space separate, and none at the ends counts.
Texts words_of(std::string_view text, const std::string& separator, std::int64_t most) {
  constexpr std::string_view kWhite = " \t\n\r\f\v";
  const bool is_white = separator.empty();
  Texts words;
  if (is_white) text.remove_prefix(std::min(text.find_first_not_of(kWhite), text.size()));
  while (true) {
    if (is_white && text.empty()) return words;
    const std::size_t end = is_white ? text.find_first_of(kWhite) : text.find(separator);
    const bool is_last = end == text.npos || (most >= 0 && std::ssize(words) == most);
    words.emplace_back(is_last ? text : text.substr(0, end));
    if (is_last) return words;
    text.remove_prefix(is_white ? std::min(text.find_first_not_of(kWhite, end), text.size()) : end + separator.size());
  }
}

void run_split(KernelContext& c) {
  const std::string& separator = text_argument(c, 1);
  const std::int64_t limit = c.attr("maxsplit", std::int64_t{-1});
  give_words(c, [&](const std::string& text) { return words_of(text, separator, limit); });
}

void infer_split(InferContext& c) {
  c.out_shape(0, {c.data_dim(1, 0), 2});
  c.out_shape(1, {c.data_dim(1, 0)});
  c.out_shape(2, {2});
}

}  // namespace

constinit const OpDef defs::own::RegexFullMatch = {
    .name = "RegexFullMatch", .domain = kOwn, .infer = infer_same_shape, .kernel = run_full_match};
constinit const OpDef defs::own::RegexReplace = {
    .name = "RegexReplace", .domain = kOwn, .infer = infer_same_shape, .kernel = run_replace};
constinit const OpDef defs::own::StringLength = {
    .name = "StringLength", .domain = kOwn, .infer = infer_same_shape, .kernel = run_length};
constinit const OpDef defs::own::StringLower = {
    .name = "StringLower", .domain = kOwn, .infer = infer_same_shape, .kernel = run_case<false>};
constinit const OpDef defs::own::StringSplitV2 = {
    .name = "StringSplitV2", .domain = kOwn, .infer = infer_split, .kernel = run_split};
constinit const OpDef defs::own::StringStrip = {
    .name = "StringStrip", .domain = kOwn, .infer = infer_same_shape, .kernel = run_strip};
constinit const OpDef defs::own::StringUpper = {
    .name = "StringUpper", .domain = kOwn, .infer = infer_same_shape, .kernel = run_case<true>};
constinit const OpDef defs::own::Substr = {
    .name = "Substr", .domain = kOwn, .infer = infer_broadcast, .kernel = run_substr};

}  // namespace ingot::ops
