// Operators on strings.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

TEST(StringConcat, Broadcasts) {
  OpCase c;
  EXPECT_EQ(c.op("StringConcat", {c.in("string[N,3]"), c.in("string[3]")})->type.str(), "string[N,3]");
  EXPECT_REFUSED(Code::inference_failed, c.op("StringConcat", {c.in("string[2]"), c.in("string[3]")}));
}

TEST(StringSplit, AddsAnAxisThatTheDataDecides) {
  OpCase c;
  Values y = c.ops("StringSplit", {c.in("string[N,3]")}, {{"delimiter", "."}}, 2);
  ASSERT_EQ(y[0]->type.shape->size(), 3u);
  EXPECT_TRUE((*y[0]->type.shape)[2].is_symbolic());
  EXPECT_EQ(y[1]->type.str(), "int64[N,3]");
}

TEST(StringNormalizer, KeepsTheSizeWithoutStopwords) {
  OpCase c;
  EXPECT_EQ(c.op("StringNormalizer", {c.in("string[N]")})->type.str(), "string[N]");
  Value* y = c.op("StringNormalizer", {c.in("string[1,5]")}, {{"stopwords", std::vector<std::string>{"the"}}});
  EXPECT_EQ((*y->type.shape)[0].as_int(), 1);
  EXPECT_FALSE((*y->type.shape)[1].is_known());
  EXPECT_REFUSED(Code::inference_failed, c.op("StringNormalizer", {c.in("string[2,5]")}));
}

TEST(RegexFullMatch, IsABoolean) {
  OpCase c;
  EXPECT_EQ(c.op("RegexFullMatch", {c.in("string[N,3]")}, {{"pattern", "a.*"}})->type.str(), "bool[N,3]");
}

TEST(TfIdfVectorizer, CountsTheNgrams) {
  OpCase c;
  const Attrs attrs = {{"ngram_indexes", {0, 4, 2}}};
  EXPECT_EQ(c.op("TfIdfVectorizer", {c.in("int32[N,7]")}, attrs)->type.str(), "float[N,5]");
  EXPECT_EQ(c.op("TfIdfVectorizer", {c.in("int32[7]")}, attrs)->type.str(), "float[5]");
  EXPECT_REFUSED(Code::inference_failed, c.op("TfIdfVectorizer", {c.in("int32[7]")}, {{"ngram_indexes", {-1}}}));
}

}  // namespace
}  // namespace ingot::test
