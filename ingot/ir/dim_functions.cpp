// Symbolic dimensions: division, remainder, minimum and maximum with their simplifications.
#include <algorithm>
#include <numeric>

#include "ingot/ir/dim.h"
#include "ingot/ir/dim_expr.h"

namespace ingot {
namespace {

constexpr std::size_t kMaxArguments = 16;  // of min and max: they are compared in pairs

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

Dim floor_quotient_checked(std::int64_t a, std::int64_t b) {
  if (b == 0) return {};
  if (b == -1) return Dim(0) - Dim(a);
  return floor_quotient(a, b);
}

Dim remainder_checked(std::int64_t a, std::int64_t b) {
  if (b == 0) return {};
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Coefficient of the first term.
std::int64_t leading(const Dim& d) { return d.is_known() ? d.value() : DimParts::expr(d).terms[0].coefficient; }

std::int64_t constant_term(const Dim& d) {
  if (d.is_known()) return d.value();
  const DimTerm& last = DimParts::expr(d).terms.back();
  return last.atoms.empty() ? last.coefficient : 0;
}

/// Greatest common divisor of `g` and the coefficients; 0 if all are 0, 1 if it does not fit.
std::int64_t common_divisor(const Dim& d, std::int64_t g, bool with_constant) {
  for (const DimTerm& term : dim_terms(d)) {
    if (term.coefficient == DimRange::kMinusInfinity) return 1;
    if (with_constant || !term.atoms.empty()) g = std::gcd(g, term.coefficient);
  }
  return g;
}

/// All coefficients divided by g, rounded down: exact where g divides them.
Dim divided(const Dim& d, std::int64_t g) {
  std::vector<DimTerm> terms = dim_terms(d);
  for (DimTerm& term : terms) term.coefficient = floor_quotient(term.coefficient, g);
  return dim_sum(std::move(terms));
}

/// The only atom of a term of degree 1.
const DimAtom* sole_atom(const DimTerm& term) { return term.atoms.size() == 1 ? term.atoms[0].get() : nullptr; }

struct Division {
  Dim quotient;
  Dim remainder;
};

/// a = quotient * b + remainder with no term of the remainder reducible by b's first term, whose coefficient is > 0.
Division divide(const Dim& a, const Dim& b) {
  constexpr int kMaxSteps = 256;
  if (b.is_known()) {
    const Dim quotient = divided(a, b.value());
    return {quotient, a - quotient * b};
  }
  const DimTerm& head = DimParts::expr(b).terms.front();
  const auto before = [](const DimAtomPtr& x, const DimAtomPtr& y) { return compare(*x, *y) < 0; };
  Dim quotient = 0;
  Dim rest = a;
  Dim remainder = 0;
  for (int step = 0; step < kMaxSteps; ++step) {
    if (rest.is_unknown() || quotient.is_unknown()) return {};
    if (rest.is_known() && rest.value() == 0) return {quotient, remainder};
    DimTerm term = rest.is_known() ? DimTerm{rest.value(), {}} : DimParts::expr(rest).terms.front();
    DimTerm factor;
    if (std::ranges::includes(term.atoms, head.atoms, before)) {
      factor.coefficient = floor_quotient(term.coefficient, head.coefficient);
      std::ranges::set_difference(term.atoms, head.atoms, std::back_inserter(factor.atoms), before);
    }
    if (factor.coefficient != 0) {
      const Dim part = dim_sum({std::move(factor)});
      quotient = quotient + part;
      rest = rest - part * b;
    } else {
      const Dim part = dim_sum({std::move(term)});
      remainder = remainder + part;
      rest = rest - part;
    }
  }
  return {};
}

// floor((floor(x/m) + r)/n) = floor((x + m*r)/(m*n))
Dim without_nested_floor(const Dim& a, std::int64_t n) {
  for (const DimTerm& term : dim_terms(a)) {
    const DimAtom* atom = sole_atom(term);
    if (term.coefficient != 1 || atom == nullptr || atom->op != DimOp::floor_div || !atom->args[1].is_known()) continue;
    const Dim& m = atom->args[1];
    const Dim rest = a - dim_from(term.atoms[0]);
    const Dim merged = floor_div(atom->args[0] + m * rest, m * Dim(n));
    if (!merged.is_unknown()) return merged;
  }
  return {};
}

/// Of a symbolic sum by a number >= 2.
Dim floor_div_by_number(const Dim& a, std::int64_t n) {
  const auto [quotient, remainder] = divide(a, n);  // coefficients of the remainder are in [0, n)
  if (remainder.is_unknown()) return {};
  if (remainder.is_known()) return quotient;
  // floor((g*x + k)/(g*m)) = floor((x + floor(k/g))/m)
  const std::int64_t g = common_divisor(remainder, n, false);
  if (g != 1) return quotient + floor_div(divided(remainder, g), n / g);
  if (remainder.is_at_least(0) && (Dim(n - 1) - remainder).is_at_least(0)) return quotient;
  if (const Dim merged = without_nested_floor(remainder, n); !merged.is_unknown()) return quotient + merged;
  return quotient + dim_atom(DimOp::floor_div, {remainder, n});
}

/// Of a symbolic sum by a number >= 2.
Dim mod_by_number(const Dim& a, std::int64_t n) {
  Dim rest = divide(a, n).remainder;
  if (!rest.is_symbolic()) return rest;
  // mod(mod(x, m*n) + r, n) = mod(x + r, n)
  for (const DimTerm& term : dim_terms(rest)) {
    const DimAtom* atom = sole_atom(term);
    if (atom == nullptr || atom->op != DimOp::mod || !atom->args[1].is_known()) continue;
    if (atom->args[1].value() % n == 0) {
      return mod(rest + Dim(term.coefficient) * (atom->args[0] - dim_from(term.atoms[0])), n);
    }
  }
  if (rest.is_at_least(0) && (Dim(n - 1) - rest).is_at_least(0)) return rest;
  // mod(g*x + k, g*m) = g*mod(x + floor(k/g), m) + mod(k, g)
  const std::int64_t g = common_divisor(rest, n, false);
  if (g != 1) return Dim(g) * mod(divided(rest, g), n / g) + mod(Dim(constant_term(rest)), g);
  return dim_atom(DimOp::mod, {rest, n});
}

bool in_order(const Dim& low, const Dim& high) { return (high - low).is_at_least(0); }

/// Extreme of the arguments: drops those that another one provably beats, shares what all have in common.
Dim extreme(DimOp op, const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return {};
  const auto beats = [op](const Dim& x, const Dim& y) { return op == DimOp::max ? in_order(y, x) : in_order(x, y); };
  std::vector<Dim> all;
  for (const Dim& side : {a, b}) {
    const std::vector<DimTerm> terms = dim_terms(side);
    // max(max(x, y) + k, z) = max(x + k, y + k, z)
    const DimAtom* atom = terms.empty() ? nullptr : sole_atom(terms[0]);
    const bool nested = atom != nullptr && atom->op == op && terms[0].coefficient > 0 &&
                        (terms.size() == 1 || (terms.size() == 2 && terms[1].atoms.empty()));
    if (!nested) {
      all.push_back(side);
      continue;
    }
    for (const Dim& arg : atom->args) all.push_back(Dim(terms[0].coefficient) * arg + constant_term(side));
  }
  if (std::ranges::any_of(all, &Dim::is_unknown)) return {};
  std::ranges::sort(all, [](const Dim& x, const Dim& y) { return compare(x, y) < 0; });
  std::vector<Dim> kept;
  for (const Dim& candidate : all) {
    if (std::ranges::any_of(kept, [&](const Dim& other) { return beats(other, candidate); })) continue;
    std::erase_if(kept, [&](const Dim& other) { return beats(candidate, other); });
    kept.push_back(candidate);
  }
  if (kept.size() == 1) return kept[0];
  if (kept.size() > kMaxArguments) return {};
  // max(g*x + k, g*y + k) = g*max(x, y) + k, with k the least constant
  std::int64_t shift = constant_term(kept[0]);
  for (const Dim& arg : kept) shift = std::min(shift, constant_term(arg));
  std::int64_t g = 0;
  for (Dim& arg : kept) {
    arg = arg - shift;
    if (arg.is_unknown()) return {};
    g = common_divisor(arg, g, true);
  }
  for (Dim& arg : kept) arg = divided(arg, g);
  std::ranges::sort(kept, [](const Dim& x, const Dim& y) { return compare(x, y) < 0; });
  return Dim(g) * dim_atom(op, std::move(kept)) + shift;
}

}  // namespace

Dim floor_div(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown() || (b.is_known() && b.value() == 0)) return {};
  if (a.is_known() && b.is_known()) return floor_quotient_checked(a.value(), b.value());
  if (leading(b) < 0) return floor_div(-a, -b);
  if (b.is_known()) return b.value() == 1 ? a : floor_div_by_number(a, b.value());
  if (const std::int64_t g = common_divisor(a, common_divisor(b, 0, true), true); g > 1) {
    return floor_div(divided(a, g), divided(b, g));
  }
  if (!b.is_at_least(1)) return dim_atom(DimOp::floor_div, {a, b});
  const auto [quotient, remainder] = divide(a, b);
  if (remainder.is_unknown()) return dim_atom(DimOp::floor_div, {a, b});
  if (remainder.is_at_least(0) && (b - remainder).is_at_least(1)) return quotient;
  if ((-remainder).is_at_least(1) && (b + remainder).is_at_least(0)) return quotient - 1;
  return quotient + dim_atom(DimOp::floor_div, {remainder, b});
}

Dim ceil_div(const Dim& a, const Dim& b) {
  if (b.is_at_least(0)) {
    const Dim rounded = floor_div(a + b - 1, b);
    if (!rounded.is_unknown()) return rounded;
  }
  return -floor_div(-a, b);
}

Dim mod(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown() || (b.is_known() && b.value() == 0)) return {};
  if (a.is_known() && b.is_known()) return remainder_checked(a.value(), b.value());
  if (leading(b) < 0) return -mod(-a, -b);
  if (b.is_known()) return b.value() == 1 ? 0 : mod_by_number(a, b.value());
  if (!b.is_at_least(1)) return dim_atom(DimOp::mod, {a, b});
  const Dim remainder = divide(a, b).remainder;
  if (remainder.is_unknown()) return dim_atom(DimOp::mod, {a, b});
  if (remainder.is_at_least(0) && (b - remainder).is_at_least(1)) return remainder;
  if ((-remainder).is_at_least(1) && (b + remainder).is_at_least(0)) return b + remainder;
  return dim_atom(DimOp::mod, {remainder, b});
}

Dim exact_div(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown() || (b.is_known() && b.value() == 0)) return {};
  if (leading(b) < 0) return exact_div(-a, -b);
  const auto [quotient, remainder] = divide(a, b);
  return remainder.is_known() && remainder.value() == 0 ? quotient : Dim();
}

Dim min(const Dim& a, const Dim& b) { return extreme(DimOp::min, a, b); }

Dim max(const Dim& a, const Dim& b) { return extreme(DimOp::max, a, b); }

}  // namespace ingot
