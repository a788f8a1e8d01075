// Texts.
#include "ingot/backends/tensorflow/rows.h"

namespace ingot::backends::tensorflow {

void emit_string_concat(NodeOut& n) { n.set(n.e.add("StringJoin", n.all_inputs())); }

namespace {

Ref text(NodeOut& n, const std::string& value) { return n.e.constant(Tensor::of_strings({}, {value})); }

Ref in_case(NodeOut& n, Ref x, const std::string& action) {
  if (action != "LOWER" && action != "UPPER") return x;
  return n.e.add(action == "LOWER" ? "StringLower" : "StringUpper", {x}, {{"encoding", "utf-8"}});
}

}  // namespace

/// Words that are no stopwords, in one case; where none is left, an empty text.
void emit_string_normalizer(NodeOut& n) {
  Emitter& e = n.e;
  const bool is_row = n.rank() == 2;
  Ref words = is_row ? e.add("Squeeze", {n.in(0)}, {{"squeeze_dims", Ints{0}}}) : n.in(0);
  const auto* stated = n.node.attributes.get<std::vector<std::string>>("stopwords");
  const std::vector<std::string> stopwords = stated ? *stated : std::vector<std::string>();
  if (!stopwords.empty()) {
    const bool is_exact = n.attr("is_case_sensitive", 0) != 0;
    const Ref those = e.constant(Tensor::of_strings({static_cast<std::int64_t>(stopwords.size())}, stopwords));
    const std::string compared = is_exact ? "NONE" : "LOWER";
    const Ref each = e.add("ExpandDims", {in_case(n, words, compared), e.index(1)});
    const Ref is_one = e.add("Any", {e.add("Equal", {each, in_case(n, those, compared)}), e.ints({1})});
    words = e.add("GatherNd", {words, e.add("Where", {e.add("LogicalNot", {is_one})})});
  }
  words = in_case(n, words, n.attr("case_change_action", "NONE"));
  const Ref none = e.constant(Tensor::of_strings({1}, {""}));
  const Ref count = e.add("Maximum", {shape_of(e, words), e.ints({1})});
  words = e.add("Slice", {e.add("ConcatV2", {words, none, e.index(0)}), e.ints({0}), count});
  n.set(is_row ? e.add("ExpandDims", {words, e.index(0)}) : words);
}
Refused refuse_string_normalizer(const Node& n, Dialect) { return needs_rank(n); }

/// Parts of texts, filled up with empty ones behind the last, and how many there are of each.
void emit_string_split(NodeOut& n) {
  Emitter& e = n.e;
  const Ref list = reshaped(e, n.in(0), {-1});
  const std::int64_t most = n.attr("maxsplit", std::int64_t{-1});
  const Ref parts = e.add("StringSplitV2", {list, text(n, n.attr("delimiter", ""))}, {{"maxsplit", most}});
  const Ref places = parts, words{parts.node, 1}, sizes{parts.node, 2};
  const Ref shape = e.add("Shape", {n.in(0)}, {{"out_type", DType::i64}});
  const Ref width = part_of_list(e, sizes, 1, 1);
  const Ref table = e.add("SparseToDense", {places, sizes, words, text(n, "")});
  n.set(e.add("Reshape", {table, e.add("ConcatV2", {shape, width, e.index(0)})}));
  if (!n.node.output(1)) return;
  const Ref ones = e.add("Fill", {shape_of(e, words), e.scalar(1, DType::i64)});
  const Ref marked = e.add("SparseToDense", {places, sizes, ones, e.scalar(0, DType::i64)});
  n.set(e.add("Reshape", {e.add("Sum", {marked, e.ints({1})}), shape}), 1);
}

void emit_regex_full_match(NodeOut& n) {
  const Ref pattern = n.e.constant(Tensor::of_strings({}, {n.attr("pattern", "")}));
  n.set(n.e.add("RegexFullMatch", {n.in(0), pattern}));
}

}  // namespace ingot::backends::tensorflow
