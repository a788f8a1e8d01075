#pragma once
#include <functional>
#include <set>

#include "ingot/lower/program.h"

// What statements are made of, for analyses.

namespace ingot::lower {

/// Calls `visit` for each expression that the statement itself holds; not for those of nested statements.
void for_each_expr(const Statement& statement, const std::function<void(const Expr&)>& visit);
/// The expression and all it is made of, shapes of loads included, each part once per place.
void for_each_part(const Expr& expr, const std::function<void(const Expr&)>& visit);
/// The bodies nested in the statement.
void for_each_body(const Statement& statement, const std::function<void(const Body&)>& visit);

/// Calls `visit` for each buffer that the statement or what is nested in it reads (`writes` is false) or writes.
void for_each_buffer(const Statement& statement, const std::function<void(int tensor, bool writes)>& visit);

/// Whether the run may end before the last statement.
bool has_requirements(const Body& body);

/// The number of an element in a dense tensor.
Expr flat_place(const Exprs& at, const Exprs& dims);

/// Whether it is certainly not negative.
bool is_natural(const Expr& index, const Program& program);

/// Whether the expression depends on where the loops stand.
bool uses_axis(const Expr& e, const Axes& axes);
/// Whether a place, in the shape in which it counts, is that of the loops themselves.
bool is_in_step(const Exprs& at, const Exprs& dims, const Axes& axes);
/// Whether all that the loops read is at their place or does not depend on it, so that they are one loop.
bool can_be_one_loop(const Expr& e, const Axes& axes);
/// The variables that a body reads, and those that it declares.
void find_variables(const Body& body, std::set<int>& used, std::set<int>& declared);

}  // namespace ingot::lower
