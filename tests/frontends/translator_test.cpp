// Tables of translators, and operators that stay as they are.
#include "ingot/frontends/translator.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "ingot/frontends/custom_operators.h"

namespace ingot::frontends {
namespace {

using Row = Translator<int()>;
int one() { return 1; }
int two() { return 2; }

constexpr Row kRows[] = {{"Abs", one}, {"Add", two}, {"add", one}};
static_assert(is_sorted_table<Row>(kRows));

TEST(Translators, AreFoundByTheirWholeName) {
  EXPECT_EQ(find_translator<Row>(kRows, "Abs")->translate(), 1);
  EXPECT_EQ(find_translator<Row>(kRows, "Add")->translate(), 2);
  for (const char* name : {"", "A", "Absolute", "zeta"}) EXPECT_EQ(find_translator<Row>(kRows, name), nullptr) << name;
}

TEST(Translators, ATableIsSortedAndHasEachNameOnce) {
  constexpr std::array<Row, 2> unsorted{Row{"b", one}, Row{"a", one}}, twice{Row{"a", one}, Row{"a", two}};
  EXPECT_FALSE(is_sorted_table<Row>(unsorted));
  EXPECT_FALSE(is_sorted_table<Row>(twice));
}

TEST(CustomOperators, GetTheFrameworksDomainUnlessTheUserSaysAnother) {
  const std::vector<std::string> asked{"Foo", "Bar:my.domain", "Foo:too.late"};
  const CustomOperators custom(asked, "keras");
  EXPECT_EQ(custom.domain_of("Foo"), "keras");
  EXPECT_EQ(custom.domain_of("Bar"), "my.domain");
  EXPECT_EQ(custom.domain_of("Baz"), std::nullopt);
}

}  // namespace
}  // namespace ingot::frontends
