// com.microsoft.Tokenizer: texts cut into tokens, rows padded to one length.
#include <re2/re2.h>

#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/text/utf8.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

using Words = std::vector<std::string>;

void infer_tokenizer(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  Shape y = *x;
  y.push_back(c.data_dim(0, std::ssize(*x)));
  c.out_shape(0, y);
}

Words characters(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const std::size_t bytes = std::min(first_character(text).bytes, text.size());
    words.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return words;
}

std::int64_t length_of(std::string_view text) { return std::ssize(characters(text)); }

/// What lies between matches of each expression, one after the other.
Words between(const std::string& text, const std::vector<std::unique_ptr<RE2>>& separators, std::int64_t least) {
  Words pieces{text};
  for (const auto& separator : separators) {
    Words next;
    for (const std::string& piece : pieces) {
      re2::StringPiece match;
      std::size_t begin = 0, from = 0;
      while (from <= piece.size() && separator->Match(piece, from, piece.size(), RE2::UNANCHORED, &match, 1)) {
        const auto at = static_cast<std::size_t>(match.data() - piece.data());
        if (match.empty()) {
          from = at + 1;
          continue;
        }
        if (at > begin) next.push_back(piece.substr(begin, at - begin));
        begin = from = at + match.size();
      }
      if (begin < piece.size()) next.push_back(piece.substr(begin));
    }
    pieces = std::move(next);
  }
  std::erase_if(pieces, [&](const std::string& piece) { return length_of(piece) < least; });
  return pieces;
}

/// The longest matches, from left to right.
Words matches(const std::string& text, const RE2& expression, std::int64_t least) {
  Words words;
  re2::StringPiece match;
  for (std::size_t from = 0; from < text.size();) {
    if (!expression.Match(text, from, text.size(), RE2::UNANCHORED, &match, 1)) break;
    const auto at = static_cast<std::size_t>(match.data() - text.data());
    if (match.empty() || length_of({match.data(), match.size()}) < least) {
      from = at + std::max<std::size_t>(1, first_character(std::string_view(text).substr(at)).bytes);
      continue;
    }
    words.emplace_back(match.data(), match.size());
    from = at + match.size();
  }
  return words;
}

std::unique_ptr<RE2> compiled(KernelContext& c, const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_longest_match(true);
  auto expression = std::make_unique<RE2>(pattern, options);
  if (!expression->ok()) c.fail("an expression is not understood: " + expression->error());
  return expression;
}

std::vector<Words> tokens_of(KernelContext& c) {
  const auto* separators = c.node.attributes.get<Words>("separators");
  const std::string pattern = c.attr("tokenexp", "");
  const std::int64_t least = c.attr("mincharnum", std::int64_t{1});
  if ((separators != nullptr) == !pattern.empty()) c.fail("either separators or tokenexp must be given");
  const bool by_character = separators ? separators->size() == 1 && separators->front().empty() : pattern == ".";
  std::vector<std::unique_ptr<RE2>> expressions;
  if (!by_character && separators)
    for (const std::string& s : *separators) expressions.push_back(compiled(c, s));
  if (!by_character && !separators) expressions.push_back(compiled(c, pattern));
  std::vector<Words> rows;
  Pace pace(c.host().budget());
  for (const std::string& text : c.in(0).data<std::string>()) {
    pace.step(std::ssize(text));
    rows.push_back(by_character ? characters(text)
                   : separators ? between(text, expressions, least)
                                : matches(text, *expressions[0], least));
  }
  return rows;
}

void run_tokenizer(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() != 1 && x.rank() != 2) c.fail("the input must have one or two dimensions");
  const std::vector<Words> rows = tokens_of(c);
  std::size_t most = 0;
  for (const Words& row : rows) most = std::max(most, row.size());
  const bool is_marked = c.attr("mark", std::int64_t{0}) != 0;
  const std::size_t width = most == 0 ? 0 : most + (is_marked ? 2 : 0);
  Dims dims = x.dims();
  dims.push_back(static_cast<std::int64_t>(width));
  const std::string pad = c.attr("pad_value", "");
  const auto out = c.make(0, DType::string, dims).mutable_data<std::string>();
  for (std::size_t r = 0; width && r < rows.size(); ++r) {
    std::size_t at = r * width;
    if (is_marked) out[at++] = "\x02";
    for (const std::string& word : rows[r]) out[at++] = word;
    if (is_marked) out[at++] = "\x03";
    while (at < (r + 1) * width) out[at++] = pad;
  }
}

}  // namespace

constinit const OpDef defs::microsoft::Tokenizer = {
    .name = "Tokenizer", .domain = kMicrosoft, .infer = infer_tokenizer, .kernel = run_tokenizer};

}  // namespace ingot::ops
