// Resizing: TensorFlow's own where it takes the same elements, else element by element.
#include <algorithm>

#include "ingot/backends/resize_flags.h"
#include "ingot/backends/tensorflow/rows.h"
#include "ingot/backends/tensorflow/spatial.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/resize_axis.h"

namespace ingot::backends::tensorflow {
namespace {

using Axis = passes::legalize::ResizeAxis;
using passes::legalize::resize_axes;

/// Whether the elements can be given to the operator as they are; TF.js resizes floats.
bool takes_directly(const NodeOut& n, bool is_linear) {
  if (is_linear) return n.elem() == DType::f32;
  return n.e.is_tfjs() ? n.elem() == DType::f32 : takes("ResizeNearestNeighbor", n.elem());
}

bool are_known_or_stay(const Shape& x, const Shape& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if ((!x[i].is_known() || !y[i].is_known()) && !same(x[i], y[i])) return false;
  return x.size() == y.size();
}

}  // namespace

Refused refuse_resize(const Node& n, Dialect) {
  if (Refused why = needs_rank(n)) return why;
  const auto& y = n.output(0)->type.shape;
  if (!y || y->size() < 3) return Refusal{Kind::dimensions, "no spatial dimensions"};
  if (!are_known_or_stay(*n.input(0)->type.shape, *y))
    return Refusal{Kind::unknown_size, "sizes that are not known before running"};
  if (Refused why = refuse_resize_of(n, "TensorFlow", true)) return why;
  if (n.attributes.string_or("mode", "nearest") == "linear" && n.input(0)->type.elem != DType::f32)
    return Refusal{Kind::element_type, "TensorFlow resizes between elements in float"};
  return {};
}

void emit_resize(NodeOut& n) {
  Emitter& e = n.e;
  const std::vector<Axis> axes = resize_axes(n.node);
  const bool is_linear = n.attr("mode", "nearest") == "linear";
  const std::size_t rank = axes.size();
  const bool is_direct = (rank == 3 || rank == 4) && takes_directly(n, is_linear);
  const ResizeFlags* flags = is_direct ? resize_flags(n.node, axes, 1, is_linear, true) : nullptr;
  const ResizeFlags* flags_first = !flags && is_linear ? resize_flags(n.node, axes, 2, true, true) : nullptr;
  if (flags || flags_first) {
    const ResizeFlags& f = flags ? *flags : *flags_first;
    const std::size_t h = flags ? 1 : 2;
    const Ref size = e.ints(rank == 3 ? Ints{1, axes[h].out} : Ints{axes[h].out, axes[h + 1].out});
    // Channels first: there and back.
    const Ints to = rank == 3 ? Ints{0, 2, 1} : Ints{0, 2, 3, 1}, back = rank == 3 ? Ints{0, 2, 1} : Ints{0, 3, 1, 2};
    const Ref x = flags ? n.in(0) : transposed(e, n.in(0), to);
    const Ref y = from_image(n,
                             e.add(is_linear ? "ResizeBilinear" : "ResizeNearestNeighbor", {image_of(n, x, rank), size},
                                   {{"align_corners", f.aligns}, {"half_pixel_centers", f.half}}),
                             rank);
    return n.set(flags ? y : transposed(e, y, back));
  }
  Ref x = n.in(0);
  for (std::size_t i = 0; i < rank; ++i) {
    Ints picked;
    bool is_same = axes[i].in == axes[i].out;
    for (std::int64_t o = 0; o < axes[i].out; ++o) {
      picked.push_back(nearest_element(n.node, axes[i], o));
      is_same &= picked.back() == o;
    }
    if (!is_same) x = e.add("GatherV2", {x, e.ints(picked), e.index(static_cast<std::int64_t>(i))});
  }
  x == n.in(0) ? emit_identity(n) : n.set(x);
}

}  // namespace ingot::backends::tensorflow
