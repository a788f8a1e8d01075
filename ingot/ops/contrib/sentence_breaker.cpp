// ai.onnx.contrib.BlingFireSentenceBreaker: sentences of a text. Its model is a form that only BlingFire reads.
#include "ingot/ops/infer.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

void infer_sentences(InferContext& c) { c.out_shape(0, {c.data_dim(0, 0)}); }

}  // namespace

constinit const OpDef defs::contrib::BlingFireSentenceBreaker = {
    .name = "BlingFireSentenceBreaker", .domain = kContrib, .infer = infer_sentences};

}  // namespace ingot::ops
