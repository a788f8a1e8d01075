// Tables on their way to the inputs of a model.
#include "ingot/train/table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/refusal.h"

namespace ingot::train {
namespace {

Table table(const std::string& text, const TableOptions& options = {}) { return Table(Bytes::own(text), options); }

TableOptions with_inputs(std::vector<TableInput> inputs) {
  TableOptions options;
  options.inputs = std::move(inputs);
  return options;
}

TEST(Table, FeaturesAreTakenInTheOrderThatTheModelKnows) {
  TableOptions options;
  options.known.columns = {"b", "a"};
  options.known.target = "kind";
  Table t = table("kind,a,extra,b\nup,1,9,2\n", options);
  EXPECT_EQ(t.features(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(t.unused(), std::vector<std::string>{"extra"});
  const auto columns = t.read(10);
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[0].second.to_doubles(), (std::vector<double>{2, 1}));
  EXPECT_EQ(columns[1].first, "kind");
}

TEST(Table, KnownClassesKeepTheirNumbersAndOthersAreRefused) {
  TableOptions options;
  options.target = "kind";
  options.known.classes = {"down", "left", "up"};
  EXPECT_EQ(table("a,kind\n1,up\n2,down\n", options).read(9)[1].second.to_doubles(), (std::vector<double>{2, 0}));
  EXPECT_REFUSED(Code::bad_training_data, table("a,kind\n1,right\n", options));
}

TEST(Table, InputsTakeColumnsOfTheirNamesWhereTheWidthFits) {
  Table t = table("city,age,v_0,v_1\nRome,3,5,6\nOslo,4.5,7,8\n",
                  with_inputs({{"age", DType::f32, 1}, {"city", DType::string, 1}, {"v", DType::i64, 2}}));
  const auto columns = t.read(9);
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns[0].second.to_doubles(), (std::vector<double>{3, 4.5}));
  EXPECT_EQ(columns[1].second.data<std::string>()[1], "Oslo");
  EXPECT_EQ(columns[2].second.to_ints(), (std::vector<std::int64_t>{5, 6, 7, 8}));
  // A column that happens to be called as an input of two numbers is one feature among others.
  Table other = table("x,y\n1,2\n", with_inputs({{"x", DType::f32, 2}}));
  EXPECT_EQ(other.read(1)[0].second.to_doubles(), (std::vector<double>{1, 2}));
  EXPECT_REFUSED(Code::bad_training_data,
                 table("a,b\n1,2\n", with_inputs({{"a", DType::f32, 1}, {"c", DType::f32, 1}})));
}

TEST(Table, ComesInPiecesOfAnySize) {
  Table t = table("a\n1\n2\n3\n");
  EXPECT_EQ(t.read(2)[0].second.to_doubles(), (std::vector<double>{1, 2}));
  EXPECT_EQ(t.read(2)[0].second.to_doubles(), std::vector<double>{3});
  EXPECT_EQ(t.read(2)[0].second.dims()[0], 0);
}

TEST(Table, WhatIsMissingIsNotANumberOnlyWhereThatIsAllowed) {
  TableOptions options;
  EXPECT_REFUSED(Code::bad_training_data, table("a,b\n1,\n", options).read(1));
  options.allows_missing = true;
  Table t = table("a,b\n1,\nNA,2\n", options);
  const std::vector<double> values = t.read(9)[0].second.to_doubles();
  EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[2]));
  EXPECT_EQ(t.missing(), 2u);
  EXPECT_REFUSED(Code::bad_training_data, table("a,b\n1,two\n", options).read(1));
}

TEST(Table, WholeNumbersStayExact) {
  Table t = table("id\n9007199254740993\n3.0\n", with_inputs({{"id", DType::i64, 1}}));
  EXPECT_EQ(t.read(9)[0].second.to_ints(), (std::vector<std::int64_t>{9007199254740993, 3}));
  EXPECT_REFUSED(Code::bad_training_data, table("id\n3.5\n", with_inputs({{"id", DType::i64, 1}})).read(1));
}

}  // namespace
}  // namespace ingot::train
