// Python programs as far as they are read.
#include <gtest/gtest.h>

#include "ingot/base/error.h"
#include "ingot/formats/python/syntax.h"

namespace ingot::formats::python {
namespace {

Expr value_of(const std::string& text) {
  const auto program = parse(text);
  EXPECT_EQ(program.size(), 1u);
  return program.at(0).value;
}

TEST(PythonParser, BindsTighterOperatorsFirst) {
  const Expr sum = value_of("a + b * c ** 2");
  ASSERT_EQ(sum->text, "+");
  ASSERT_EQ(sum->parts[1]->text, "*");
  EXPECT_EQ(sum->parts[1]->parts[1]->text, "**");
}

TEST(PythonParser, PowersBindToTheRightAndAboveSigns) {
  const Expr negated = value_of("-a ** b ** c");
  ASSERT_TRUE(negated->is(Expression::Kind::unary));
  ASSERT_EQ(negated->parts[0]->text, "**");
  EXPECT_TRUE(negated->parts[0]->parts[0]->is_name("a"));
}

TEST(PythonParser, ChainsOfComparisonsAreConjunctions) {
  const Expr both = value_of("0 < x <= 1");
  ASSERT_TRUE(both->is(Expression::Kind::logic));
  EXPECT_EQ(both->parts[0]->text, "<");
  EXPECT_EQ(both->parts[1]->text, "<=");
}

TEST(PythonParser, KnowsWhereThingsStand) {
  const auto program = parse("import pandas as pd\n\ndef f(df):\n    x = (1 +\n         df.a)\n    return x\n");
  ASSERT_EQ(program.size(), 2u);
  const Statement& function = program[1];
  ASSERT_EQ(function.body.size(), 2u);
  EXPECT_EQ(function.body[0].place.line, 4);
  EXPECT_EQ(function.body[0].place.column, 5);
  EXPECT_EQ(function.body[1].place.line, 6);
}

TEST(PythonParser, TextsMeanWhatTheirEscapesSay) {
  EXPECT_EQ(value_of(R"('a\n\x41\u00e9')")->text, "a\nA\xc3\xa9");
  EXPECT_EQ(value_of(R"(r'\d')")->text, "\\d");
  EXPECT_EQ(value_of("'a' \"b\"")->text, "ab");
}

TEST(PythonParser, WhatIsNotReadStandsAsItself) {
  const auto program = parse("while x < y:\n    pass\nz = 1\n");
  ASSERT_EQ(program.size(), 2u);
  EXPECT_EQ(program[0].kind, Statement::Kind::other);
  EXPECT_TRUE(value_of("[x for x in y]")->is(Expression::Kind::other));
}

TEST(PythonParser, LoopsBindNames) {
  const auto program = parse("for a, b in c:\n    a\n    b\nfor x in [1, 2]: x\nfor x[0] in c:\n    pass\n");
  ASSERT_EQ(program.size(), 3u);
  EXPECT_EQ(program[0].kind, Statement::Kind::loop);
  EXPECT_EQ(program[0].names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(program[0].body.size(), 2u);
  EXPECT_EQ(program[1].kind, Statement::Kind::loop);
  EXPECT_TRUE(program[1].value->is(Expression::Kind::list));
  EXPECT_EQ(program[2].kind, Statement::Kind::other);
}

TEST(PythonParser, RefusesWhatIsNoPython) {
  for (const char* text : {"a = (1", "a = 'x", "a b", "  a = 1\n b = 2", "a = 1.2.3", "a = ]", "a = '\\u12'", "$"})
    EXPECT_THROW((void)parse(text), Error) << text;
}

TEST(PythonParser, DepthIsLimited) {
  std::string chain = "a", sum = "1", brackets;
  for (int i = 0; i < 50'000; ++i) chain += ".a";
  for (int i = 0; i < 40'000; ++i) sum += "+1";
  for (int i = 0; i < 5000; ++i) brackets += "(";
  for (const std::string& text : {chain, sum, brackets, std::string(5000, '-') + "1"})
    EXPECT_THROW((void)parse(text), Error);
}

}  // namespace
}  // namespace ingot::formats::python
