// JSON as Python writes it.
#include "ingot/formats/json/document.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ingot/base/error.h"
#include "tests/support/refusal.h"

namespace ingot::formats::json {
namespace {

TEST(JsonDocument, ValuesAreWhatTheTextSays) {
  const Value root = parse(R"( {"a": [1, -2.5, true, null, "x\u00e4\ud83d\ude00\n"], "b": {"c": 1e400}, "b2": {}} )");
  EXPECT_EQ(root["a"].size(), 5u);
  EXPECT_EQ(root["a"][0].as_int(), 1);
  EXPECT_EQ(root["a"][1].as_number(), -2.5);
  EXPECT_EQ(root["a"][2].as_bool(), true);
  EXPECT_TRUE(root["a"][3].is_null());
  EXPECT_EQ(root["a"][4].text(), "x\u00e4\U0001F600\n");
  EXPECT_TRUE(std::isinf(*root["b"]["c"].as_number()));
  EXPECT_EQ(root["b2"].size(), 0u);
  EXPECT_FALSE(root["nothing"]["at all"][3].exists());
}

TEST(JsonDocument, PythonsNumbersAreTaken) {
  const Value root = parse("[NaN, Infinity, -Infinity, 3.0]");
  EXPECT_TRUE(std::isnan(*root[0].as_number()));
  EXPECT_EQ(root[2].as_number(), -INFINITY);
  EXPECT_EQ(root[3].as_int(), 3);
}

TEST(JsonDocument, WhatIsWrittenReadsTheSame) {
  const std::string text = R"({"a":[1,2.5,"q\"\\"],"b":{"c":null,"d":[]},"e":true})";
  EXPECT_EQ(parse(text).dump(), text);
}

TEST(JsonDocument, DamageIsRefused) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "\"x", "[1] 2", "nul", "\"\\u12\"", "--1", "{1:2}"})
    EXPECT_REFUSED(Code::bad_json, parse(text)) << text;
  EXPECT_REFUSED(Code::bad_json, parse(std::string(100000, '[')));
}

}  // namespace
}  // namespace ingot::formats::json
