// ai.onnx.contrib.BasicTokenizer: words, characters of CJK and punctuation.
#include "ingot/ops/contrib/basic_tokenizer.h"

#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

struct Range {
  char32_t first, last;
};

constexpr Range kChinese[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
                              {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0x2F800, 0x2FA1F}};
constexpr Range kPunctuation[] = {
    {33, 47},     {58, 64},     {91, 96},       {123, 126},     {161, 161},     {167, 167},     {171, 171},
    {182, 183},   {187, 187},   {191, 191},     {894, 894},     {903, 903},     {8208, 8231},   {8240, 8259},
    {8261, 8273}, {8275, 8286}, {12289, 12291}, {12296, 12305}, {12308, 12319}, {12336, 12336}, {12349, 12349}};
constexpr Range kSpace[] = {{9, 10},      {13, 13},     {32, 32},     {160, 160},
                            {8192, 8202}, {8239, 8239}, {8287, 8287}, {12288, 12288}};
constexpr Range kControl[] = {{0, 8},           {11, 12},         {14, 31},        {128, 159},       {173, 173},
                              {888, 889},       {896, 899},       {907, 907},      {909, 909},       {930, 930},
                              {8203, 8207},     {8234, 8238},     {8288, 8302},    {11930, 11930},   {12020, 12030},
                              {40957, 40958},   {64110, 64111},   {64218, 64254},  {173790, 173790}, {177973, 177982},
                              {178206, 178207}, {183970, 183982}, {195102, 195102}};

bool is_in(std::span<const Range> ranges, char32_t code) {
  const auto it = std::ranges::lower_bound(ranges, code, {}, &Range::last);
  return it != ranges.end() && it->first <= code;
}

/// Latin-1 without accents.
char32_t plain_letter(char32_t code) {
  constexpr std::u32string_view kUpper = U"AAAAAA\u00C6CEEEEIIII\u00D0NOOOOO\u00D7\u00D8UUUUY\u00DE\u00DF";
  constexpr std::u32string_view kLower = U"aaaaaa\u00E6ceeeeiiii\u00F0nooooo\u00F7\u00F8uuuuy\u00FEy";
  if (code >= 0xC0 && code < 0xE0) return kUpper[code - 0xC0];
  return code >= 0xE0 && code <= 0xFF ? kLower[code - 0xE0] : code;
}

void infer_words(InferContext& c) { c.out_shape(0, {c.data_dim(0, 0)}); }

void run_words(KernelContext& c) {
  const auto is_set = [&](const char* name, bool fallback) {
    return c.attr(name, static_cast<std::int64_t>(fallback)) != 0;
  };
  const BasicRules rules{is_set("do_lower_case", true), is_set("tokenize_chinese_chars", true),
                         is_set("strip_accents", false), is_set("tokenize_punctuation", false),
                         is_set("remove_control_chars", true)};
  Texts words;
  for (const Codes& word : basic_words(text_argument(c, 0), rules)) words.push_back(utf8_of(word));
  const auto count = std::ssize(words);
  give_texts(c, 0, {count}, std::move(words));
}

}  // namespace

bool is_extension_punctuation(char32_t code) { return is_in(kPunctuation, code); }

std::vector<Codes> basic_words(std::string_view text, const BasicRules& rules) {
  std::vector<Codes> words;
  Codes word;
  const auto flush = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (char32_t code : codes_of(text)) {
    if (rules.strip_accents) code = plain_letter(code);
    if (rules.lower_case) code = extension_lower(code);
    const bool stands_alone =
        (rules.chinese && is_in(kChinese, code)) || (rules.punctuation && is_extension_punctuation(code));
    if (rules.strip_accents && code >= 0x300 && code <= 0x36F) continue;
    if (stands_alone) {
      flush();
      words.emplace_back(1, code);
    } else if (is_in(kSpace, code)) {
      flush();
    } else if (!rules.remove_control || !is_in(kControl, code)) {
      word.push_back(code);
    }
  }
  flush();
  return words;
}

constinit const OpDef defs::contrib::BasicTokenizer = {
    .name = "BasicTokenizer", .domain = kContrib, .infer = infer_words, .kernel = run_words};

}  // namespace ingot::ops
