// Resizing: TFLite's own where it takes the same elements, else element by element.
#include <algorithm>

#include "ingot/backends/resize_flags.h"
#include "ingot/backends/tflite/rows.h"
#include "ingot/backends/tflite/spatial.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/resize_axis.h"

namespace ingot::backends::tflite {

namespace {

using Op = BuiltinOperator;

using Axis = passes::legalize::ResizeAxis;
using passes::legalize::resize_axes;

}  // namespace

Refused refuse_resize(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  const auto& y = n.output(0)->type.shape;
  if (!y || !is_fixed(*y) || !is_fixed(*n.input(0)->type.shape))
    return Refusal{Kind::unknown_size, "sizes that are not known before running"};
  if (Refused why = refuse_resize_of(n, "TFLite", false)) return why;
  if (n.attributes.string_or("mode", "nearest") == "linear") return needs_types(n, {DType::f32});
  return needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8});
}

void emit_resize(NodeOut& n) {
  const std::vector<Axis> axes = resize_axes(n.node);
  const bool is_linear = n.attr("mode", "nearest") == "linear";
  const std::size_t rank = axes.size();
  const ResizeFlags* flags =
      (rank == 3 || rank == 4) && n.elem() == DType::f32 ? resize_flags(n.node, axes, 1, is_linear, false) : nullptr;
  const ResizeFlags* flags_first = !flags && is_linear ? resize_flags(n.node, axes, 2, true, false) : nullptr;
  if (flags || flags_first) {
    const Op op = is_linear ? Op::RESIZE_BILINEAR : Op::RESIZE_NEAREST_NEIGHBOR;
    const ResizeFlags& f = flags ? *flags : *flags_first;
    Options options(op);
    options.set("align_corners", f.aligns).set("half_pixel_centers", f.half);
    const std::size_t h = flags ? 1 : 2;
    const std::int32_t size = n.e.ints(rank == 3 ? Ints{1, axes[h].out} : Ints{axes[h].out, axes[h + 1].out});
    if (flags) {
      const Image x = image_of(n, n.in(0), n.shape());
      ImageResult y(n);
      n.e.add(op, {x.tensor, size}, {y.tensor()}, options, 3);
      return y.finish();
    }
    // Channels first: there and back.
    const Ints to = rank == 3 ? Ints{0, 2, 1} : Ints{0, 2, 3, 1}, back = rank == 3 ? Ints{0, 2, 1} : Ints{0, 3, 1, 2};
    std::int32_t x = transposed(n.e, n.in(0), n.elem(), n.shape(), to);
    Shape shape, made;
    for (const std::int64_t i : to) {
      shape.push_back(n.shape()[static_cast<std::size_t>(i)]);
      made.push_back(n.out_shape()[static_cast<std::size_t>(i)]);
    }
    const Image image = image_of(n, x, shape);
    Shape full = made;
    if (rank == 3) full.insert(full.begin() + 1, Dim(1));
    std::int32_t y = n.e.temporary(n.elem(), full);
    n.e.add(op, {image.tensor, size}, {y}, options, 3);
    if (rank == 3) y = reshaped(n.e, y, n.elem(), made);
    const std::int32_t order = n.e.ints(back);
    return n.e.add(Op::TRANSPOSE, {y, order}, {n.out()});
  }
  std::vector<std::size_t> changed;
  for (std::size_t i = 0; i < rank; ++i) {
    bool is_same = axes[i].in == axes[i].out;
    for (std::int64_t o = 0; o < axes[i].out && is_same; ++o) is_same = nearest_element(n.node, axes[i], o) == o;
    if (!is_same) changed.push_back(i);
  }
  if (changed.empty()) changed.push_back(0);
  std::int32_t x = n.in(0);
  Shape shape = n.shape();
  for (const std::size_t i : changed) {
    Ints picked;
    for (std::int64_t o = 0; o < axes[i].out; ++o) picked.push_back(nearest_element(n.node, axes[i], o));
    shape[i] = Dim(axes[i].out);
    const std::int32_t indices = n.e.ints(picked);
    const std::int32_t y = i == changed.back() ? n.out() : n.e.temporary(n.elem(), shape);
    Options options(Op::GATHER);
    options.set("axis", static_cast<std::int64_t>(i));
    n.e.add(Op::GATHER, {x, indices}, {y}, options);
    x = y;
  }
}

}  // namespace ingot::backends::tflite
