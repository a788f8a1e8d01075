// TfIdfVectorizer: how often each n-gram of a vocabulary occurs.
#include <algorithm>

#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const auto* indexes = c.attr_ints("ngram_indexes");
  if (!indexes || indexes->empty()) return;
  for (const std::int64_t i : *indexes) c.require(i >= 0, "attribute 'ngram_indexes' is negative");
  const Dim size = Dim(*std::ranges::max_element(*indexes)) + 1;
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() == 1 || x->size() == 2, "the input must have shape [C] or [N, C]");
  c.out_shape(0, x->size() == 1 ? Shape{size} : Shape{(*x)[0], size});
}

}  // namespace

constinit const OpDef defs::TfIdfVectorizer = {
    .name = "TfIdfVectorizer",
    .infer = infer,
};

}  // namespace ingot::ops
