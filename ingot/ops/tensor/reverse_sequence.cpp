// ReverseSequence: the first elements of each sequence of a batch in reverse, as many as its length says.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const std::int64_t time = c.attr("time_axis", std::int64_t{0}), batch = c.attr("batch_axis", std::int64_t{1});
  c.require((time == 0 && batch == 1) || (time == 1 && batch == 0), "time_axis and batch_axis are not 0 and 1");
  const Shape *x = c.shape(0), *lengths = c.shape(1);
  if (x && x->size() < 2) c.fail("the input has rank " + std::to_string(x->size()) + ", not at least 2");
  if (lengths && lengths->size() != 1) c.fail("the lengths are not a list");
  if (x && lengths && !may_equal(c.dim(0, batch), (*lengths)[0]))
    c.fail("there are " + (*lengths)[0].str() + " lengths for a batch of " + c.dim(0, batch).str());
  c.out_shape_like(0, 0);
}

// Reversing twice changes nothing.
Values gradient_reverse_sequence(GradContext& c) {
  return {c.g.op("ReverseSequence", {c.dy(), c.x(1)}, c.same_attrs({"batch_axis", "time_axis"}))};
}

}  // namespace

constinit const OpDef defs::ReverseSequence = {
    .name = "ReverseSequence",
    .infer = infer,
    .gradient = gradient_reverse_sequence,
};

}  // namespace ingot::ops
