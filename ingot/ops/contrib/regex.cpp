// ai.onnx.contrib: StringRegexReplace, StringRegexSplitWithOffsets and their ECMAScript kin.
#include "ingot/ops/contrib/regex.h"

#include <re2/re2.h>

#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {

std::shared_ptr<RE2> compiled_regex(const KernelContext& c, const std::string& pattern, bool ignore_case,
                                    bool is_bytes) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!ignore_case);
  if (is_bytes) options.set_encoding(RE2::Options::EncodingLatin1);
  auto regex = std::make_shared<RE2>(pattern, options);
  if (!regex->ok()) c.fail("the pattern '" + pattern.substr(0, 100) + "' is not understood: " + regex->error());
  return regex;
}

namespace {

void run_replace(KernelContext& c) {
  const Array& x = c.in(0);
  const std::string &pattern = text_argument(c, 1), &rewrite = text_argument(c, 2);
  if (pattern.empty()) c.fail("the pattern is empty");
  const auto regex = compiled_regex(c, pattern);
  std::string error;
  if (!regex->CheckRewriteString(rewrite, &error)) c.fail("the rewrite is not understood: " + error);
  const bool is_global = c.attr("global_replace", std::int64_t{1}) != 0;
  const auto out = c.make(0, DType::string, x.dims()).mutable_data<std::string>();
  Pace pace(c.host().budget());
  std::size_t i = 0;
  for (const std::string& text : x.data<std::string>()) {
    pace.step(std::ssize(text) + 1);
    out[i] = text;
    if (is_global)
      RE2::GlobalReplace(&out[i], *regex, rewrite);
    else
      RE2::Replace(&out[i], *regex, rewrite);
    ++i;
  }
}

/// ECMAScript's dialect in RE2's words, on bytes: a full stop stops at a carriage return as well.
std::string from_ecma(const std::string& pattern) {
  std::string text;
  bool in_set = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char b = pattern[i];
    if (b == '\\' && i + 1 < pattern.size()) {
      text.append(pattern, i++, 2);
    } else if (b == '.' && !in_set) {
      text += "[^\\n\\r]";
    } else {
      if (b == '[') in_set = true;
      if (b == ']') in_set = false;
      text += b;
    }
  }
  return text;
}

/// $$, $&, $`, $', $1 ... $99 of ECMAScript.
void append_rewritten(std::string& out, const std::string& format, std::string_view text,
                      const std::vector<re2::StringPiece>& groups) {
  const auto begin = static_cast<std::size_t>(groups[0].data() - text.data());
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char next = i + 1 < format.size() ? format[i + 1] : '\0';
    if (format[i] != '$' || next == '\0') {
      out += format[i];
    } else if (next == '$' || next == '&') {
      next == '$' ? out += '$' : out.append(groups[0].data(), groups[0].size());
      ++i;
    } else if (next == '`' || next == '\'') {
      out += next == '`' ? text.substr(0, begin) : text.substr(begin + groups[0].size());
      ++i;
    } else if (next >= '0' && next <= '9') {
      std::size_t number = static_cast<std::size_t>(next - '0');
      ++i;
      if (i + 1 < format.size() && format[i + 1] >= '0' && format[i + 1] <= '9')
        number = number * 10 + static_cast<std::size_t>(format[++i] - '0');
      if (number < groups.size() && groups[number].data()) out.append(groups[number].data(), groups[number].size());
    } else {
      out += '$';
    }
  }
}

/// Calls `found(groups)` for the matches from left to right; false ends it.
template <class Found> void for_each_match(const RE2& regex, const std::string& text, Found found) {
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(regex.NumberOfCapturingGroups()) + 1);
  for (std::size_t from = 0; from <= text.size();) {
    if (!regex.Match(text, from, text.size(), RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()))) return;
    if (!found(groups)) return;
    const auto end = static_cast<std::size_t>(groups[0].data() - text.data()) + groups[0].size();
    from = groups[0].empty() ? end + 1 : end;
  }
}

std::shared_ptr<RE2> ecma(const KernelContext& c, const std::string& pattern) {
  if (pattern.empty()) c.fail("the pattern is empty");
  return compiled_regex(c, from_ecma(pattern), c.attr("ignore_case", std::int64_t{0}) != 0, true);
}

void run_ecma_replace(KernelContext& c) {
  const Array& x = c.in(0);
  const auto regex = ecma(c, text_argument(c, 1));
  const std::string& format = text_argument(c, 2);
  const bool is_global = c.attr("global_replace", std::int64_t{1}) != 0;
  const auto out = c.make(0, DType::string, x.dims()).mutable_data<std::string>();
  Pace pace(c.host().budget());
  std::size_t i = 0;
  for (const std::string& text : x.data<std::string>()) {
    std::string result;
    std::size_t done = 0;
    for_each_match(*regex, text, [&](const std::vector<re2::StringPiece>& groups) {
      const auto begin = static_cast<std::size_t>(groups[0].data() - text.data());
      result.append(text, done, begin - done);
      append_rewritten(result, format, text, groups);
      done = begin + groups[0].size();
      pace.step(std::ssize(format) + 1);
      return is_global;
    });
    out[i++] = result + text.substr(done);
    pace.step(std::ssize(text) + 1);
  }
}

/// Tokens of all rows, with their places in their texts.
struct Tokens {
  Texts texts;
  std::vector<std::int64_t> begin, end, rows;

  void add(const std::string& text, std::size_t from, std::size_t to) {
    texts.push_back(text.substr(from, to - from));
    begin.push_back(static_cast<std::int64_t>(from));
    end.push_back(static_cast<std::int64_t>(to));
  }
  void give(KernelContext& c) {
    rows.push_back(std::ssize(texts));
    const auto count = std::ssize(texts);
    give_texts(c, 0, {count}, std::move(texts));
    give_ints(c, 1, {count}, begin);
    give_ints(c, 2, {count}, end);
    give_ints(c, 3, {std::ssize(rows)}, rows);
  }
};

/// Cuts texts at the matches; what is cut at is the group with this number, and a token too if `keep` matches it.
void split_rows(KernelContext& c, const RE2& regex, const RE2* keep, std::size_t group) {
  const Array& x = c.in(0);
  if (x.rank() != 1) c.fail("the input must be a vector");
  Tokens tokens;
  Pace pace(c.host().budget());
  for (const std::string& text : x.data<std::string>()) {
    pace.step(std::ssize(text) + 1);
    tokens.rows.push_back(std::ssize(tokens.texts));
    std::size_t done = 0;
    for_each_match(regex, text, [&](const std::vector<re2::StringPiece>& groups) {
      if (group >= groups.size()) return false;  // nothing to cut at
      if (groups[0].empty()) c.fail("the pattern matches an empty text");
      if (!groups[group].data()) c.fail("the group of the pattern took no part in a match");
      const auto begin = static_cast<std::size_t>(groups[group].data() - text.data());
      const std::size_t end = begin + groups[group].size();
      if (begin > done) tokens.add(text, done, begin);
      if (keep && RE2::FullMatch(groups[group], *keep)) tokens.add(text, begin, end);
      done = static_cast<std::size_t>(groups[0].data() - text.data()) + groups[0].size();
      return true;
    });
    if (done < text.size()) tokens.add(text, done, text.size());
  }
  tokens.give(c);
}

void run_split(KernelContext& c) {
  const std::string& pattern = text_argument(c, 1);
  if (pattern.empty()) c.fail("the pattern is empty");
  if (c.in(2).size() > 1) c.fail("keep_pattern must have at most one element");
  const auto kept = c.in(2).data<std::string>();
  const auto keep = kept.empty() || kept[0].empty() ? nullptr : compiled_regex(c, kept[0]);
  split_rows(c, *compiled_regex(c, pattern), keep.get(), 1);
}

void run_ecma_split(KernelContext& c) {
  const std::string& kept = text_argument(c, 2);
  const auto keep = kept.empty() ? nullptr : ecma(c, kept);
  split_rows(c, *ecma(c, text_argument(c, 1)), keep.get(), 0);
}

void infer_split(InferContext& c) {
  for (std::size_t i = 0; i < 3; ++i) c.out_shape(i, {c.data_dim(0, 0)});
  if (const Shape* x = c.shape(0); x && x->size() == 1) c.out_shape(3, {(*x)[0] + 1});
}

}  // namespace

constinit const OpDef defs::contrib::StringECMARegexReplace = {
    .name = "StringECMARegexReplace", .domain = kContrib, .infer = infer_same_shape, .kernel = run_ecma_replace};
constinit const OpDef defs::contrib::StringECMARegexSplitWithOffsets = {
    .name = "StringECMARegexSplitWithOffsets", .domain = kContrib, .infer = infer_split, .kernel = run_ecma_split};
constinit const OpDef defs::contrib::StringRegexReplace = {
    .name = "StringRegexReplace", .domain = kContrib, .infer = infer_same_shape, .kernel = run_replace};
constinit const OpDef defs::contrib::StringRegexSplitWithOffsets = {
    .name = "StringRegexSplitWithOffsets", .domain = kContrib, .infer = infer_split, .kernel = run_split};

}  // namespace ingot::ops
