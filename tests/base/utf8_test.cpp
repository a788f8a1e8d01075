// Code points as UTF-8, at the ends of each length.
#include "ingot/base/utf8.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

std::string utf8(std::uint32_t code) {
  std::string text = "<";
  append_utf8(text, code);
  return text.substr(1);
}

TEST(Utf8, HasFourLengths) {
  EXPECT_EQ(utf8(0), std::string(1, '\0'));
  EXPECT_EQ(utf8(0x7f), "\x7f");
  EXPECT_EQ(utf8(0x80), "\xc2\x80");
  EXPECT_EQ(utf8(0x7ff), "\xdf\xbf");
  EXPECT_EQ(utf8(0x800), "\xe0\xa0\x80");
  EXPECT_EQ(utf8(0xd800), "\xed\xa0\x80") << "a surrogate, as Python writes it";
  EXPECT_EQ(utf8(0xffff), "\xef\xbf\xbf");
  EXPECT_EQ(utf8(0x10000), "\xf0\x90\x80\x80");
  EXPECT_EQ(utf8(0x10ffff), "\xf4\x8f\xbf\xbf");
}

}  // namespace
}  // namespace ingot
