#include "ingot/base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ingot {
namespace {

TEST(Json, KeepsTheOrderOfItsKeys) {
  Json json{{"z", 1}, {"a", {{"deep", true}, {"none", Json()}}}};
  json["m"] = std::vector<int>{3, 2};
  EXPECT_EQ(json.dump(), R"({"z":1,"a":{"deep":true,"none":null},"m":[3,2]})");
}

TEST(Json, IsIndented) {
  Json json{{"list", Json::array()}, {"object", Json::object()}};
  json["list"].push_back({{"x", 1}});
  EXPECT_EQ(json.dump(2), "{\n  \"list\": [\n    {\n      \"x\": 1\n    }\n  ],\n  \"object\": {}\n}");
}

TEST(Json, WritesNumbersAsTheyAre) {
  const Json json{std::numeric_limits<std::int64_t>::min(),
                  std::numeric_limits<std::uint64_t>::max(),
                  1.0,
                  0.1,
                  1e300,
                  static_cast<double>(0.1f)};
  EXPECT_EQ(json.dump(), "[-9223372036854775808,18446744073709551615,1.0,0.1,1e+300,0.10000000149011612]");
}

TEST(Json, HasNoNumberThatIsNotFinite) { EXPECT_EQ(Json(std::nan("")).dump(), "null"); }

TEST(Json, EscapesTextAndReplacesWhatIsNotUtf8) {
  EXPECT_EQ(Json("a\"\\\n\x01\xff\xc3\xa9").dump(), "\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9\"");
}

TEST(Json, TakesListsThatAreNoPairsForArrays) {
  EXPECT_EQ((Json{{"a", "b"}, {"c", "d"}}).dump(), R"({"a":"b","c":"d"})");
  EXPECT_EQ((Json{{1, "b"}, {"c", "d"}}).dump(), R"([[1,"b"],["c","d"]])");
}

TEST(Json, AddsAndReplacesKeys) {
  Json json{{"a", 1}, {"b", 2}};
  json.update({{"b", 3}, {"c", std::map<std::string, std::size_t>{{"y", 1}, {"x", 2}}}});
  EXPECT_EQ(json.dump(), R"({"a":1,"b":3,"c":{"x":2,"y":1}})");
}

TEST(Json, IsReadBack) {
  const Json json{{"text", "t"}, {"number", -2}, {"yes", true}};
  EXPECT_EQ(json["text"].text(), "t");
  EXPECT_EQ(json["number"].number(), -2);
  EXPECT_TRUE(json["yes"].is_true());
  EXPECT_FALSE(json.contains("nothing"));
  EXPECT_EQ(json["nothing"].dump(), "null");
  EXPECT_EQ(json.items().size(), 3u);
}

}  // namespace
}  // namespace ingot
