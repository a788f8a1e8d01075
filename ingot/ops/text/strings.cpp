// StringConcat, StringNormalizer, StringSplit, RegexFullMatch: text element by element.
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"

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

}  // namespace

constinit const OpDef defs::RegexFullMatch = {
    .name = "RegexFullMatch",
    .infer = infer_same_shape,
};
constinit const OpDef defs::StringConcat = {
    .name = "StringConcat",
    .infer = infer_broadcast,
};
constinit const OpDef defs::StringNormalizer = {
    .name = "StringNormalizer",
    .infer = infer_normalizer,
};
constinit const OpDef defs::StringSplit = {
    .name = "StringSplit",
    .infer = infer_split,
};

}  // namespace ingot::ops
