// ReverseSequence: the first elements of each sequence of a batch in reverse, as many as its length says.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/blocks.h"

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

void run(KernelContext& c) {
  const Array& x = c.in(0);
  const std::int64_t time = c.attr("time_axis", std::int64_t{0}), batch = c.attr("batch_axis", std::int64_t{1});
  if (!((time == 0 && batch == 1) || (time == 1 && batch == 0))) c.fail("time_axis and batch_axis are not 0 and 1");
  if (x.rank() < 2) c.fail("the input has rank " + std::to_string(x.rank()) + ", not at least 2");
  const std::int64_t steps = x.dims()[static_cast<std::size_t>(time)];
  const std::vector<std::int64_t> lengths = list_of_ints(c, 1);
  if (static_cast<std::int64_t>(lengths.size()) != x.dims()[static_cast<std::size_t>(batch)])
    c.fail("there is not one length per sequence");
  for (const std::int64_t length : lengths)
    if (length < 0 || length > steps) c.fail("a length is " + std::to_string(length) + " of " + std::to_string(steps));
  Array& y = c.make(0, x.dtype(), x.dims());
  if (y.size() == 0) return;
  const std::int64_t count = static_cast<std::int64_t>(lengths.size()), inner = x.size() / (steps * count);
  WorkMeter meter(c.host().budget());
  const auto place = [&](std::int64_t t, std::int64_t b) {
    return (time == 0 ? t * count + b : b * steps + t) * inner;
  };
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t b = 0; b < count; ++b) {
      const std::int64_t length = lengths[static_cast<std::size_t>(b)];
      copy_elements(x, place(t < length ? length - 1 - t : t, b), y, place(t, b), inner);
      meter.did(inner);
    }
}

}  // namespace

constinit const OpDef defs::ReverseSequence = {
    .name = "ReverseSequence",
    .infer = infer,
    .kernel = run,
    .gradient = gradient_reverse_sequence,
};

}  // namespace ingot::ops
