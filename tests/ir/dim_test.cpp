// Symbolic dimensions: spelling, simplification, proofs and limits, by example.
#include "ingot/ir/dim.h"

#include <cstdint>
#include <limits>
#include <map>

#include "tests/ir/dim_print.h"

namespace ingot {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

const Dim N = Dim::symbol("N");
const Dim M = Dim::symbol("M");
const Dim K = Dim::symbol("K");

TEST(Dim, HasThreeKinds) {
  EXPECT_TRUE(Dim().is_unknown());
  EXPECT_FALSE(Dim().is_known());
  EXPECT_FALSE(Dim().is_symbolic());
  EXPECT_TRUE(Dim(0).is_known());
  EXPECT_EQ(Dim(-3).value(), -3);
  EXPECT_EQ(Dim(kMin).as_int(), kMin);
  EXPECT_TRUE(N.is_symbolic());
  EXPECT_EQ(N.as_int(), std::nullopt);
  EXPECT_TRUE(Dim::symbol("").is_unknown());
  EXPECT_LE(sizeof(Dim), 24U);
}

TEST(Dim, IsSpeltInOneWay) {
  EXPECT_EQ(Dim().str(), "");
  EXPECT_EQ(Dim(7).str(), "7");
  EXPECT_EQ(Dim(-7).str(), "-7");
  EXPECT_EQ(N.str(), "N");
  EXPECT_EQ((1 + 2 * N).str(), "2*N + 1");
  EXPECT_EQ((1 - N).str(), "-N + 1");
  EXPECT_EQ((N * M * 3 - K + N * N).str(), "3*M*N + N*N - K");
  EXPECT_EQ(floor_div(N, 2).str(), "floor(N/2)");
  EXPECT_EQ(floor_div(N + 1, 2).str(), "floor((N + 1)/2)");
  EXPECT_EQ(floor_div(N, 2 * M).str(), "floor(N/(2*M))");
  EXPECT_EQ(mod(N, 2).str(), "mod(N, 2)");
  EXPECT_EQ(max(N, M).str(), "max(M, N)");
  EXPECT_EQ(min(N, 4).str(), "min(4, N)");
  EXPECT_EQ((Dim(kMin) * N).str(), "-9223372036854775808*N");
}

TEST(Dim, QuotesOddNamesInsideExpressionsOnly) {
  const Dim odd = Dim::symbol("N + 1");
  EXPECT_EQ(odd.str(), "N + 1");
  EXPECT_EQ((2 * odd).str(), "2*\"N + 1\"");
  EXPECT_NE((2 * odd).str(), (2 * N + 1).str());
  EXPECT_EQ((Dim::symbol("a\"b") + 1).str(), "\"a\\\"b\" + 1");
  EXPECT_EQ((Dim::symbol("7") + 1).str(), "\"7\" + 1");
}

TEST(Dim, UnknownIsEqualOnlyInStructure) {
  EXPECT_TRUE(Dim() == Dim());
  EXPECT_FALSE(same(Dim(), Dim()));
  EXPECT_TRUE(may_equal(Dim(), Dim(3)));
  EXPECT_TRUE((Dim() + 1).is_unknown());
  EXPECT_TRUE((N * Dim()).is_unknown());
  EXPECT_EQ(Dim() * 0, Dim(0));
  EXPECT_FALSE(Dim() == Dim(0));
}

TEST(Dim, SymbolsAreEqualByName) {
  EXPECT_TRUE(same(N, Dim::symbol("N")));
  EXPECT_FALSE(same(N, M));
  EXPECT_TRUE(may_equal(N, M));
  EXPECT_FALSE(N == M);
}

TEST(Dim, DividesExactlyWhereItCan) {
  EXPECT_EQ(floor_div(2 * N, 2), N);
  EXPECT_EQ(floor_div(4 * N + 6, 2), 2 * N + 3);
  EXPECT_EQ(floor_div(4 * N + 7, 2), 2 * N + 3);
  EXPECT_EQ(mod(4 * N, 2), Dim(0));
  EXPECT_EQ(mod(4 * N + 7, 2), Dim(1));
  EXPECT_EQ(floor_div(2 * N + 3, 4), floor_div(N + 1, 2));
  EXPECT_EQ(floor_div(3 * N + 1, 2), N + floor_div(N + 1, 2));
  EXPECT_EQ(mod(6 * N + 3, 4), 2 * mod(N + 1, 2) + 1);
  EXPECT_EQ(mod(mod(N, 8), 4), mod(N, 4));
  EXPECT_EQ(floor_div(mod(N, 4), 4), Dim(0));
}

TEST(Dim, CeilingIsAFloorOfTheShiftedSum) {
  EXPECT_EQ(ceil_div(N, 2), floor_div(N + 1, 2));
  EXPECT_EQ(ceil_div(N, 2), floor_div(N - 1, 2) + 1);
  EXPECT_EQ(ceil_div(7, 2), Dim(4));
  EXPECT_EQ(ceil_div(-7, 2), Dim(-3));
  EXPECT_EQ(ceil_div(7, -2), Dim(-3));
}

TEST(Dim, ChainOfHalvingsIsOneDivision) {
  Dim d = N;
  for (int i = 0; i < 5; ++i) d = floor_div(d + 2 - 3, 2) + 1;
  EXPECT_EQ(d, floor_div(N + 31, 32));
}

TEST(Dim, RoundsTowardsMinusInfinity) {
  EXPECT_EQ(floor_div(-7, 2), Dim(-4));
  EXPECT_EQ(floor_div(7, -2), Dim(-4));
  EXPECT_EQ(mod(-7, 2), Dim(1));
  EXPECT_EQ(mod(7, -2), Dim(-1));
  EXPECT_EQ(mod(kMin, -1), Dim(0));
  EXPECT_TRUE(floor_div(kMin, -1).is_unknown());
}

TEST(Dim, DivisionByZeroIsUnknown) {
  EXPECT_TRUE(floor_div(N, 0).is_unknown());
  EXPECT_TRUE(ceil_div(4, Dim(0)).is_unknown());
  EXPECT_TRUE(mod(N, 0).is_unknown());
  EXPECT_TRUE(exact_div(N, 0).is_unknown());
  EXPECT_TRUE(exact_div(0, N - N).is_unknown());
}

TEST(Dim, CancelsADivisorOnlyIfItCannotBeZero) {
  EXPECT_NE(floor_div(N * M, N), M);
  EXPECT_EQ(floor_div((N + 1) * M, N + 1), M);
  EXPECT_EQ(floor_div(N, N + 1), Dim(0));
  EXPECT_EQ(floor_div(2 * N * M + 2 * M, 2 * N + 2), M);
  EXPECT_EQ(mod((N + 1) * M + N, N + 1), N);
  EXPECT_EQ(exact_div(N * M * 4, N * 4), M);
  EXPECT_EQ(exact_div(N * N - 1, N - 1), N + 1);
  EXPECT_EQ(exact_div(12, 4), Dim(3));
  EXPECT_EQ(exact_div(-6 * N, Dim(-2) * N), Dim(3));
  EXPECT_EQ(exact_div(0, N), Dim(0));
  EXPECT_TRUE(exact_div(7, 2).is_unknown());
  EXPECT_TRUE(exact_div(N, M).is_unknown());
  EXPECT_TRUE(exact_div(3 * N, 2).is_unknown());
}

TEST(Dim, ExtremesDropWhatIsBeaten) {
  EXPECT_EQ(max(N, 0), N);
  EXPECT_EQ(min(N, 0), Dim(0));
  EXPECT_EQ(max(N, N + 1), N + 1);
  EXPECT_EQ(min(N + M, N), N);
  EXPECT_EQ(max(N, min(N, M)), N);
  EXPECT_EQ(min(N, max(N, M)), N);
  EXPECT_EQ(max(N + 1, 3), max(N, 2) + 1);
  EXPECT_EQ(max(2 * N, 2 * M), 2 * max(N, M));
  EXPECT_EQ(max(max(N, M), K), max(K, max(M, N)));
  EXPECT_EQ(min(floor_div(N, 2), N), floor_div(N, 2));
  EXPECT_EQ(max(3, Dim(5)), Dim(5));
}

TEST(Dim, ProvesLowerBounds) {
  EXPECT_TRUE(N.is_at_least(0));
  EXPECT_FALSE(N.is_at_least(1));
  EXPECT_TRUE((N * M + 2).is_at_least(2));
  EXPECT_FALSE((N - M).is_at_least(0));
  EXPECT_TRUE(max(N, 1).is_at_least(1));
  EXPECT_TRUE((N - floor_div(N, 2)).is_at_least(0));
  EXPECT_TRUE((N - min(N, M)).is_at_least(0));
  EXPECT_TRUE((max(N, M) - N).is_at_least(0));
  EXPECT_TRUE((max(N - 1, 0)).is_at_least(0));
  EXPECT_TRUE((3 - mod(N, 4)).is_at_least(0));
  EXPECT_FALSE(Dim().is_at_least(0));
  EXPECT_TRUE(Dim(kMax).is_at_least(kMax));
}

TEST(Dim, FindsContradictions) {
  EXPECT_FALSE(may_equal(N, -1));
  EXPECT_TRUE(may_equal(N, 0));
  EXPECT_FALSE(may_equal(N, N + 1));
  EXPECT_FALSE(may_equal(2 * N + 1, 2 * M));
  EXPECT_FALSE(may_equal(mod(N, 4), 4));
  EXPECT_TRUE(may_equal(mod(N, 4), 3));
  EXPECT_FALSE(may_equal(3, Dim(4)));
  EXPECT_FALSE(may_equal(floor_div(N, 2), N + 1));
}

TEST(Dim, OverflowIsUnknown) {
  EXPECT_TRUE((Dim(kMax) + 1).is_unknown());
  EXPECT_TRUE((Dim(kMin) - 1).is_unknown());
  EXPECT_TRUE((-Dim(kMin)).is_unknown());
  EXPECT_TRUE((Dim(kMax) * N * 2).is_unknown());
  EXPECT_TRUE((Dim(kMax) * N + N).is_unknown());
  EXPECT_TRUE(may_equal(Dim(kMin) * N, M + 1));
  EXPECT_TRUE(max(N + kMin, M + kMax).is_unknown());
}

TEST(Dim, TooLargeIsUnknown) {
  Dim sum = 0;
  for (int i = 0; i < 64; ++i) sum = sum + Dim::symbol("s" + std::to_string(i));
  EXPECT_TRUE(sum.is_symbolic());
  EXPECT_TRUE((sum + N).is_unknown());
  EXPECT_TRUE((sum * sum).is_unknown());
  Dim power = N;
  for (int i = 0; i < 20; ++i) power = power * power;
  EXPECT_TRUE(power.is_unknown());
  Dim nested = N;
  for (int i = 0; i < 30; ++i) nested = floor_div(M, nested + 1);
  EXPECT_TRUE(nested.is_unknown());
  Dim widest = N;
  for (int i = 0; i < 30; ++i) widest = max(widest, Dim::symbol("s" + std::to_string(i)));
  EXPECT_TRUE(widest.is_unknown());
}

TEST(Dim, SubstitutesAndSimplifies) {
  const Dim d = floor_div(N + 1, 2) * M + max(K, 3);
  const std::map<std::string, Dim, std::less<>> values = {{"N", 2 * M + 1}, {"K", 7}, {"M", Dim()}};
  const auto lookup = [&](std::string_view name) -> std::optional<Dim> {
    const auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  };
  EXPECT_EQ(d.substitute(lookup), (M + 1) * M + 7);
  EXPECT_EQ(Dim(3).substitute(lookup), Dim(3));
  EXPECT_TRUE(floor_div(M, N).substitute([](std::string_view) { return Dim(0); }).is_unknown());
}

TEST(Dim, CollectsEachNameOnce) {
  std::vector<std::string> names = {"first"};
  (floor_div(N * M, K + 1) + N + max(M, 2)).collect_symbols(names);
  EXPECT_THAT(names, testing::UnorderedElementsAre("first", "N", "M", "K"));
  EXPECT_EQ(names[0], "first");
}

}  // namespace
}  // namespace ingot
