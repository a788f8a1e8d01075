// BlingFire's rules, on a model of one: a sentence ends at a dot.
#include <gtest/gtest.h>

#include <random>

#include "ingot/base/error.h"
#include "ingot/ops/vendor/catalog.h"
#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::ops {
namespace {

using Strings = std::vector<std::string>;

std::string number(std::uint32_t value, int size = 4) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

/// Lists of bytes by their keys; those that are empty are none.
std::string lists(const std::vector<std::string>& all) {
  std::string places, values = number(1) + number(9);
  for (const std::string& one : all) {
    places += one.empty() ? '\0' : static_cast<char>(values.size() + 1);
    if (!one.empty()) values += static_cast<char>(one.size()) + one;
  }
  places.resize((places.size() + 3) / 4 * 4);
  return number(static_cast<std::uint32_t>(all.size() - 1)) + number(1) + places + values;
}

/// States: the rules lead from any character to the second, where a dot leads to the third, the end.
std::string automaton(char begin) {
  const std::string head = number(1) + number(0) + number(2) + number(0) + number(255);
  const auto at = [&](std::size_t i) { return static_cast<char>(head.size() + i); };
  const std::string states[] = {{0x04, 0, begin, at(4)}, {0x04, 1, 0, '.', at(4), at(10)}, {'\xa0', 0}};
  return head + states[0] + states[1] + states[2];
}

std::string model(const std::string& action = {0, 0, 5}, const Strings& settings = {{2, 1, 25, 2, 16, 1}},
                  char begin = 0) {
  std::vector<std::string> keys(20);
  keys[19] = settings[0];
  const std::string parts[] = {lists(keys), automaton(begin), lists({action})};
  std::string head = number(3), body;
  for (const std::string& part : parts) {
    head += number(static_cast<std::uint32_t>(16 + body.size()));
    body += part;
  }
  return head + body;
}

Strings sentences(const std::string& text, const std::string& rules = model()) {
  const Datum x = Array::of<std::string>({1}, {text});
  return test::values<std::string>(
      *test::run_ops("BlingFireSentenceBreaker", {x}, {{"model", rules}}, 1, std::string(kContrib))[0].array());
}

TEST(Sentences, EndAtWhatTheRulesSay) {
  EXPECT_EQ(sentences("Hi.\n You, too. And\nme"), (Strings{"Hi.", "You, too.", "And me"}));
  EXPECT_EQ(sentences("\xef\xbb\xbf中文. é"), (Strings{"中文.", "é"}));
}

TEST(Sentences, OfABlankTextAreOneThatIsEmpty) {
  EXPECT_EQ(sentences(""), Strings{""});
  EXPECT_EQ(sentences(" \u00a0\u3000"), Strings{""});
}

TEST(Sentences, AreCutWithinWhatOtherRulesFound) {
  // No name of its own; the rules again, within what was found.
  EXPECT_EQ(sentences("a. b.", model({0, 0, 0, 0})), (Strings{"a. b."})) << "they find no names";
  // A name, and the context behind it: the dot is no part of the piece.
  EXPECT_EQ(sentences("a. b.", model({0, 1, 5})), (Strings{"a", ". b", "."}));
}

TEST(Sentences, NeedATextOfUtf8) { EXPECT_REFUSED(Code::execution_failed, sentences("a\xff.")); }

TEST(Sentences, RulesThatAreNoneAreRefused) {
  EXPECT_REFUSED(Code::bad_attribute, sentences("a.", "x"));
  EXPECT_REFUSED(Code::bad_attribute, sentences("a.", model({0, 0}))) << "an action without a name";
  EXPECT_REFUSED(Code::bad_attribute, sentences("a.", model({0, 0, 5}, {{2, 1}})));
  EXPECT_REFUSED(Code::bad_attribute, sentences("a.", model({0, 0, 5}, {{2, 9, 25, 2}})));
  EXPECT_REFUSED(Code::bad_attribute, sentences("a.", model({0, 0, 5}, {{2, 1, 25, 2, 99, 1}})));
  EXPECT_REFUSED(Code::bad_attribute, sentences("a.", model({0, 0, 5}, {{2, 1, 25, 2, 38, 99}}))) << "too deep";
}

TEST(Sentences, DamagedRulesDoNoHarm) {
  const std::string good = model({0, 0, 5, 0, 0});
  std::mt19937 engine(1);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good.substr(0, i % 4 == 0 ? engine() % good.size() : good.size());
    for (int k = i % 3; k >= 0 && !bytes.empty(); --k) bytes[engine() % bytes.size()] = static_cast<char>(engine());
    try {
      EXPECT_FALSE(sentences("Hi. You.", bytes).empty());
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace ingot::ops
