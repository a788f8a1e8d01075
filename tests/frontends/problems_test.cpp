// What is said of nodes that cannot be translated.
#include "ingot/frontends/problems.h"

#include <gtest/gtest.h>

namespace ingot::frontends {
namespace {

Error thrown(const Problems& problems, std::string_view remedy = "do this") {
  try {
    problems.throw_if_any(remedy);
  } catch (const Error& error) {
    return error;
  }
  return Error(Code::bad_usage, "nothing was thrown");
}

TEST(Problems, ThrowOnceAndNameAll) {
  Problems problems;
  problems.throw_if_any("nothing to say");
  problems.add("a", "Foo", "there is no translation", Code::unsupported_operator);
  problems.add("b", "Bar", "its rank is not known", Code::unsupported_setting);
  problems.add("c", "Foo", "there is no translation", Code::unsupported_operator);
  problems.add("c", "Foo", "there is no translation", Code::unsupported_operator);
  EXPECT_EQ(problems.size(), 3U);
  const Error error = thrown(problems);
  EXPECT_EQ(error.code(), Code::unsupported_operator);
  EXPECT_EQ(error.message(),
            "3 nodes cannot be converted:\n  Bar: its rank is not known (node 'b')\n"
            "  Foo: there is no translation (2 nodes: 'a', 'c')");
  EXPECT_EQ(error.hint_text(), "do this");
}

TEST(Problems, OfABadSourceAloneAreTheSources) {
  Problems problems;
  problems.add("a", "Foo", "an input is missing", Code::bad_source_graph);
  EXPECT_EQ(thrown(problems).code(), Code::bad_source_graph);
  problems.add("b", "Bar", "there is no translation", Code::unsupported_operator);
  EXPECT_EQ(thrown(problems).code(), Code::unsupported_operator);
}

TEST(Problems, KnowBetterRemediesThanTheUsual) {
  Problems problems;
  problems.add("a", "Foo", "there is no translation", Code::unsupported_operator);
  problems.add("v", "VarHandleOp", Error(Code::unsupported_setting, "no value").hint("convert the checkpoint"));
  EXPECT_EQ(thrown(problems).hint_text(), "convert the checkpoint");
}

}  // namespace
}  // namespace ingot::frontends
