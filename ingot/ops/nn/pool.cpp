// What the pools share.
#include "ingot/ops/nn/pool.h"

#include <algorithm>
#include <cmath>

#include "ingot/ops/nn/conv.h"
#include "ingot/ops/nn/window.h"

namespace ingot::ops {

void infer_pool(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  const Shape sizes = spatial(c, *x, "the input");
  const Window window = Window::read(c.node().attributes, sizes.size());
  Shape y = {(*x)[0], (*x)[1]};
  for (std::size_t i = 0; i < sizes.size(); ++i) y.push_back(window.output_size(i, sizes[i]));
  c.out_shape(1, y);
  c.out_shape(0, std::move(y));
}

void infer_global_pool(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() >= 2, "the input has no channels");
  Shape y(x->size(), Dim(1));
  y[0] = (*x)[0];
  y[1] = (*x)[1];
  c.out_shape(0, std::move(y));
}

void drop_dilations(StepContext& c) {
  if (const auto* dilations = c.node.attributes.get<std::vector<std::int64_t>>("dilations"))
    if (std::ranges::any_of(*dilations, [](std::int64_t d) { return d != 1; }))
      c.cannot("dilations other than 1 do not exist in the older version");
  c.node.attributes.erase("dilations");
}

void norm_order_to_int(StepContext& c) {
  const float* p = c.node.attributes.get<float>("p");
  if (!p) return;
  const float order = *p;
  if (!(order >= 1 && order <= 1e6f) || order != std::floor(order)) c.cannot("the norm's order must be an integer");
  c.node.attributes.set(Attribute("p", AttrValue(static_cast<std::int64_t>(order))));
}

void norm_order_to_float(StepContext& c) {
  const std::int64_t* p = c.node.attributes.get<std::int64_t>("p");
  if (p) c.node.attributes.set(Attribute("p", static_cast<double>(*p)));
}

}  // namespace ingot::ops
