// Custom options: values of every kind both ways, and damaged ones.
#include "ingot/formats/tflite/flexbuffer.h"

#include <flatbuffers/flexbuffers.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/formats/tflite/sample.h"

namespace ingot::formats::tflite {
namespace {

using List = FlexValue::List;
using Map = FlexValue::Map;

const FlexValue kEverything{Map{
    {"blob", {FlexValue::Blob{std::string("\0\1\2", 3)}}},
    {"double", {0.1}},
    {"float", {0.5}},
    {"int", {std::int64_t{-7}}},
    {"list", {List{{std::int64_t{1}}, {std::string("two")}, {List{}}, {}}}},
    {"map", {Map{{"inner", {true}}}}},
    {"text", {std::string("a\0b", 3)}},
    {"uint", {std::numeric_limits<std::uint64_t>::max()}},
}};

TEST(Flexbuffer, ValuesOfEveryKindComeBack) {
  EXPECT_EQ(read_flexbuffer(write_flexbuffer(kEverything)), kEverything);
  EXPECT_EQ(write_flexbuffer(kEverything), write_flexbuffer(kEverything));
}

TEST(Flexbuffer, EmptyBytesAreNull) { EXPECT_TRUE(read_flexbuffer(Bytes()).is_null()); }

TEST(Flexbuffer, TypedVectorsAreLists) {
  flexbuffers::Builder builder;
  builder.Map([&] {
    builder.Vector("fixed", std::vector<float>{1.5F, 2.5F}.data(), 2);
    builder.TypedVector("typed", [&] {
      builder.Int(3);
      builder.Int(-4);
    });
  });
  builder.Finish();
  const FlexValue value = read_flexbuffer(Bytes::copy(std::as_bytes(std::span(builder.GetBuffer()))));
  EXPECT_EQ(*value.find("fixed"), (FlexValue{List{{1.5}, {2.5}}}));
  EXPECT_EQ(*value.find("typed"), (FlexValue{List{{std::int64_t{3}}, {std::int64_t{-4}}}}));
}

TEST(Flexbuffer, NumbersReadAsWhatIsAskedFor) {
  EXPECT_EQ(FlexValue{2.0}.integer(), 2);
  EXPECT_EQ(FlexValue{2.5}.integer(-1), -1);
  EXPECT_EQ(FlexValue{std::numeric_limits<std::uint64_t>::max()}.integer(-1), -1);
  EXPECT_EQ(FlexValue{std::numeric_limits<std::int64_t>::min()}.integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(FlexValue{std::numeric_limits<double>::quiet_NaN()}.integer(-1), -1);
  EXPECT_EQ(FlexValue{std::int64_t{1}}.number(), 1.0);
  EXPECT_TRUE(FlexValue{std::int64_t{1}}.boolean());
  EXPECT_EQ(FlexValue{std::string("x")}.number(7), 7);
  EXPECT_EQ(FlexValue{std::string("x")}.text(), "x");
}

TEST(Flexbuffer, DeepNestingIsRefused) {
  FlexValue deep;
  for (int i = 0; i < 100; ++i) deep = FlexValue{List{deep}};
  EXPECT_EQ(error_of([&] { write_flexbuffer(deep); }).code(), Code::not_writable);
  flexbuffers::Builder builder;
  std::vector<std::size_t> open;
  for (int i = 0; i < 60; ++i) open.push_back(builder.StartVector());
  for (; !open.empty(); open.pop_back()) builder.EndVector(open.back(), false, false);
  builder.Finish();
  EXPECT_EQ(error_of([&] { read_flexbuffer(Bytes::copy(std::as_bytes(std::span(builder.GetBuffer())))); }).code(),
            Code::bad_options);
}

TEST(Flexbuffer, AKeyWithoutAnEndIsRefused) {
  // A typed vector of keys, of which one begins at the vector's own last bytes: no zero follows it.
  const std::string bytes(
      "y\x07\x04\x01\x04\x04(\x04\x04"
      "8\x01",
      11);
  try {
    (void)read_flexbuffer(Bytes::own(bytes));
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("a key without an end"), std::string::npos) << error.message();
  }
}

TEST(Flexbuffer, DamagedBytesNeverCrash) {
  const std::string good(write_flexbuffer(kEverything).text());
  std::mt19937 random(7);
  std::size_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      bad[random() % bad.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bad.resize(random() % bad.size());
    refused += error_of([&] { read_flexbuffer(Bytes::own(bad)); }).code() != Code::internal;
  }
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace ingot::formats::tflite
