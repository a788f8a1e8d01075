// The table of rewrites keeps the order that its constraints ask for.
#include "ingot/engine/rewrites/rewrites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ingot::engine {
namespace {

std::ptrdiff_t place_of(std::string_view name) {
  const auto table = rewrites();
  const auto it = std::ranges::find(table, name, &Rewrite::name);
  return it == table.end() ? -1 : it - table.begin();
}

TEST(Rewrites, EachStandsInTheTableOnce) {
  std::set<std::string_view> names;
  for (const Rewrite& row : rewrites()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

TEST(Rewrites, WhatIsOnlyFastStandsLast) {
  EXPECT_TRUE(
      std::ranges::is_partitioned(rewrites(), [](const Rewrite& row) { return row.kind != Rewrite::Kind::fast; }));
}

TEST(Rewrites, TheOrderMeetsEveryConstraint) {
  for (const Precedence& rule : precedences()) {
    EXPECT_GE(place_of(rule.first), 0) << rule.first;
    EXPECT_GE(place_of(rule.second), 0) << rule.second;
    EXPECT_LT(place_of(rule.first), place_of(rule.second))
        << rule.first << " before " << rule.second << ": " << rule.reason;
    EXPECT_FALSE(rule.reason.empty()) << rule.first << " before " << rule.second;
  }
}

TEST(Rewrites, NoneStandsSomewhereWithoutAReason) {
  for (const Rewrite& row : rewrites())
    EXPECT_TRUE(std::ranges::any_of(precedences(), [&](const Precedence& rule) {
      return rule.first == row.name || rule.second == row.name;
    })) << row.name;
}

}  // namespace
}  // namespace ingot::engine
