// Text at run time: concatenation, normalisation, splitting, patterns, n-grams.
#include <gtest/gtest.h>

#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using Strings = std::vector<std::string>;
using Ints = std::vector<std::int64_t>;

Array strings(const Strings& s) { return Array::of<std::string>({static_cast<std::int64_t>(s.size())}, s); }

TEST(StringConcatKernel, Broadcasts) {
  EXPECT_EQ(values<std::string>(run_op("StringConcat", {strings({"a", "b"}), Array::scalar<std::string>("!")})),
            (Strings{"a!", "b!"}));
}

TEST(StringNormalizerKernel, DropsStopwordsAndChangesCase) {
  const Array x = strings({"Über", "the", "THE", "ñandú"});
  EXPECT_EQ(values<std::string>(
                run_op("StringNormalizer", {x}, {{"case_change_action", "UPPER"}, {"stopwords", Strings{"the"}}})),
            (Strings{"ÜBER", "ÑANDÚ"}));
  EXPECT_EQ(values<std::string>(
                run_op("StringNormalizer", {x},
                       {{"case_change_action", "LOWER"}, {"is_case_sensitive", 1}, {"stopwords", Strings{"the"}}})),
            (Strings{"über", "the", "ñandú"}));
  const Array none = run_op("StringNormalizer", {strings({"a"}).reshaped({1, 1})}, {{"stopwords", Strings{"A"}}});
  EXPECT_EQ(none.dims(), (Dims{1, 1}));
  EXPECT_EQ(values<std::string>(none), Strings{""});
}

TEST(StringNormalizerKernel, KeepsBytesThatAreNoText) {
  EXPECT_EQ(
      values<std::string>(run_op("StringNormalizer", {strings({"a\xff\xc3"})}, {{"case_change_action", "UPPER"}})),
      Strings{"A\xff\xc3"});
}

TEST(StringSplitKernel, SplitsAtDelimitersOrSpace) {
  auto y = run_ops("StringSplit", {strings({"a,b", "", ",c,"})}, {{"delimiter", ","}}, 2);
  EXPECT_EQ(values<std::string>(*y[0].array()), (Strings{"a", "b", "", "", "", "", "", "c", ""}));
  EXPECT_EQ(values<std::int64_t>(*y[1].array()), (Ints{2, 1, 3}));
  y = run_ops("StringSplit", {strings({"  a \t b c ", " "})}, {{"maxsplit", 1}}, 2);
  EXPECT_EQ(values<std::string>(*y[0].array()), (Strings{"a", "b c ", "", ""}));
  EXPECT_EQ(values<std::int64_t>(*y[1].array()), (Ints{2, 0}));
  EXPECT_EQ(run_ops("StringSplit", {strings({})}, {}, 2)[0].array()->dims(), (Dims{0, 0}));
}

TEST(RegexFullMatchKernel, MatchesWholeTexts) {
  const Array y = run_op("RegexFullMatch", {strings({"abc", "abcd"})}, {{"pattern", "a.c"}});
  EXPECT_EQ(values<bool>(y), (std::vector<bool>{true, false}));
  EXPECT_REFUSED(Code::execution_failed, run_op("RegexFullMatch", {strings({"a"})}, {{"pattern", "(a"}}));
}

TEST(TfIdfVectorizerKernel, CountsGramsWithSkips) {
  const auto counts = [](const char* mode, std::int64_t skips) {
    const Array x = Array::of<std::int64_t>({4}, {1, 2, 1, 3});
    return values<float>(run_op("TfIdfVectorizer", {x},
                                {{"mode", mode},
                                 {"min_gram_length", 1},
                                 {"max_gram_length", 2},
                                 {"max_skip_count", skips},
                                 {"ngram_counts", Ints{0, 2}},
                                 {"ngram_indexes", Ints{2, 0, 1}},
                                 {"pool_int64s", Ints{1, 3, 2, 3}},
                                 {"weights", std::vector<float>{10, 20, 30}}}));
  };
  EXPECT_EQ(counts("TF", 0), (std::vector<float>{1, 0, 2}));
  EXPECT_EQ(counts("TF", 1), (std::vector<float>{1, 1, 2}));
  EXPECT_EQ(counts("IDF", 0), (std::vector<float>{20, 0, 10}));
  EXPECT_EQ(counts("TFIDF", 1), (std::vector<float>{20, 30, 20}));
}

TEST(TfIdfVectorizerKernel, ReadsRowsOfStrings) {
  const Array x = Array::of<std::string>({2, 2}, {"a", "b", "b", "c"});
  const Array y = run_op("TfIdfVectorizer", {x},
                         {{"mode", "TF"},
                          {"min_gram_length", 1},
                          {"max_gram_length", 1},
                          {"max_skip_count", 0},
                          {"ngram_counts", Ints{0}},
                          {"ngram_indexes", Ints{0, 1}},
                          {"pool_strings", Strings{"b", "c"}}});
  EXPECT_EQ(y.dims(), (Dims{2, 2}));
  EXPECT_EQ(values<float>(y), (std::vector<float>{1, 0, 1, 1}));
}

}  // namespace
}  // namespace ingot::test
