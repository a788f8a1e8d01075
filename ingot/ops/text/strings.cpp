// StringConcat, StringNormalizer, StringSplit, RegexFullMatch: text element by element.
#include <re2/re2.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/blocks.h"
#include "ingot/ops/text/utf8.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

void infer_normalizer(InferContext& c) {
  const std::string change = c.attr("case_change_action", "NONE");
  if (change != "LOWER" && change != "UPPER" && change != "NONE")
    c.fail("attribute 'case_change_action' is '" + change + "'");
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() == 1 || (x->size() == 2 && may_equal((*x)[0], 1)), "the input must have shape [C] or [1, C]");
  const auto* stopwords = c.node().attributes.get<std::vector<std::string>>("stopwords");
  Shape y = *x;
  if (y.size() == 2) y[0] = 1;
  // Which strings are stopwords is data; should all be, one empty string remains.
  if (stopwords && !stopwords->empty()) y.back() = c.data_dim(0, static_cast<std::int64_t>(y.size()) - 1);
  c.out_shape(0, std::move(y));
}

void infer_split(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  Shape y = *x;
  y.push_back(c.data_dim(0, static_cast<std::int64_t>(x->size())));
  c.out_shape(0, std::move(y));
  c.out_shape(1, *x);
}

void run_full_match(KernelContext& c) {
  const Array& x = c.in(0);
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 pattern(c.attr("pattern", ""), options);
  if (!pattern.ok()) c.fail("the pattern is not understood: " + pattern.error());
  const auto in = x.data<std::string>();
  const auto out = c.make(0, DType::boolean, x.dims()).mutable_data<bool>();
  WorkMeter meter(c.host().budget());
  for (std::size_t i = 0; i < in.size(); ++i) {
    out[i] = RE2::FullMatch(in[i], pattern);
    meter.did(static_cast<std::int64_t>(in[i].size()));
  }
}

void run_concat(KernelContext& c) {
  const Array &x = c.in(0), &y = c.in(1);
  const Dims dims = broadcast_dims(c, {&x.dims(), &y.dims()});
  const Walk walk = broadcast(dims, {&x.dims(), &y.dims()});
  const std::string *a = x.data<std::string>().data(), *b = y.data<std::string>().data();
  std::string* out = c.make(0, DType::string, dims).mutable_data<std::string>().data();
  const std::int64_t i = walk.strides[0].back(), j = walk.strides[1].back();
  for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) *out++ = a[at[0] + k * i] + b[at[1] + k * j];
  });
}

void run_normalizer(KernelContext& c) {
  const Array& x = c.in(0);
  const std::string change = c.attr("case_change_action", "NONE");
  if (change != "LOWER" && change != "UPPER" && change != "NONE") c.fail("case_change_action is '" + change + "'");
  if (x.rank() != 1 && !(x.rank() == 2 && x.dims()[0] == 1)) c.fail("the input must have shape [C] or [1, C]");
  const bool is_sensitive = c.attr("is_case_sensitive", std::int64_t{0}) != 0;
  const auto folded = [&](const std::string& s) { return is_sensitive ? s : lower_case(s); };
  std::unordered_set<std::string> stopwords;
  if (const auto* words = c.node.attributes.get<std::vector<std::string>>("stopwords"))
    for (const std::string& word : *words) stopwords.insert(folded(word));
  std::vector<std::string> kept;
  WorkMeter meter(c.host().budget());
  for (const std::string& s : x.data<std::string>()) {
    meter.did(static_cast<std::int64_t>(s.size()));
    if (!stopwords.empty() && stopwords.contains(folded(s))) continue;
    kept.push_back(change == "LOWER" ? lower_case(s) : change == "UPPER" ? upper_case(s) : s);
  }
  if (kept.empty()) kept.emplace_back();
  const auto count = static_cast<std::int64_t>(kept.size());
  Array& y = c.make(0, DType::string, x.rank() == 1 ? Dims{count} : Dims{1, count});
  std::ranges::move(kept, y.mutable_data<std::string>().begin());
}

/// The length of the white space a text begins with, in bytes.
std::size_t leading_space(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const Character next = first_character(text.substr(length));
    if (!next.is_valid || !is_space(next.code)) break;
    length += next.bytes;
  }
  return length;
}

// Runs of white space separate; those at the ends do not count.
std::vector<std::string> split_at_space(std::string_view text, std::size_t most) {
  std::vector<std::string> parts;
  text.remove_prefix(leading_space(text));
  while (!text.empty() && parts.size() < most) {
    std::size_t end = 0;
    while (end < text.size() && leading_space(text.substr(end)) == 0) end += first_character(text.substr(end)).bytes;
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(leading_space(text));
  }
  if (!text.empty()) parts.emplace_back(text);
  return parts;
}

std::vector<std::string> split_at(std::string_view text, const std::string& delimiter, std::size_t most) {
  std::vector<std::string> parts;
  while (parts.size() < most) {
    const std::size_t at = text.find(delimiter);
    if (at == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  parts.emplace_back(text);
  return parts;
}

void run_split(KernelContext& c) {
  const Array& x = c.in(0);
  const std::string delimiter = c.attr("delimiter", "");
  const std::int64_t limit = c.attr("maxsplit", std::int64_t{-1});
  const std::size_t most = limit < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(limit);
  std::vector<std::vector<std::string>> all;
  std::size_t longest = 0;
  WorkMeter meter(c.host().budget());
  for (const std::string& s : x.data<std::string>()) {
    all.push_back(delimiter.empty() ? split_at_space(s, most) : split_at(s, delimiter, most));
    longest = std::max(longest, all.back().size());
    meter.did(static_cast<std::int64_t>(s.size()));
  }
  Dims dims = x.dims();
  dims.push_back(static_cast<std::int64_t>(longest));
  if (c.wants(0)) {
    Array& y = c.make(0, DType::string, std::move(dims));
    auto out = y.mutable_data<std::string>().begin();
    for (const std::vector<std::string>& parts : all) {
      std::ranges::copy(parts, out);
      std::fill_n(out + static_cast<std::ptrdiff_t>(parts.size()), longest - parts.size(), std::string());
      out += static_cast<std::ptrdiff_t>(longest);
    }
  }
  if (c.wants(1)) {
    const auto counts = c.make(1, DType::i64, x.dims()).mutable_data<std::int64_t>();
    for (std::size_t i = 0; i < all.size(); ++i) counts[i] = static_cast<std::int64_t>(all[i].size());
  }
}

}  // namespace

constinit const OpDef defs::RegexFullMatch = {
    .name = "RegexFullMatch",
    .infer = infer_same_shape,
    .kernel = run_full_match,
};
constinit const OpDef defs::StringConcat = {
    .name = "StringConcat",
    .infer = infer_broadcast,
    .kernel = run_concat,
};
constinit const OpDef defs::StringNormalizer = {
    .name = "StringNormalizer",
    .infer = infer_normalizer,
    .kernel = run_normalizer,
};
constinit const OpDef defs::StringSplit = {
    .name = "StringSplit",
    .infer = infer_split,
    .kernel = run_split,
};

}  // namespace ingot::ops
