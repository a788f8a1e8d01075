#pragma once
#include "ingot/lower/lowering.h"

// How each operator is lowered; rows.cpp has the table.

namespace ingot::lower {

template <Op op> void lower_unary(Lowering& l);
template <Op op> void lower_test(Lowering& l);
template <Op op> void lower_binary(Lowering& l);
template <Op op> void lower_comparison(Lowering& l);
template <Op op> void lower_opposite(Lowering& l);  // of the operands the other way round
template <Op op> void lower_variadic(Lowering& l);
template <Combine combine> void lower_reduction(Lowering& l);
template <bool is_max> void lower_arg_extremum(Lowering& l);
template <bool is_product> void lower_cumulative(Lowering& l);
template <bool is_max> void lower_global_pool(Lowering& l);

#define INGOT_LOWER(name) void lower_##name(Lowering& l);
#include "ingot/lower/rows.def"
#undef INGOT_LOWER

}  // namespace ingot::lower
