#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ingot/ir/dim.h"

// What symbolic dimensions are made of; for dim*.cpp only.
namespace ingot {

/// All values between lo and hi, both included. Bounds beyond 2^62 are widened to infinity.
struct DimRange {
  static constexpr std::int64_t kMinusInfinity = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kInfinity = std::numeric_limits<std::int64_t>::max();
  std::int64_t lo = kMinusInfinity;
  std::int64_t hi = kInfinity;
};

enum class DimOp : std::uint8_t { symbol, floor_div, mod, min, max };

/// A factor that is not taken apart further.
struct DimAtom {
  DimOp op;
  std::string name;       // of a symbol
  std::vector<Dim> args;  // two of floor_div and mod; two or more of min and max, sorted
  DimRange range;
  int size = 1;   // atoms in it, itself included
  int depth = 1;  // of nesting
};
using DimAtomPtr = std::shared_ptr<const DimAtom>;

struct DimTerm {
  std::int64_t coefficient = 0;
  std::vector<DimAtomPtr> atoms;  // sorted; a power is a repetition; none: the constant
};

/// A sum that is not a constant. Terms are sorted, highest degree first, and differ in their atoms.
struct DimExpr {
  std::vector<DimTerm> terms;
  int size = 0;
  int depth = 0;
};

/// Limits beyond which an expression is given up.
inline constexpr std::size_t kMaxDimTerms = 64;
inline constexpr int kMaxDimSize = 256;
inline constexpr int kMaxDimDepth = 16;

struct DimParts {
  /// Of an expression.
  static const DimExpr& expr(const Dim& d) { return *static_cast<const DimExpr*>(d.expr_.get()); }
  static Dim make(std::shared_ptr<const DimExpr> expr);
};

/// The terms of what is not unknown: none for 0.
std::vector<DimTerm> dim_terms(const Dim& d);
/// The sum of the terms, in any order and with repetitions.
Dim dim_sum(std::vector<DimTerm> terms);
/// The atom as a dimension; unknown if it is too large.
Dim dim_atom(DimOp op, std::vector<Dim> args);
/// The atom as a dimension.
Dim dim_from(const DimAtomPtr& atom);

/// A total order of what is not unknown.
std::strong_ordering compare(const Dim& a, const Dim& b);
std::strong_ordering compare(const DimAtom& a, const DimAtom& b);
/// Order of the products of atoms: higher degree first.
std::strong_ordering compare_products(const std::vector<DimAtomPtr>& a, const std::vector<DimAtomPtr>& b);

DimRange range_of(const Dim& d);
/// Of floor_div, mod, min, max of arguments.
DimRange range_of(DimOp op, const std::vector<Dim>& args);

}  // namespace ingot
