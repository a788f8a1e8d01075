// Golden bytes both ways: what is written is exactly these bytes, and reading them gives the values back.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ingot/formats/protobuf/wire.h"

namespace ingot::formats::protobuf {
namespace {

using namespace std::string_literals;

Reader first_field(const std::string& bytes) {
  Reader reader(Bytes::own(bytes));
  EXPECT_TRUE(reader.next());
  return reader;
}

struct VarintCase {
  std::uint64_t value;
  std::string bytes;  // with the tag of field 1
};

TEST(WireGolden, Varints) {
  const VarintCase cases[] = {
      {0, "\x08\x00"s},
      {1, "\x08\x01"s},
      {127, "\x08\x7F"s},
      {128, "\x08\x80\x01"s},
      {150, "\x08\x96\x01"s},
      {16383, "\x08\xFF\x7F"s},
      {16384, "\x08\x80\x80\x01"s},
      {UINT32_MAX, "\x08\xFF\xFF\xFF\xFF\x0F"s},
      {std::uint64_t{1} << 32, "\x08\x80\x80\x80\x80\x10"s},
      {std::uint64_t{1} << 63, "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"s},
      {UINT64_MAX, "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s},
  };
  for (const auto& [value, bytes] : cases) {
    EXPECT_EQ(serialize([&number = value](Writer& w) { w.varint(1, number); }), bytes) << value;
    EXPECT_EQ(first_field(bytes).varint(), value);
    EXPECT_EQ(varint_size(value), bytes.size() - 1) << value;
  }
}

TEST(WireGolden, NegativeIntegersTakeTenBytes) {
  const std::string minus_one = "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s;
  EXPECT_EQ(serialize([](Writer& w) { w.int32(1, -1); }), minus_one);
  EXPECT_EQ(serialize([](Writer& w) { w.int64(1, -1); }), minus_one);
  EXPECT_EQ(first_field(minus_one).int32(), -1);
  EXPECT_EQ(first_field(minus_one).int64(), -1);
  const std::string smallest = "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"s;
  EXPECT_EQ(serialize([](Writer& w) { w.int64(1, INT64_MIN); }), smallest);
  EXPECT_EQ(first_field(smallest).int64(), INT64_MIN);
}

TEST(WireGolden, Booleans) {
  EXPECT_EQ(serialize([](Writer& w) { w.boolean(3, true); }), "\x18\x01"s);
  EXPECT_TRUE(first_field("\x18\x01"s).boolean());
  EXPECT_TRUE(first_field("\x18\x02"s).boolean());
  EXPECT_FALSE(first_field("\x18\x00"s).boolean());
}

TEST(WireGolden, FloatsAndDoubles) {
  EXPECT_EQ(serialize([](Writer& w) { w.fixed_float(2, 1.5f); }), "\x15\x00\x00\xC0\x3F"s);
  EXPECT_EQ(first_field("\x15\x00\x00\xC0\x3F"s).fixed_float(), 1.5f);
  EXPECT_EQ(serialize([](Writer& w) { w.fixed_double(2, -2.0); }), "\x11\x00\x00\x00\x00\x00\x00\x00\xC0"s);
  EXPECT_EQ(first_field("\x11\x00\x00\x00\x00\x00\x00\x00\xC0"s).fixed_double(), -2.0);
}

TEST(WireGolden, StringsAndBytes) {
  EXPECT_EQ(serialize([](Writer& w) { w.string(2, "testing"); }), "\x12\x07testing"s);
  EXPECT_EQ(first_field("\x12\x07testing"s).string(), "testing");
  EXPECT_EQ(serialize([](Writer& w) { w.string(2, ""); }), "\x12\x00"s);
  EXPECT_EQ(first_field("\x12\x00"s).bytes().size(), 0u);
  EXPECT_EQ(serialize([](Writer& w) { w.string(2, "\0\xFF"s); }), "\x12\x02\0\xFF"s);
}

TEST(WireGolden, LargeFieldNumbers) {
  EXPECT_EQ(serialize([](Writer& w) { w.varint(16, 1); }), "\x80\x01\x01"s);
  EXPECT_EQ(serialize([](Writer& w) { w.varint(kMaxField, 1); }), "\xF8\xFF\xFF\xFF\x0F\x01"s);
  EXPECT_EQ(first_field("\xF8\xFF\xFF\xFF\x0F\x01"s).field(), kMaxField);
}

TEST(WireGolden, NestedMessages) {
  const std::string bytes = "\x0A\x08\x12\x03\x08\x96\x01\x2A\x01x\x10\x05"s;
  EXPECT_EQ(serialize([](Writer& w) {
              w.message(1, [&] {
                w.message(2, [&] { w.int64(1, 150); });
                w.string(5, "x");
              });
              w.int64(2, 5);
            }),
            bytes);
  Reader outer = first_field(bytes);
  Reader middle = outer.message();
  ASSERT_TRUE(middle.next());
  Reader inner = middle.message();
  ASSERT_TRUE(inner.next());
  EXPECT_EQ(inner.int64(), 150);
  EXPECT_EQ(inner.offset(), 4u);
  EXPECT_FALSE(inner.next());
  ASSERT_TRUE(middle.next());
  EXPECT_EQ(middle.string(), "x");
  EXPECT_EQ(middle.offset(), 7u);
  EXPECT_FALSE(middle.next());
  ASSERT_TRUE(outer.next());
  EXPECT_EQ(outer.int64(), 5);
  EXPECT_FALSE(outer.next());
}

TEST(WireGolden, PackedNumbers) {
  const std::vector<std::int64_t> ints = {3, 270, 86942, -1};
  const std::string packed = "\x22\x10\x03\x8E\x02\x9E\xA7\x05\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s;
  EXPECT_EQ(serialize([&](Writer& w) { w.packed(4, ints); }), packed);
  std::vector<std::int64_t> read;
  first_field(packed).ints(read);
  EXPECT_EQ(read, ints);

  const std::vector<std::int32_t> int32s = {3, -1};
  const std::string packed32 = "\x22\x0B\x03\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s;
  EXPECT_EQ(serialize([&](Writer& w) { w.packed(4, int32s); }), packed32);
  std::vector<std::int32_t> read32;
  first_field(packed32).int32s(read32);
  EXPECT_EQ(read32, int32s);

  const std::vector<std::uint64_t> uint64s = {UINT64_MAX, 0};
  const std::string packed64 = "\x22\x0B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x00"s;
  EXPECT_EQ(serialize([&](Writer& w) { w.packed(4, uint64s); }), packed64);
  std::vector<std::uint64_t> read64;
  first_field(packed64).uint64s(read64);
  EXPECT_EQ(read64, uint64s);
}

TEST(WireGolden, PackedFloats) {
  const std::vector<float> floats = {1.0f, -0.0f};
  const std::string packed = "\x22\x08\x00\x00\x80\x3F\x00\x00\x00\x80"s;
  EXPECT_EQ(serialize([&](Writer& w) { w.packed(4, floats); }), packed);
  std::vector<float> read;
  first_field(packed).floats(read);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0], 1.0f);
  EXPECT_TRUE(std::signbit(read[1]));

  const std::vector<double> doubles = {1.0};
  const std::string packed_doubles = "\x52\x08\x00\x00\x00\x00\x00\x00\xF0\x3F"s;
  EXPECT_EQ(serialize([&](Writer& w) { w.packed(10, doubles); }), packed_doubles);
  std::vector<double> read_doubles;
  first_field(packed_doubles).doubles(read_doubles);
  EXPECT_EQ(read_doubles, doubles);
}

TEST(WireGolden, EmptyMessageIsEmpty) {
  EXPECT_EQ(serialize([](Writer&) {}), "");
  EXPECT_FALSE(Reader(Bytes()).next());
  EXPECT_EQ(serialize([](Writer& w) { w.message(1, [] {}); }), "\x0A\x00"s);
}

}  // namespace
}  // namespace ingot::formats::protobuf
