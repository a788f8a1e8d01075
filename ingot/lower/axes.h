#pragma once
#include "ingot/lower/lowering.h"

// Axes that an input names, and what other inputs say of them: known, or only at run time, even how many there are.

namespace ingot::lower {

/// Which of `rank` axes an input names: truth values, one per axis.
struct NamedAxes {
  Exprs is_named;
  bool is_known = true;
};

/// Where the input names none, `all` says what that means.
NamedAxes named_axes(Lowering& l, std::size_t input, std::size_t rank, bool all);

/// How many of `rank` axes the input leaves unnamed.
std::size_t left_rank(Lowering& l, std::size_t input, std::size_t rank);
/// The sizes of the axes that are not named, in order: `count` of them.
Exprs left_dims(Lowering& l, const Exprs& dims, const NamedAxes& axes, std::size_t count);
/// The sizes with 1 put in at the axes that are named.
Exprs wider_dims(Lowering& l, const Exprs& dims, const NamedAxes& axes);

/// Numbers that an input gives for some axes: one for each axis, `fallback` for the others. The input at `axes_input`
/// names them; all in order where it is absent. Of the `parts` that the numbers are cut into, `part` is taken.
struct ByAxis {
  std::size_t input, axes_input, part = 0, parts = 1;

  Exprs of(Lowering& l, const Exprs& fallback) const;

 private:
  Exprs of_unknown_count(Lowering& l, const Exprs& fallback) const;
};

}  // namespace ingot::lower
