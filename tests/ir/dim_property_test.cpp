// Symbolic dimensions against plain arithmetic: random expressions evaluated at random values of their names.
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>

#include "ingot/ir/dim.h"
#include "tests/ir/dim_print.h"

namespace ingot {
namespace {

constexpr std::array kNames = {"A", "B", "C"};
using Point = std::array<std::int64_t, kNames.size()>;
using Value = std::optional<std::int64_t>;  // none: division by zero

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

/// A tree of operations, evaluated both as a Dim and directly.
struct Tree {
  char op = 'n';  // n number, s symbol, + - * and f floor, c ceil, m mod, < min, > max
  std::int64_t number = 0;
  std::vector<Tree> args;

  Dim dim() const {
    if (op == 'n') return number;
    if (op == 's') return Dim::symbol(kNames[static_cast<std::size_t>(number)]);
    return apply(op, args[0].dim(), args[1].dim());
  }

  static Dim apply(char op, const Dim& a, const Dim& b) {
    switch (op) {
      case '+':
        return a + b;
      case '-':
        return a - b;
      case '*':
        return a * b;
      case 'f':
        return floor_div(a, b);
      case 'c':
        return ceil_div(a, b);
      case 'm':
        return mod(a, b);
      case '<':
        return min(a, b);
      default:
        return max(a, b);
    }
  }

  Value at(const Point& point) const {
    if (op == 'n') return number;
    if (op == 's') return point[static_cast<std::size_t>(number)];
    const Value x = args[0].at(point);
    const Value y = args[1].at(point);
    if (!x || !y) return std::nullopt;
    const std::int64_t a = *x;
    const std::int64_t b = *y;
    if ((op == 'f' || op == 'c' || op == 'm') && b == 0) return std::nullopt;
    switch (op) {
      case '+':
        return a + b;
      case '-':
        return a - b;
      case '*':
        return a * b;
      case 'f':
        return floor_quotient(a, b);
      case 'c':
        return -floor_quotient(-a, b);
      case 'm':
        return a - b * floor_quotient(a, b);
      case '<':
        return std::min(a, b);
      default:
        return std::max(a, b);
    }
  }
};

class DimProperty : public testing::Test {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  Tree tree(int depth, std::string_view ops = "+-*fcm<>") {
    if (depth == 0 || pick(0, 5) == 0) {
      if (pick(0, 2) == 0) return {'n', pick(-4, 6), {}};
      return {'s', pick(0, kNames.size() - 1), {}};
    }
    const char op = ops[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(ops.size()) - 1))];
    Tree right = tree(depth - 1, ops);
    // Division by numbers is what occurs most in models: half of the divisions.
    if ((op == 'f' || op == 'c' || op == 'm') && pick(0, 1) == 0) right = {'n', pick(1, 6), {}};
    return {op, 0, {tree(depth - 1, ops), right}};
  }

  Point point() { return {pick(0, 9), pick(0, 9), pick(0, 9)}; }

  static Dim at(const Dim& d, const Point& p) {
    return d.substitute([&](std::string_view name) -> std::optional<Dim> {
      for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (name == kNames[i]) return Dim(p[i]);
      }
      return std::nullopt;
    });
  }

  std::mt19937_64 random_{20240607};
};

TEST_F(DimProperty, ExpressionsEvaluateLikePlainArithmetic) {
  int symbolic = 0;
  int compared = 0;
  for (int round = 0; round < 6000; ++round) {
    const Tree t = tree(4);
    const Dim d = t.dim();
    if (d.is_unknown()) continue;
    symbolic += d.is_symbolic();
    for (int i = 0; i < 6; ++i) {
      const Point p = point();
      const Value expected = t.at(p);
      if (!expected) continue;
      const Dim got = at(d, p);
      ++compared;
      ASSERT_TRUE(same(got, *expected)) << d.str() << " at " << p[0] << ' ' << p[1] << ' ' << p[2] << " gives "
                                        << got.str() << ", not " << *expected;
    }
  }
  EXPECT_GT(symbolic, 2000);
  EXPECT_GT(compared, 20000);
}

TEST_F(DimProperty, ProofsHoldEverywhere) {
  int proved = 0;
  int contradictions = 0;
  for (int round = 0; round < 6000; ++round) {
    const Tree s = tree(3);
    const Tree t = tree(3);
    const Dim a = s.dim();
    const Dim b = t.dim();
    const std::int64_t bound = pick(-3, 3);
    const bool at_least = a.is_at_least(bound);
    const bool equal = same(a, b);
    const bool different = !may_equal(a, b);
    proved += at_least && a.is_symbolic();
    contradictions += different && a.is_symbolic();
    ASSERT_FALSE(equal && different);
    for (int i = 0; i < 12; ++i) {
      const Point p = point();
      const Value x = s.at(p);
      const Value y = t.at(p);
      if (at_least && x) {
        ASSERT_GE(*x, bound) << a.str();
      }
      if (equal && x && y) {
        ASSERT_EQ(*x, *y) << a.str();
      }
      if (different && x && y) {
        ASSERT_NE(*x, *y) << a.str() << " and " << b.str();
      }
    }
  }
  EXPECT_GT(proved, 300);
  EXPECT_GT(contradictions, 100);
}

TEST_F(DimProperty, PolynomialsHaveOneForm) {
  for (int round = 0; round < 3000; ++round) {
    const Dim a = tree(3).dim();
    const Dim b = tree(3).dim();
    const Dim c = tree(2).dim();
    // Unknown (too large, or a division by zero) may come up on one side only.
    const auto expect_equal = [](const Dim& x, const Dim& y) {
      if (x.is_unknown() || y.is_unknown()) return;
      EXPECT_TRUE(x == y) << x.str() << " | " << y.str();
      EXPECT_EQ(x.str(), y.str());
    };
    expect_equal(a + b, b + a);
    expect_equal(a * b, b * a);
    expect_equal((a + b) + c, a + (b + c));
    expect_equal((a * b) * c, a * (b * c));
    expect_equal((a + b) * c, a * c + b * c);
    expect_equal(a - b, -(b - a));
    expect_equal((a + b) - b, a);
    expect_equal(min(a, b), min(b, a));
    expect_equal(max(a, b), max(b, a));
    expect_equal(max(a, a), a);
    if (!a.is_unknown()) expect_equal(a - a, 0);
  }
}

TEST_F(DimProperty, ExactDivisionUndoesMultiplication) {
  int divided = 0;
  for (int round = 0; round < 3000; ++round) {
    const Dim a = tree(2).dim();
    const Dim b = tree(2).dim();
    const Dim product = a * b;
    if (a.is_unknown() || b.is_unknown() || product.is_unknown() || same(b, 0)) continue;
    EXPECT_EQ(exact_div(product, b), a) << product.str() << " / " << b.str();
    ++divided;
  }
  EXPECT_GT(divided, 2000);
}

TEST_F(DimProperty, SpellingsOfDifferentFormsDiffer) {
  std::map<std::string, Dim> seen;
  for (int round = 0; round < 6000; ++round) {
    const Dim d = tree(3).dim();
    const auto [it, fresh] = seen.emplace(d.str(), d);
    ASSERT_TRUE(it->second == d) << d.str();
  }
  EXPECT_GT(seen.size(), 1000U);
}

TEST_F(DimProperty, FloorOfNestedSumsHasOneForm) {
  for (int round = 0; round < 3000; ++round) {
    const Dim a = tree(2, "+-*").dim();
    const std::int64_t n = pick(1, 6);
    const std::int64_t k = pick(-5, 5);
    EXPECT_EQ(floor_div(a + n * k, n), floor_div(a, n) + k);
    EXPECT_EQ(mod(a + n * k, n), mod(a, n));
    EXPECT_EQ(ceil_div(a, n), floor_div(a + n - 1, n));
    EXPECT_EQ(floor_div(floor_div(a, n), 3), floor_div(a, 3 * n));
    EXPECT_EQ(floor_div(a * 4, n * 4), floor_div(a, n));
  }
}

}  // namespace
}  // namespace ingot
