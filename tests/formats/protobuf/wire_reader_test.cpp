// The reader on well-formed variants and on malformed input.
#include "ingot/formats/protobuf/wire_reader.h"

#include <random>

#include "ingot/base/error.h"
#include "ingot/formats/protobuf/wire_writer.h"
#include "tests/support/refusal.h"

namespace ingot::formats::protobuf {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

/// Walks everything, sub-messages not.
void walk(const std::string& bytes) {
  for (Reader r(Bytes::own(bytes)); r.next();) r.skip();
}

Error error_of(const std::string& bytes, const std::function<void(const std::string&)>& read = walk) {
  try {
    read(bytes);
  } catch (const Error& error) {
    return error;
  }
  return Error(Code::internal, "no error");
}

TEST(WireReader, AcceptsRepeatedNumbersInBothForms) {
  // 1, then packed {2, 3}, then an empty run, then 4.
  const std::string bytes = "\x08\x01\x0A\x02\x02\x03\x0A\x00\x08\x04"s;
  std::vector<std::int64_t> ints;
  for (Reader r(Bytes::own(bytes)); r.next();) r.ints(ints);
  EXPECT_EQ(ints, (std::vector<std::int64_t>{1, 2, 3, 4}));

  const std::string floats_bytes = "\x0D\x00\x00\x80\x3F\x0A\x04\x00\x00\x00\x40"s;
  std::vector<float> floats;
  for (Reader r(Bytes::own(floats_bytes)); r.next();) r.floats(floats);
  EXPECT_EQ(floats, (std::vector<float>{1, 2}));
}

TEST(WireReader, AcceptsVarintsWithNeedlessZeros) {
  Reader r(Bytes::own("\x88\x80\x00\x81\x80\x80\x00"s));
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.field(), 1u);
  EXPECT_EQ(r.varint(), 1u);
  EXPECT_FALSE(r.next());
}

TEST(WireReader, BytesShareTheFile) {
  const Bytes file = Bytes::own("\x12\x07testing"s);
  Reader r(file);
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.bytes().data(), file.data() + 2);
  EXPECT_EQ(r.text().data(), file.text().data() + 2);
}

TEST(WireReader, RawFieldHasTheTag) {
  const std::string bytes =
      "\x08\x96\x01\x12\x01x\x1D\x01\x02\x03\x04\x21\x01\x02\x03\x04\x05\x06\x07\x08\x2B\x08\x01\x2C"s;
  std::vector<std::size_t> sizes;
  std::string joined;
  for (Reader r(Bytes::own(bytes)); r.next();) {
    sizes.push_back(r.raw_field().size());
    joined += r.raw_field().text();
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3, 5, 9, 4}));
  EXPECT_EQ(joined, bytes);
}

TEST(WireReader, SkipsGroupsWithAllTheyHold) {
  // group 5 { 1: varint, 2: fixed64, 3: "ab", group 6 {}, 4: fixed32 }, then field 7.
  const std::string bytes =
      "\x2B\x08\x80\x01\x11\x2C\x2C\x2C\x2C\x2C\x2C\x2C\x2C\x1A\x02\x2C\x2C\x33\x34\x25\x2C\x2C\x2C\x2C\x2C\x38\x09"s;
  Reader r(Bytes::own(bytes));
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.type(), WireType::start_group);
  EXPECT_EQ(r.field(), 5u);
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.field(), 7u);
  EXPECT_EQ(r.varint(), 9u);
  EXPECT_FALSE(r.next());
}

TEST(WireReader, OffsetsAreThoseOfTheFile) {
  Reader r(Bytes::own("\x08\x01\x0A\x02\x08\x01"s), 1000);
  ASSERT_TRUE(r.next());
  EXPECT_EQ(r.offset(), 1000u);
  ASSERT_TRUE(r.next());
  Reader inner = r.message();
  ASSERT_TRUE(inner.next());
  EXPECT_EQ(inner.offset(), 1004u);
}

TEST(WireReader, Int32IsCheckedNotCut) {
  const auto read = [](std::uint64_t value) {
    Reader r(Bytes::own(serialize([&](Writer& w) { w.varint(1, value); })));
    r.next();
    return r.int32();
  };
  EXPECT_EQ(read(INT32_MAX), INT32_MAX);
  EXPECT_EQ(read(static_cast<std::uint64_t>(std::int64_t{INT32_MIN})), INT32_MIN);
  EXPECT_EQ(read(UINT32_MAX), -1) << "some writers do not extend the sign";
  EXPECT_REFUSED(Code::overflow, read((std::uint64_t{1} << 32) + 1));
  EXPECT_REFUSED(Code::overflow, read(static_cast<std::uint64_t>(std::int64_t{INT32_MIN} - 1)));
}

struct BadCase {
  const char* what;
  std::string bytes;
  Code code;
  const char* message;
};

TEST(WireReader, RefusesMalformedInput) {
  const BadCase cases[] = {
      {"tag cut off", "\x80"s, Code::truncated, "at byte 1"},
      {"no varint after its tag", "\x08"s, Code::truncated, "at byte 1"},
      {"varint cut off", "\x08\x80\x80"s, Code::truncated, "at byte 3"},
      {"fixed32 cut off", "\x0D\x01\x02\x03"s, Code::truncated, "4 bytes are needed at byte 1"},
      {"fixed64 cut off", "\x09\x01\x02\x03\x04\x05\x06\x07"s, Code::truncated, "8 bytes are needed at byte 1"},
      {"length cut off", "\x0A"s, Code::truncated, "at byte 1"},
      {"length past the end", "\x0A\x03xx"s, Code::length_beyond_end, "has 3 bytes, but its message ends after 2"},
      {"length that wraps 32 bits", "\x0A\x83\x80\x80\x80\x10xxx"s, Code::length_beyond_end, "has 4294967299 bytes"},
      {"length that wraps 64 bits", "\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01xxx"s, Code::length_beyond_end,
       "has 18446744073709551615 bytes"},
      {"eleven bytes", "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"s, Code::bad_varint, "at byte 1"},
      {"65 bits", "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"s, Code::bad_varint, "at byte 1"},
      {"endless varint", "\x08"s + std::string(1000, '\xFF'), Code::bad_varint, "at byte 1"},
      {"field number 0", "\x00\x01"s, Code::bad_field_number, "field number 0 at byte 0"},
      {"field number of 30 bits", "\x80\x80\x80\x80\x10\x01"s, Code::bad_field_number, "field number 536870912"},
      {"wire type 6", "\x0E\x01"s, Code::bad_wire_type, "wire type 6"},
      {"wire type 7", "\x0F\x01"s, Code::bad_wire_type, "wire type 7"},
      {"end without begin", "\x0C"s, Code::unmatched_group, "group 1 ends at byte 0"},
      {"begin without end", "\x0B\x08\x01"s, Code::unmatched_group, "group 1 at byte 0 does not end"},
      {"groups crossed", "\x0B\x13\x0C\x14"s, Code::unmatched_group, "group 1 ends at byte 2, but group 2 is open"},
      {"length past the end in a group", "\x0B\x12\x05x\x0C"s, Code::length_beyond_end, "has 5 bytes"},
      {"bad wire type in a group", "\x0B\x0E\x0C"s, Code::bad_wire_type, "wire type 6"},
      {"deep groups", std::string(100000, '\x0B'), Code::too_deep, "deeper than 100"},
  };
  for (const auto& [what, bytes, code, message] : cases) {
    const Error error = error_of(bytes);
    EXPECT_EQ(error.code(), code) << what << ": " << error.what();
    EXPECT_THAT(error.message(), HasSubstr(message)) << what;
  }
}

TEST(WireReader, GroupsUpToTheLimitAreSkipped) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '\x0B') + std::string(depth, '\x0C'); };
  EXPECT_NO_THROW(walk(nested(100)));
  EXPECT_EQ(error_of(nested(101)).code(), Code::too_deep);
}

TEST(WireReader, RefusesToReadAnotherWireType) {
  const std::string varint = "\x08\x01"s;
  const std::string text = "\x0A\x01x"s;
  const auto read = [](const std::string& bytes, auto&& use) {
    return error_of(bytes, [&](const std::string& b) {
      Reader r(Bytes::own(b));
      r.next();
      use(r);
    });
  };
  for (const Error& error : {
           read(text, [](Reader& r) { (void)r.varint(); }),
           read(text, [](Reader& r) { (void)r.int32(); }),
           read(text, [](Reader& r) { (void)r.boolean(); }),
           read(text, [](Reader& r) { (void)r.fixed_float(); }),
           read(varint, [](Reader& r) { (void)r.fixed_double(); }),
           read(varint, [](Reader& r) { (void)r.bytes(); }),
           read(varint, [](Reader& r) { (void)r.string(); }),
           read(varint, [](Reader& r) { (void)r.message(); }),
           read(varint,
                [](Reader& r) {
                  std::vector<float> v;
                  r.floats(v);
                }),
           read("\x0D\x01\x02\x03\x04"s,
                [](Reader& r) {
                  std::vector<double> v;
                  r.doubles(v);
                }),
           read("\x0D\x01\x02\x03\x04"s,
                [](Reader& r) {
                  std::vector<std::int64_t> v;
                  r.ints(v);
                }),
           read("\x0B\x0C"s, [](Reader& r) { (void)r.bytes(); }),
       })
    EXPECT_EQ(error.code(), Code::bad_wire_type) << error.what();
  EXPECT_STREQ(read(text, [](Reader& r) { (void)r.varint(); }).what(),
               "field 1 at byte 0 has wire type length instead of varint [IG0202]");
}

TEST(WireReader, RefusesBrokenPackedRuns) {
  const auto ints = [](const std::string& bytes) {
    std::vector<std::int64_t> out;
    for (Reader r(Bytes::own(bytes)); r.next();) r.ints(out);
  };
  const auto floats = [](const std::string& bytes) {
    std::vector<float> out;
    for (Reader r(Bytes::own(bytes)); r.next();) r.floats(out);
  };
  // The number goes on behind the end of the run, where other bytes stand.
  EXPECT_EQ(error_of("\x0A\x02\x01\x80\x08\x01"s, ints).code(), Code::truncated);
  EXPECT_EQ(error_of("\x0A\x0B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s, ints).code(), Code::bad_varint);
  EXPECT_EQ(error_of("\x0A\x05\x01\x02\x03\x04\x05"s, floats).code(), Code::truncated);
}

TEST(WireReader, LimitsNesting) {
  std::string bytes;
  for (int i = 0; i < 120; ++i) bytes = serialize([&](Writer& w) { w.string(1, bytes); });
  Reader r(Bytes::own(bytes));
  int depth = 1;
  try {
    for (; r.next(); ++depth) {
      const Reader inner = r.message();
      r = inner;
    }
    FAIL() << depth;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::too_deep);
    EXPECT_EQ(depth, kMaxDepth);
  }
}

void walk_all(Reader r) {
  while (r.next()) {
    switch (r.type()) {
      case WireType::varint:
        (void)r.int64();
        break;
      case WireType::fixed32:
        (void)r.fixed_float();
        break;
      case WireType::fixed64:
        (void)r.fixed_double();
        break;
      case WireType::length:
        if (r.field() == 2) {
          std::vector<std::int64_t> ints;
          r.ints(ints);
        } else if (r.field() == 4) {
          std::vector<double> doubles;
          r.doubles(doubles);
        } else if (r.field() == 5) {
          (void)r.string();
        } else {
          walk_all(r.message());
        }
        break;
      default:
        (void)r.raw_field();
    }
  }
}

// Under the address sanitizer this shows that no read leaves the buffer.
TEST(WireReader, EveryCutAndEveryFlippedByteEndsInAnErrorOrInTheEnd) {
  const std::vector<std::int64_t> ints = {1, 300, -5, 1 << 20};
  const std::vector<double> doubles = {1.5, -2};
  const std::string good = serialize([&](Writer& w) {
    w.int64(1, -3);
    w.message(3, [&] {
      w.packed(2, ints);
      w.packed(4, doubles);
      w.string(5, "name");
      w.message(7, [&] { w.fixed_double(1, 3.0); });
      w.raw_field(Bytes::own("\x2B\x08\x01\x1A\x02xy\x2C"s));
    });
    w.fixed_float(9, 1.0f);
  });
  int errors = 0;
  const auto run = [&](const std::string& bytes) {
    // An exact heap block, so that the sanitizer sees one byte too many.
    const Bytes block = Bytes::copy(bytes_of(bytes));
    try {
      walk_all(Reader(block));
    } catch (const Error&) {
      ++errors;
    }
  };
  run(good);
  EXPECT_EQ(errors, 0);
  for (std::size_t size = 0; size < good.size(); ++size) run(good.substr(0, size));
  EXPECT_GT(errors, 0);
  for (std::size_t i = 0; i < good.size(); ++i)
    for (int value = 0; value < 256; ++value) {
      std::string bad = good;
      bad[i] = static_cast<char>(value);
      run(bad);
    }
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string noise(random() % 40, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    run(noise);
  }
}

}  // namespace
}  // namespace ingot::formats::protobuf
