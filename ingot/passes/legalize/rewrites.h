#pragma once
#include <span>

#include "ingot/passes/legalize/rewrite.h"

namespace ingot::passes::legalize {

/// The rewrites that any target may pick by name.
std::span<const Rewrite> shared_rewrites();

// What the rows are made of, by file; {}: not for this node.
#define INGOT_REWRITE(name) Values rewrite_##name(Rewriting&);
// rewrites/bits.cpp
INGOT_REWRITE(bit_shift)
INGOT_REWRITE(bitwise_and)
INGOT_REWRITE(bitwise_or)
INGOT_REWRITE(bitwise_xor)
// rewrites/control.cpp
INGOT_REWRITE(gathering_loop)
INGOT_REWRITE(known_if)
INGOT_REWRITE(short_loop)
// rewrites/gather.cpp
INGOT_REWRITE(gather)
INGOT_REWRITE(gather_elements)
INGOT_REWRITE(gather_nd)
INGOT_REWRITE(slice)
INGOT_REWRITE(transpose)
/// A slice of at most this many axes: those that stay whole are joined with their neighbours.
Values slice_within(Rewriting& r, std::size_t most_axes);
// rewrites/math.cpp
INGOT_REWRITE(acos)
INGOT_REWRITE(acosh)
INGOT_REWRITE(arg_extremum)
INGOT_REWRITE(asin)
INGOT_REWRITE(asinh)
INGOT_REWRITE(atan)
INGOT_REWRITE(atanh)
INGOT_REWRITE(batch_normalization)
INGOT_REWRITE(cosh)
INGOT_REWRITE(erf)
INGOT_REWRITE(eye_like)
INGOT_REWRITE(mod)
INGOT_REWRITE(sinh)
INGOT_REWRITE(tan)
// rewrites/matrix.cpp
INGOT_REWRITE(det)
INGOT_REWRITE(empty_matmul)
// rewrites/pad.cpp
INGOT_REWRITE(pad)
/// The same of padding: axis by axis.
Values pad_within(Rewriting& r, std::size_t most_axes);
// rewrites/products.cpp
INGOT_REWRITE(conv_integer)
INGOT_REWRITE(matmul_integer)
// rewrites/reduce.cpp
INGOT_REWRITE(float_reduction)
INGOT_REWRITE(range)
// rewrites/resize.cpp
INGOT_REWRITE(known_resize)
// rewrites/resize_computed.cpp
INGOT_REWRITE(computed_resize)
// rewrites/small_floats.cpp
INGOT_REWRITE(dequantize_from_float)
INGOT_REWRITE(quantize_to_float)
// rewrites/trees.cpp
INGOT_REWRITE(tree_ensemble)
// rewrites/unique.cpp
INGOT_REWRITE(unique)
// rewrites/window.cpp
INGOT_REWRITE(conv_in_groups)
INGOT_REWRITE(global_average_pool)
INGOT_REWRITE(global_max_pool)
INGOT_REWRITE(max_pool_with_places)
INGOT_REWRITE(pool_in_two)
#undef INGOT_REWRITE

}  // namespace ingot::passes::legalize
