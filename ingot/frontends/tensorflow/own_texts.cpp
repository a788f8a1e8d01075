// Text operators that ONNX lacks, as operators of the domains ingot and ai.onnx.contrib.
#include "ingot/frontends/tensorflow/own_texts.h"

#include <algorithm>

#include "ingot/frontends/tensorflow/translation.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr std::string_view kContribDomain = "ai.onnx.contrib";

Values made(const TfNode& n, GraphBuilder& g, std::string_view op, std::string_view domain, const Values& inputs,
            const Attrs& attrs, std::size_t outputs = 1) {
  n.translation().use_domain(std::string(domain));
  Node* node = g.node(op, domain, inputs, attrs, outputs);
  ops::InferSession session;
  ops::infer_node(*node, session);
  Values values;
  for (Value* value : node->outputs()) values.push_back(value);
  return values;
}

Value* text(GraphBuilder& g, const std::string& value) { return g.constant(Tensor::of_strings({}, {value})); }

Values own_substr(const TfNode& n, GraphBuilder& g) {
  Value *position = g.cast(n.input(1), DType::i64), *length = g.cast(n.input(2), DType::i64);
  return made(n, g, "Substr", kOwnDomain, {n.input(0), position, length}, {{"unit", n.text("unit", "BYTE")}});
}

Values own_buckets(const TfNode& n, GraphBuilder& g) {
  Attrs attrs{{"num_buckets", n.integer("num_buckets", 0)}};
  if (n.op() == "StringToHashBucketStrong") attrs.emplace_back("key", n.ints("key"));
  return made(n, g, n.op(), kOwnDomain, {n.input(0)}, attrs);
}

/// Text, pattern and replacement.
Values replace_inputs(const TfNode& n, GraphBuilder& g) {
  if (n.op() == "StaticRegexReplace")
    return {n.input(0), text(g, n.text("pattern", "")), text(g, n.text("rewrite", ""))};
  return {n.input(0), n.input(1), n.input(2)};
}

Values own_replace(const TfNode& n, GraphBuilder& g) {
  const std::int64_t is_global = n.flag("replace_global", true);
  return made(n, g, "RegexReplace", kOwnDomain, replace_inputs(n, g), {{"replace_global", is_global}});
}
Values contrib_replace(const TfNode& n, GraphBuilder& g) {
  const std::int64_t is_global = n.flag("replace_global", true);
  return made(n, g, "StringRegexReplace", kContribDomain, replace_inputs(n, g), {{"global_replace", is_global}});
}

Values own_full_match(const TfNode& n, GraphBuilder& g) {
  Value* pattern = n.op() == "StaticRegexFullMatch" ? text(g, n.text("pattern", "")) : n.input(1);
  return made(n, g, "RegexFullMatch", kOwnDomain, {n.input(0), pattern}, {});
}

Values own_split(const TfNode& n, GraphBuilder& g) {
  return made(n, g, "StringSplitV2", kOwnDomain, {n.input(0), n.input(1)}, {{"maxsplit", n.integer("maxsplit", -1)}},
              3);
}

Values own_case(const TfNode& n, GraphBuilder& g) {
  return made(n, g, n.op(), kOwnDomain, {n.input(0)}, {{"encoding", n.text("encoding", "")}});
}
/// Both know ASCII only.
Values contrib_upper(const TfNode& n, GraphBuilder& g) {
  if (!n.text("encoding", "").empty()) return {};
  return made(n, g, "StringUpper", kContribDomain, {n.input(0)}, {});
}

Values own_strip(const TfNode& n, GraphBuilder& g) { return made(n, g, "StringStrip", kOwnDomain, {n.input(0)}, {}); }

Values own_length(const TfNode& n, GraphBuilder& g) {
  return made(n, g, "StringLength", kOwnDomain, {n.input(0)}, {{"unit", n.text("unit", "BYTE")}});
}
Values contrib_length(const TfNode& n, GraphBuilder& g) {
  if (n.text("unit", "BYTE") != "UTF8_CHAR") return {};
  return {g.cast(made(n, g, "StringLength", kContribDomain, {n.input(0)}, {})[0], DType::i32)};
}

constexpr OwnText kTable[] = {
    {"RegexFullMatch", own_full_match},
    {"RegexReplace", own_replace, contrib_replace},
    {"StaticRegexFullMatch", own_full_match},
    {"StaticRegexReplace", own_replace, contrib_replace},
    {"StringLength", own_length, contrib_length},
    {"StringLower", own_case},
    {"StringSplitV2", own_split},
    {"StringStrip", own_strip},
    {"StringToHashBucket", own_buckets},
    {"StringToHashBucketFast", own_buckets},
    {"StringToHashBucketStrong", own_buckets},
    {"StringUpper", own_case, contrib_upper},
    {"Substr", own_substr},
};
static_assert(std::ranges::is_sorted(kTable, {}, &OwnText::op), "keep the table sorted");

}  // namespace

const OwnText* find_own_text(std::string_view op) {
  const auto* it = std::ranges::lower_bound(kTable, op, {}, &OwnText::op);
  return it != std::end(kTable) && it->op == op ? it : nullptr;
}

std::string own_text_remedy(std::string_view op) {
  const OwnText* row = find_own_text(op);
  return "--allow-custom " + std::string(op) + " makes it an operator of the domain ingot, which Ingot runs" +
         (row && row->contrib ? "; --strings contrib one of ONNX Runtime's extensions where it means the same" : "");
}

}  // namespace ingot::frontends::tensorflow
