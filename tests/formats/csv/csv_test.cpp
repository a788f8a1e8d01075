// Tables of comma-separated values.
#include "ingot/formats/csv/csv.h"

#include <gtest/gtest.h>

#include "tests/support/refusal.h"

namespace ingot::formats::csv {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& text) {
  Reader reader(Bytes::own(text));
  Rows rows;
  for (std::vector<std::string> fields; reader.next(fields);) rows.push_back(fields);
  return rows;
}

TEST(Csv, TheFirstLineTellsTheSeparator) {
  EXPECT_EQ(rows_of("a,b\n1;5,2\n"), (Rows{{"a", "b"}, {"1;5", "2"}}));
  EXPECT_EQ(rows_of("a;b\n1,5;2\n"), (Rows{{"a", "b"}, {"1,5", "2"}}));
  EXPECT_EQ(rows_of("a\tb\n1\t2"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(rows_of("\"x;y;z\",b\n1,2\n"), (Rows{{"x;y;z", "b"}, {"1", "2"}}));
}

TEST(Csv, QuotesHoldSeparatorsNewlinesAndQuotes) {
  EXPECT_EQ(rows_of("a,b\n\"x, y\",\"say \"\"no\"\"\"\n\"two\nlines\",2\n"),
            (Rows{{"a", "b"}, {"x, y", "say \"no\""}, {"two\nlines", "2"}}));
  EXPECT_EQ(rows_of("5\" pipe,2\n"), (Rows{{"5\" pipe", "2"}})) << "a quote inside a plain field is a character";
}

TEST(Csv, MarksBlankLinesAndCarriageReturnsArePassedOver) {
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "a,b\r\n\r\n1,2\r\n   \n3,\n"),
            (Rows{{"a", "b"}, {"1", "2"}, {"3", ""}}));
  EXPECT_EQ(rows_of(""), Rows{});
  EXPECT_EQ(rows_of("a\n\"\"\n"), (Rows{{"a"}, {""}})) << "an empty text in quotes is a row";
}

TEST(Csv, RowsWithAndWithoutQuotesReadTheSame) {
  // A row with a quote is read character by character, others by their separators.
  for (const std::string row : {"a,b,c", "a,,c", ",,", "a\rb,c\r,d", "x", " x , y ", "a,b\r\r"})
    for (const std::string end : {"\n", "\r\n", ""}) {
      const Rows plain = rows_of("h,h,h\n1,2,3\n" + row + end),
                 quoted = rows_of("h,h,h\n1,2,3\n" + row + ",\"q\"" + end);
      ASSERT_EQ(plain.size(), 3u);
      std::vector<std::string> wanted = quoted.at(2);
      wanted.pop_back();
      if (row.ends_with('\r') && end != "\r\n") wanted.back().pop_back();  // its last one is the line's end
      EXPECT_EQ(plain.at(2), wanted) << row;
    }
}

TEST(Csv, AnOpenQuoteIsRefusedWithItsLine) {
  try {
    rows_of("a,b\n1,2\n\"x,3\n4,5\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_input);
    EXPECT_EQ(error.message(), "line 3: a quote is not closed");
  }
}

TEST(Csv, WhatIsWrittenIsReadBack) {
  const std::vector<std::string> texts = {"plain", "", " led", "a,b", "a;b", "say \"no\"", "two\nlines", "tab\t"};
  std::string line = "x,x,x,x,x,x,x,x\n";
  for (std::size_t i = 0; i < texts.size(); ++i) line += (i ? "," : "") + field(texts[i]);
  EXPECT_EQ(rows_of(line).at(1), texts);
  EXPECT_EQ(field("plain"), "plain");
}

}  // namespace
}  // namespace ingot::formats::csv
