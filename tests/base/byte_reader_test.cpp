#include "ingot/base/byte_reader.h"

#include <functional>

#include "ingot/base/bytes.h"
#include "ingot/base/error.h"
#include "tests/support/refusal.h"

namespace ingot {
namespace {

using namespace std::string_literals;

TEST(ByteReader, ReadsLittleEndianNumbersInOrder) {
  const std::string data =
      "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C\x0D\x0E\x0F\x00\x00\xC0\x3F\x00\x00\x00\x00\x00\x00\x00\xC0\xFE"s;
  ByteReader in(bytes_of(data));
  EXPECT_EQ(in.u8(), 0x01);
  EXPECT_EQ(in.u16(), 0x0302);
  EXPECT_EQ(in.u32(), 0x07060504u);
  EXPECT_EQ(in.u64(), 0x0F0E0D0C0B0A0908u);
  EXPECT_EQ(in.f32(), 1.5f);
  EXPECT_EQ(in.f64(), -2.0);
  EXPECT_EQ(in.i8(), -2);
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(in.position(), data.size());
}

TEST(ByteReader, SignedNumbersKeepTheirSign) {
  const std::string data = "\xFF\xFF\xFE\xFF\xFF\xFF\xFD\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s;
  ByteReader in(bytes_of(data));
  EXPECT_EQ(in.i16(), -1);
  EXPECT_EQ(in.i32(), -2);
  EXPECT_EQ(in.i64(), -3);
}

TEST(ByteReader, RunsOfBytesAreViews) {
  const std::string data = "abcdef";
  ByteReader in(bytes_of(data));
  in.skip(1);
  const auto run = in.bytes(3);
  EXPECT_EQ(run.data(), bytes_of(data).data() + 1);
  EXPECT_EQ(run.size(), 3u);
  EXPECT_EQ(in.remaining(), 2u);
  EXPECT_EQ(in.bytes(0).size(), 0u);
}

TEST(ByteReader, NeverReadsBeyondTheEnd) {
  const std::string data = "abc";
  const std::function<void(ByteReader&)> reads[] = {
      [](ByteReader& in) { in.u32(); },
      [](ByteReader& in) { in.f64(); },
      [](ByteReader& in) { in.bytes(4); },
      [](ByteReader& in) { in.skip(UINT64_MAX); },
      [](ByteReader& in) { in.skip(3), in.u8(); },
      [](ByteReader& in) { in.skip(3), in.varint(); },
  };
  for (const auto& read : reads) {
    ByteReader in(bytes_of(data), 100);
    try {
      read(in);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::truncated);
      EXPECT_THAT(error.message(), ::testing::HasSubstr("the data ends at byte 103"));
    }
  }
}

TEST(ByteReader, SeekStaysInside) {
  const std::string data = "abc";
  ByteReader in(bytes_of(data));
  in.seek(3);
  EXPECT_TRUE(in.at_end());
  in.seek(1);
  EXPECT_EQ(in.u8(), 'b');
  EXPECT_REFUSED(Code::out_of_bounds, in.seek(4));
}

TEST(ByteReader, VarintsOfEveryLength) {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const std::uint64_t value = bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
    std::string data;
    std::uint64_t rest = value;
    for (; rest >= 128; rest /= 128) data += static_cast<char>(rest % 128 + 128);
    data += static_cast<char>(rest);
    ByteReader in(bytes_of(data));
    EXPECT_EQ(in.varint(), value);
    EXPECT_TRUE(in.at_end());
  }
}

TEST(ByteReader, VarintsBeyond64BitsAreRefused) {
  for (const std::string& data : {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"s, std::string(9, '\x80') + "\x80\x01"s}) {
    ByteReader in(bytes_of(data));
    try {
      in.varint();
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::bad_varint);
    }
  }
}

}  // namespace
}  // namespace ingot
