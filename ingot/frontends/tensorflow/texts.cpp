// Texts: joining, splitting, comparing, reading numbers.
#include "ingot/frontends/texts.h"

#include <cctype>
#include <set>

#include "ingot/frontends/repeat.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {
namespace {

Value* text(GraphBuilder& g, const std::string& value) { return g.constant(Tensor::of_strings({}, {value})); }

std::string constant_text(const TfNode& n, std::size_t i, const char* what) {
  const Tensor* value = n.constant(i);
  if (!value || value->dtype() != DType::string || value->size() != 1)
    n.unsupported(std::string(what) + " must be a constant");
  return value->strings()[0];
}

Value* is_not_empty(GraphBuilder& g, Value* x) { return g.op("Not", {g.op("Equal", {x, text(g, "")})}); }

Values in_case(const TfNode& n, GraphBuilder& g, const char* how) {
  if (n.text("encoding", "").empty())
    n.translation().note("'" + n.name() + "' (" + n.op() +
                         ") leaves letters beyond ASCII as they are in TensorFlow; in ONNX their case changes too");
  return {with_case(g, n.input(0), how)};
}

/// [rows, parts] and whether each place holds a part, as indices, values and shape of a sparse tensor.
Values as_sparse(GraphBuilder& g, Value* parts, Value* is_part) {
  Value* number = g.sub(g.op("CumSum", {g.cast(is_part, DType::i64), g.index(1)}), g.index(1));
  Value* places = g.op("NonZero", {is_part});
  Value* at = g.transpose(places, {1, 0});
  Value* row = g.op("Slice", {at, g.ints({0}), g.ints({1}), g.ints({1})});
  Value* column = g.unsqueeze(g.op("GatherND", {number, at}), {1});
  Value* values = g.op("GatherND", {parts, at});
  Value* indices = g.concat({row, column}, 1);
  Value* lengths = g.reduce_sum(g.cast(is_part, DType::i64), {1}, false);
  Value* longest = g.op("ReduceMax", {g.concat({lengths, g.ints({0})}, 0)}, {{"keepdims", 1}});
  return {indices, values, g.concat({g.shape(lengths), longest}, 0)};
}

/// The places of a row that ONNX has filled.
Value* is_filled(GraphBuilder& g, Value* parts, Value* counts) {
  Value* column = g.unsqueeze(counted(g, size_of(g, parts, -1)), {0});
  return g.op("Less", {column, g.unsqueeze(counts, {-1})});
}

}  // namespace

Values string_join(const TfNode& n, GraphBuilder& g) {
  const std::string separator = n.text("separator", "");
  Value* joined = n.input(0);
  for (std::size_t i = 1; i < n.input_count(); ++i) {
    if (!separator.empty()) joined = g.op("StringConcat", {joined, text(g, separator)});
    joined = g.op("StringConcat", {joined, n.input(i)});
  }
  return {joined};
}

Values reduce_join(const TfNode& n, GraphBuilder& g) {
  const std::string separator = n.text("separator", "");
  std::vector<std::int64_t> axes = n.need_ints(1);
  Value* x = n.input(0);
  for (std::int64_t& axis : axes) {
    if (axis < 0) axis += n.rank(0);
    Value* first = g.op("Slice", {x, g.ints({0}), g.ints({1}), g.ints({axis})});
    Value* start = g.op("Expand", {text(g, ""), g.shape(first)});
    Value* whole = x;
    x = repeat(g, size_of(g, x, axis), {start}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
      Value* is_later = b.op("Greater", {k, b.index(0)});
      Value* between = b.where(is_later, text(b, separator), text(b, ""));
      Value* part = b.op("Gather", {whole, b.unsqueeze(k, {0})}, {{"axis", axis}});
      return {b.op("StringConcat", {b.op("StringConcat", {state[0], between}), part})};
    })[0];
  }
  if (n.flag("keep_dims", false) || axes.empty()) return {x};
  return {g.squeeze(x, axes)};
}

Values string_lower(const TfNode& n, GraphBuilder& g) { return in_case(n, g, "LOWER"); }
Values string_upper(const TfNode& n, GraphBuilder& g) { return in_case(n, g, "UPPER"); }

Values string_to_number(const TfNode& n, GraphBuilder& g) {
  return {g.cast(n.input(0), n.dtype("out_type", DType::f32))};
}

Values static_regex_full_match(const TfNode& n, GraphBuilder& g) {
  return {g.op("RegexFullMatch", {n.input(0)}, {{"pattern", n.text("pattern", "")}})};
}
Values regex_full_match(const TfNode& n, GraphBuilder& g) {
  return {g.op("RegexFullMatch", {n.input(0)}, {{"pattern", constant_text(n, 1, "the pattern")}})};
}

Values string_split(const TfNode& n, GraphBuilder& g) {
  const std::string delimiter = constant_text(n, 1, "the delimiter");
  if (delimiter.size() != 1) n.unsupported("the delimiter must be one character");
  const Values split = g.op("StringSplit", {n.input(0)}, {{"delimiter", delimiter}}, 2);
  Value* is_part = is_filled(g, split[0], split[1]);
  if (n.flag("skip_empty", true)) is_part = g.op("And", {is_part, is_not_empty(g, split[0])});
  return as_sparse(g, split[0], is_part);
}
Values string_split_v2(const TfNode& n, GraphBuilder& g) {
  Attrs attrs{{"delimiter", constant_text(n, 1, "the separator")}};
  if (const std::int64_t most = n.integer("maxsplit", -1); most >= 0) attrs.emplace_back("maxsplit", most);
  const Values split = g.op("StringSplit", {n.input(0)}, attrs, 2);
  return as_sparse(g, split[0], is_filled(g, split[0], split[1]));
}

// Replacement: of a plain text, or of each of a set of characters.
namespace {

constexpr std::string_view kSpecial = ".^$|?*+()[]{}";

/// The texts that a pattern matches, if they can be listed.
std::optional<std::vector<std::string>> matched_texts(std::string_view pattern) {
  const bool is_set = pattern.size() > 2 && pattern.front() == '[' && pattern.back() == ']' && pattern[1] != '^';
  if (is_set) pattern = pattern.substr(1, pattern.size() - 2);
  std::string plain;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '\\') {
      if (++i == pattern.size()) return std::nullopt;
      c = pattern[i];
      if (c == 'n')
        c = '\n';
      else if (c == 't')
        c = '\t';
      else if (c == 'r')
        c = '\r';
      else if (std::isalnum(static_cast<unsigned char>(c)))
        return std::nullopt;
    } else if (is_set ? c == '[' || (c == ']' && i > 0) : kSpecial.find(c) != kSpecial.npos) {
      return std::nullopt;
    } else if (is_set && c == '-' && i > 0 && i + 1 < pattern.size()) {
      // A range, of letters or digits only.
      const char last = pattern[i + 1], first = plain.back();
      if (!std::isalnum(static_cast<unsigned char>(first)) || !std::isalnum(static_cast<unsigned char>(last)) ||
          last < first)
        return std::nullopt;
      for (char next = static_cast<char>(first + 1); next <= last; ++next) plain += next;
      ++i;
      continue;
    }
    if (static_cast<unsigned char>(c) >= 128 && is_set) return std::nullopt;
    plain += c;
  }
  if (plain.empty()) return std::nullopt;
  if (!is_set) return std::vector{plain};
  std::vector<std::string> all;
  for (const char c : std::set<char>(plain.begin(), plain.end())) all.emplace_back(1, c);
  return all;
}

Values replaced_all(const TfNode& n, GraphBuilder& g, const std::string& pattern, const std::string& by) {
  const bool only_first = !n.flag("replace_global", true);
  if (by.find('\\') != by.npos) n.unsupported("a replacement that refers to the match");
  const auto texts = matched_texts(pattern);
  if (!texts || texts->size() > 128) n.unsupported("the pattern is neither a plain text nor a set of characters");
  if (only_first && texts->size() > 1) n.unsupported("the replacement of the first of several characters only");
  Value* x = n.input(0);
  for (const std::string& t : *texts) {
    if (texts->size() > 1 && by.find(t) != by.npos) n.unsupported("the replacement holds characters of the pattern");
    x = with_replaced(g, x, t, by, only_first);
  }
  return {x};
}

}  // namespace

Values static_regex_replace(const TfNode& n, GraphBuilder& g) {
  return replaced_all(n, g, n.text("pattern", ""), n.text("rewrite", ""));
}
Values regex_replace(const TfNode& n, GraphBuilder& g) {
  const std::string pattern = constant_text(n, 1, "the pattern");
  return replaced_all(n, g, pattern, constant_text(n, 2, "the replacement"));
}

}  // namespace ingot::frontends::tensorflow
