// MaxUnpool: puts elements back where MaxPool found them.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/conv.h"
#include "ingot/ops/nn/pool.h"
#include "ingot/ops/nn/sliding.h"
#include "ingot/ops/nn/window.h"
#include "ingot/ops/short_list.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  require_short_list(c, 2);
  const Shape* x = c.shape(0);
  if (!x) return rank_by_kernel(c);
  const Shape sizes = spatial(c, *x, "the input");
  if (Window::is_open(c.node().attributes)) return c.out_rank(0, static_cast<std::int64_t>(x->size()));
  const Window window = Window::read(c.node().attributes, sizes.size());
  if (c.shape(1)) {
    require_rank(c, 1, static_cast<std::int64_t>(x->size()), "the indices");
    for (std::size_t i = 0; i < x->size(); ++i)
      agree(c, (*x)[i], c.dim(1, static_cast<std::int64_t>(i)), "a size of the input and the indices");
  }
  Shape y = {(*x)[0], (*x)[1]};
  if (c.has(2)) {
    const auto stated = c.ints(2);
    if (stated && stated->size() != x->size()) c.fail("output_shape does not have the input's rank");
    for (const Dim& size : stated.value_or(std::vector<Dim>{}))
      if (size.is_known() && size.value() < 0) c.fail("output_shape is negative");
    y = stated ? *stated : Shape(x->size());
  } else {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      y.push_back(window.transposed_size(i, sizes[i]));
      if (y.back().is_known() && y.back().value() < 0) c.fail("the padding is larger than the output");
    }
  }
  c.out_shape(0, std::move(y));
}

/// Where element `index` of an array of one shape stands in an array of another.
std::int64_t relocate(std::int64_t index, const Dims& from, const Dims& to) {
  std::int64_t place = 0, stride = 1;
  for (std::size_t i = from.size(); i-- > 0;) {
    place += index % from[i] * stride;
    index /= from[i];
    stride *= to[i];
  }
  return place;
}

void run(KernelContext& c) {
  const Array &x = c.in(0), &indices = c.in(1);
  const Dims sizes = spatial_dims(c, x.dims());
  const Window window = Window::read(c.node.attributes, sizes.size());
  if (indices.dims() != x.dims()) c.fail("the indices do not have the shape of the input");
  Dims pooled = {x.dims()[0], x.dims()[1]};  // what the indices count in
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Dim size = window.transposed_size(i, sizes[i]);
    if (!size.is_known() || size.value() < 0) c.fail("the size of the output is negative or overflows");
    pooled.push_back(size.value());
  }
  Dims dims = c.has(2) ? c.in(2).to_ints() : pooled;
  if (dims.size() != pooled.size()) c.fail("output_shape does not have the rank of the input");
  // A smaller output can only be what was pooled itself.
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < pooled[i]) pooled = dims;
  const std::int64_t count = tensor_size(pooled);
  Array& y = c.make(0, x.dtype(), dims);
  const auto where = indices.data<std::int64_t>();
  dispatch_cell(x.dtype(), [&]<class T>() {
    const T* in = cells<T>(x);
    T* out = cells<T>(y);
    for (std::size_t i = 0; i < where.size(); ++i) {
      if (where[i] < 0 || where[i] >= count)
        c.fail("index " + std::to_string(where[i]) + " is out of range for " + std::to_string(count) + " elements");
      out[relocate(where[i], pooled, dims)] = in[i];
    }
  });
}

// Each element carries its own number to where it is put; where nothing is put, the number is 0.
Values gradient_max_unpool(GradContext& c) {
  GraphBuilder& g = c.g;
  const Attrs attrs = c.same_attrs({"kernel_shape", "pads", "strides"});
  Value* numbers = g.cast(g.add(c.positions(c.x()), g.index(1)), DType::f64);
  Value* carried = g.op("MaxUnpool", {numbers, c.x(1), c.x(2)}, attrs);
  Value* owner = g.reshape(g.cast(carried, DType::i64), {-1});
  Value* count = g.add(g.unsqueeze(g.op("Size", {c.x()}), {0}), g.ints({1}));
  Value* zeros = g.op("ConstantOfShape", {count}, {{"value", Tensor::scalar(0, c.elem()).reshaped({1})}});
  Value* arriving = g.reshape(c.dy(), {-1});
  Value* sums = g.op("ScatterElements", {zeros, owner, arriving}, {{"axis", 0}, {"reduction", "add"}});
  return {c.shaped(g.op("Slice", {sums, g.ints({1}), count}), c.x())};
}

/// Zeros with the elements scattered over them, where the indices count in the output itself.
Values decompose(DecomposeContext& c) {
  if (Values wider = bfloat16_in_float(c); !wider.empty()) return wider;
  GraphBuilder& g = c.g;
  const auto& shape = c.node.output(0) ? c.node.output(0)->type.shape : std::nullopt;
  if (c.has(2) || !c.has(1) || !shape || c.elem(0) == DType::undefined) return {};
  std::vector<std::int64_t> dims;
  for (const Dim& d : *shape) {
    if (!d.is_known()) return {};
    dims.push_back(d.value());
  }
  Value* count = g.ints({tensor_size(dims)});
  Value* zeros = g.op("Expand", {g.scalar(0, c.elem(0)), count});
  Value* places = g.reshape(c.in(1), {-1});
  Value* elements = g.reshape(c.in(0), {-1});
  return {g.reshape(g.op("ScatterElements", {zeros, places, elements}, {{"axis", 0}}), dims)};
}

}  // namespace

constinit const OpDef defs::MaxUnpool = {
    .name = "MaxUnpool",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_max_unpool,
};

}  // namespace ingot::ops
