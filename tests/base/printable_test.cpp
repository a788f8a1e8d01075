#include "ingot/base/printable.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(Printable, OrdinaryTextStays) {
  for (const char* text : {"", "conv2d/Relu:0", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "a b\\c'd\""})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, WhatSteersATerminalIsEscaped) {
  EXPECT_EQ(printable("a\x1b[2J\x07"), "a\\x1b[2J\\x07");
  EXPECT_EQ(printable("\x7f\r\n\t"), "\\x7f\\x0d\\x0a\\x09");
  EXPECT_EQ(printable("\xC2\x9b"
                      "31m"),
            "\\x9b31m")
      << "C1 controls as UTF-8";
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m")
      << "and as bytes";
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b\xE2\x81\xA6\xE2\x80\x8F\xD8\x9C"),
            "a\\u202eb\\u2066\\u200f\\u061c")
      << "marks of writing direction";
  EXPECT_EQ(printable("\xE2\x80\xA8"), "\\u2028");
}

TEST(Printable, EveryByteThatIsNoUtf8IsEscaped) {
  EXPECT_EQ(printable("\xC3"), "\\xc3");
  EXPECT_EQ(printable("\xE2\x82x"), "\\xe2\\x82x");
  EXPECT_EQ(printable("\xC0\x80"), "\\xc0\\x80") << "too long a form";
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(Printable, NewlinesMayStayAndLongTextsAreCutBetweenCharacters) {
  EXPECT_EQ(printable("a\n\tb\r", true), "a\n\tb\\x0d");
  EXPECT_EQ(printable("ab\xC3\xA4", false, 3), "ab...");
  EXPECT_EQ(printable("ab\xC3\xA4", false, 4), "ab\xC3\xA4");
}

}  // namespace
}  // namespace ingot
