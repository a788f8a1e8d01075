// Symbolic dimensions: what is certain about their order, by intervals and by bounding one atom by its arguments.
#include <algorithm>
#include <numeric>

#include "ingot/ir/dim.h"
#include "ingot/ir/dim_expr.h"

namespace ingot {
namespace {

constexpr std::int64_t kMinusInfinity = DimRange::kMinusInfinity;
constexpr std::int64_t kInfinity = DimRange::kInfinity;
constexpr std::int64_t kLargest = std::int64_t{1} << 62;  // finite bound: sums of two cannot overflow

/// Rounds outwards what is not a finite bound.
DimRange widened(std::int64_t lo, std::int64_t hi) {
  return {.lo = lo < -kLargest ? kMinusInfinity : std::min(lo, kLargest),
          .hi = hi > kLargest ? kInfinity : std::max(hi, -kLargest)};
}

bool is_infinite(std::int64_t bound) { return bound == kInfinity || bound == kMinusInfinity; }

std::int64_t times(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  std::int64_t product = 0;
  if (!is_infinite(a) && !is_infinite(b) && !__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? kInfinity : kMinusInfinity;
}

std::int64_t negated(std::int64_t bound) {
  return bound == kInfinity ? kMinusInfinity : bound == kMinusInfinity ? kInfinity : -bound;
}

DimRange operator-(DimRange r) { return {.lo = negated(r.hi), .hi = negated(r.lo)}; }

DimRange operator+(DimRange a, DimRange b) {
  const bool no_lo = a.lo == kMinusInfinity || b.lo == kMinusInfinity;
  const bool no_hi = a.hi == kInfinity || b.hi == kInfinity;
  return widened(no_lo ? kMinusInfinity : a.lo + b.lo, no_hi ? kInfinity : a.hi + b.hi);
}

DimRange operator*(DimRange a, DimRange b) {
  const auto [lo, hi] = std::minmax({times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)});
  return widened(lo, hi);
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); }

DimRange floor_div_range(DimRange a, DimRange b) {
  if (b.lo < 0) return b.hi <= 0 ? floor_div_range(-a, -b) : DimRange();
  b.lo = std::max<std::int64_t>(b.lo, 1);  // division by zero has no value
  b.hi = std::max(b.hi, b.lo);
  DimRange r;
  if (a.lo != kMinusInfinity) {
    r.lo = a.lo < 0 ? floor_quotient(a.lo, b.lo) : b.hi == kInfinity ? 0 : a.lo / b.hi;
  }
  if (a.hi != kInfinity) {
    r.hi = a.hi >= 0 ? a.hi / b.lo : b.hi == kInfinity ? -1 : floor_quotient(a.hi, b.hi);
  }
  return r;
}

DimRange mod_range(DimRange a, DimRange b) {
  if (b.lo < 0) return b.hi <= 0 ? -mod_range(-a, -b) : DimRange();
  const std::int64_t hi = b.hi == kInfinity ? kInfinity : std::max<std::int64_t>(b.hi - 1, 0);
  return {.lo = 0, .hi = a.lo >= 0 ? std::min(a.hi, hi) : hi};
}

/// Tries to show d >= n; `trials` bounds the work.
bool proves_at_least(const Dim& d, std::int64_t n, int& trials) {
  if (!d.is_symbolic()) return d.is_known() && d.value() >= n;
  if (range_of(d).lo >= n) return true;
  for (const DimTerm& term : dim_terms(d)) {
    if (term.atoms.size() != 1) continue;
    const DimAtom& atom = *term.atoms[0];
    const bool from_below = term.coefficient > 0;
    const Dim coefficient = term.coefficient;
    const Dim rest = d - coefficient * dim_from(term.atoms[0]);
    // min(x, y) <= x and max(x, y) >= x
    if (atom.op == (from_below ? DimOp::max : DimOp::min)) {
      for (const Dim& arg : atom.args) {
        if (--trials < 0) return false;
        if (proves_at_least(rest + coefficient * arg, n, trials)) return true;
      }
    }
    // a - m + 1 <= m*floor(a/m) <= a, and d >= n exactly if m*d >= m*(n - 1) + 1
    if (atom.op == DimOp::floor_div && atom.args[1].is_known()) {
      if (--trials < 0) return false;
      const Dim& m = atom.args[1];
      const Dim bound = m * rest + coefficient * (from_below ? atom.args[0] - m + 1 : atom.args[0]);
      const Dim needed = m * (Dim(n) - 1) + 1;
      if (needed.is_known() && proves_at_least(bound, needed.value(), trials)) return true;
    }
  }
  return false;
}

}  // namespace

DimRange range_of(const Dim& d) {
  if (d.is_unknown()) return {};
  if (d.is_known()) return widened(d.value(), d.value());
  DimRange sum{.lo = 0, .hi = 0};
  for (const DimTerm& term : DimParts::expr(d).terms) {
    DimRange product = widened(term.coefficient, term.coefficient);
    for (const DimAtomPtr& atom : term.atoms) product = product * atom->range;
    sum = sum + product;
  }
  return sum;
}

DimRange range_of(DimOp op, const std::vector<Dim>& args) {
  if (op == DimOp::floor_div) return floor_div_range(range_of(args[0]), range_of(args[1]));
  if (op == DimOp::mod) return mod_range(range_of(args[0]), range_of(args[1]));
  DimRange r = range_of(args[0]);
  for (const Dim& arg : args) {
    const DimRange other = range_of(arg);
    const bool is_min = op == DimOp::min;
    r.lo = is_min ? std::min(r.lo, other.lo) : std::max(r.lo, other.lo);
    r.hi = is_min ? std::min(r.hi, other.hi) : std::max(r.hi, other.hi);
  }
  return r;
}

bool Dim::is_at_least(std::int64_t n) const {
  int trials = 16;
  return proves_at_least(*this, n, trials);
}

bool may_equal(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (difference.is_unknown()) return true;
  if (difference.is_known()) return difference.value() == 0;
  if (difference.is_at_least(1) || (b - a).is_at_least(1)) return false;
  // 2*N + 1 is never 2*M: the constant must be a multiple of what divides all else.
  std::int64_t divisor = 0;
  std::int64_t constant = 0;
  for (const DimTerm& term : DimParts::expr(difference).terms) {
    if (term.coefficient == kMinusInfinity) return true;
    if (term.atoms.empty())
      constant = term.coefficient;
    else
      divisor = std::gcd(divisor, term.coefficient);
  }
  return constant % divisor == 0;
}

}  // namespace ingot
