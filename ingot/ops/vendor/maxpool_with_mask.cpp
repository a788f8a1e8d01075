// com.microsoft.MaxpoolWithMask: of a row of a window, what lies before the first masked element.
#include <limits>

#include "ingot/ops/nn/pool.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

void run(KernelContext& c) {
  const Array &x = c.in(0), &mask = c.in(1);
  const Sliding s = Sliding::over(c, x.dims());
  const Dims& kept = mask.dims();
  if (kept.size() != x.dims().size() || !std::equal(kept.begin() + 2, kept.end(), x.dims().begin() + 2))
    c.fail("the mask has another shape than the input");
  const std::int64_t planes = kept[0] * kept[1];
  Array& y = c.make(0, DType::f32, pooled_dims(x.dims(), s.windows));
  const auto out = y.mutable_data<float>();
  if (!out.empty() && planes == 0) c.fail("the mask is empty");
  const auto in = x.data<float>();
  const auto masked = mask.data<std::int32_t>();
  const std::int64_t width = s.plane.back();
  Pace pace(c.host().budget());
  std::int64_t first = 0;  // element of the plane
  for (std::size_t i = 0; i < out.size(); first += s.plane_size) {
    // Where ONNX Runtime looks: counted in elements what should be counted in planes.
    const std::int64_t first_mask = first % planes;
    for (Positions positions(s); positions.next(); ++i) {
      float best = std::numeric_limits<float>::lowest();
      std::int64_t ended = -1;  // row
      positions.box().each([&](std::int64_t element) {
        const std::int64_t row = element / width;
        // The first element of a plane is masked in sequences only, as there.
        const bool may_end = element > 0 || s.rank() == 1;
        if (may_end && masked[static_cast<std::size_t>(first_mask + element)] == 0) ended = row;
        if (row != ended) best = std::max(best, in[static_cast<std::size_t>(first + element)]);
      });
      out[i] = best;
      pace.step(positions.box().size + 1);
    }
  }
}

}  // namespace

constinit const OpDef defs::microsoft::MaxpoolWithMask = {
    .name = "MaxpoolWithMask", .domain = kMicrosoft, .infer = infer_pool, .kernel = run};

}  // namespace ingot::ops
