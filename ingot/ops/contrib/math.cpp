// ai.onnx.contrib: NegPos, SegmentSum, SegmentExtraction.
#include <algorithm>

#include "ingot/ops/builder.h"
#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

void infer_both(InferContext& c) {
  c.out_shape_like(0, 0);
  c.out_shape_like(1, 0);
}

void run_both(KernelContext& c) {
  const Array& x = c.in(0);
  const auto in = x.data<float>();
  if (c.wants(0))
    std::ranges::transform(in, c.make(0, DType::f32, x.dims()).mutable_data<float>().begin(),
                           [](float v) { return v > 0 ? 0 : v; });
  if (c.wants(1))
    std::ranges::transform(in, c.make(1, DType::f32, x.dims()).mutable_data<float>().begin(),
                           [](float v) { return v > 0 ? v : 0; });
}

Values both_in_onnx(DecomposeContext& c) {
  Value* zero = c.g.scalar(0, DType::f32);
  return {c.g.op("Min", {c.in(0), zero}), c.g.op("Max", {c.in(0), zero})};
}

void infer_sum(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(!x->empty(), "data must have a dimension");
  Shape y = *x;
  y[0] = c.data_dim(0, 0);
  c.out_shape(0, std::move(y));
}

void run_sum(KernelContext& c) {
  const Array &x = c.in(0), &segments = c.in(1);
  if (x.rank() == 0 || segments.rank() != 1 || x.dims()[0] != segments.dims()[0])
    c.fail("segment_ids must be a vector with a number for each row of the data");
  const auto ids = segments.data<std::int64_t>();
  if (ids.empty()) c.fail("segment_ids is empty");
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || (i && ids[i] != ids[i - 1] && ids[i] != ids[i - 1] + 1))
      c.fail("segment_ids must not be negative, and rise by 0 or 1");
  Dims dims = x.dims();
  dims[0] = ids.back() + 1;
  const std::size_t width = static_cast<std::size_t>(x.size()) / ids.size();
  const auto in = x.data<float>();
  const auto sums = c.make(0, DType::f32, dims).mutable_data<float>();
  Pace pace(c.host().budget());
  for (std::size_t row = 0; row < ids.size(); ++row) {
    for (std::size_t k = 0; k < width; ++k) sums[static_cast<std::size_t>(ids[row]) * width + k] += in[row * width + k];
    pace.step(static_cast<std::int64_t>(width) + 1);
  }
}

void infer_extraction(InferContext& c) {
  c.out_shape(0, {c.data_dim(0, 0), 2});
  c.out_shape(1, {c.data_dim(0, 0)});
}

/// Runs of equal numbers that are not 0.
void run_extraction(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() != 1 && !(x.rank() == 2 && x.dims()[0] == 1)) c.fail("the input must have the shape [n] or [1, n]");
  const auto in = x.data<std::int64_t>();
  std::vector<std::int64_t> places, values;
  for (std::size_t i = 0; i < in.size();) {
    std::size_t end = i + 1;
    while (end < in.size() && in[end] == in[i]) ++end;
    if (in[i] != 0) {
      places.insert(places.end(), {static_cast<std::int64_t>(i), static_cast<std::int64_t>(end)});
      values.push_back(in[i]);
    }
    i = end;
  }
  give_ints(c, 0, {std::ssize(values), 2}, places);
  give_ints(c, 1, {std::ssize(values)}, values);
}

}  // namespace

constinit const OpDef defs::contrib::NegPos = {
    .name = "NegPos", .domain = kContrib, .infer = infer_both, .decompose = both_in_onnx, .kernel = run_both};
constinit const OpDef defs::contrib::SegmentExtraction = {
    .name = "SegmentExtraction", .domain = kContrib, .infer = infer_extraction, .kernel = run_extraction};
constinit const OpDef defs::contrib::SegmentSum = {
    .name = "SegmentSum", .domain = kContrib, .infer = infer_sum, .kernel = run_sum};

}  // namespace ingot::ops
