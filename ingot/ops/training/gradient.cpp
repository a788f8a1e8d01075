// Gradient: derivatives of one value of the graph with respect to others, which the attributes name.
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const auto* names = c.node().attributes.get<std::vector<std::string>>("xs");
  if (!names) return;
  if (c.input_count() < names->size()) c.fail("there are fewer inputs than names in 'xs'");
  if (c.output_count() > names->size()) c.fail("there are more outputs than names in 'xs'");
  // dy/dx has the type of x.
  for (std::size_t i = 0; i < c.output_count(); ++i) c.out_like(i, i);
}

}  // namespace

constinit const OpDef defs::Gradient = {
    .name = "Gradient",
    .domain = "ai.onnx.preview.training",
    .infer = infer,
};

}  // namespace ingot::ops
