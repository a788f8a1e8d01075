#pragma once
#include <functional>
#include <span>

#include "ingot/ops/infer.h"

namespace ingot::ops {

// Shape arithmetic: elementwise operators on tensors of rank 0 or 1 whose elements are known whole numbers, of an
// integer type or on their way through a floating one (Shape -> Cast -> Mul -> Floor -> Cast).

using Elements = std::vector<Dim>;

/// The elements of input i as far as they are known to be whole numbers.
std::optional<Elements> known_elements(const InferContext& c, std::size_t i);

/// The number as the element type holds it; unknown where the type would wrap or round it, or no sums are done in it.
Dim as_held(const Dim& number, DType elem);

using Fold = Dim(std::span<const Dim>);

/// Output 0, of this element type, element by element from all inputs, which must be `count` (0: any number).
void fold_elements(InferContext& c, DType elem, std::size_t count, const std::function<Fold>& fold);

/// Elementwise with one input; the fold says what it does with known numbers.
template <Fold fold> void infer_unary(InferContext& c) {
  infer_same_shape(c);
  fold_elements(c, c.elem(0), 1, fold);
}
/// Elementwise with two inputs, broadcast, of one type with the output.
template <Fold fold> void infer_binary(InferContext& c) {
  infer_broadcast(c);
  fold_elements(c, c.elem(0), 2, fold);
}
/// Elementwise with two inputs, broadcast, giving truth values.
template <Fold fold> void infer_predicate(InferContext& c) {
  infer_broadcast(c);
  fold_elements(c, DType::boolean, 2, fold);
}
/// Elementwise with any number of inputs, broadcast.
template <Fold fold> void infer_variadic(InferContext& c) {
  infer_broadcast(c);
  fold_elements(c, c.elem(0), 0, fold);
}

}  // namespace ingot::ops
