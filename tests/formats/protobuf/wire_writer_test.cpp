#include "ingot/formats/protobuf/wire_writer.h"

#include <functional>

#include "ingot/base/error.h"
#include "ingot/formats/protobuf/wire_reader.h"
#include "tests/support/refusal.h"

namespace ingot::formats::protobuf {
namespace {

/// Counts, and notes where large pieces came from.
class CountingSink : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override {
    total += bytes.size();
    if (bytes.size() > 1 << 20) large.push_back(bytes.data());
  }
  std::uint64_t total = 0;
  std::vector<const std::byte*> large;
};

TEST(WireWriter, MeasuresWhatItWrites) {
  const std::string big(100000, 'x');
  const auto fill = [&](Writer& w) {
    for (int i = 0; i < 1000; ++i)
      w.message(1, [&] {
        w.int64(2, i * 1000003);
        w.message(3, [&] { w.string(4, std::string(static_cast<std::size_t>(i), 'y')); });
      });
    w.string(9, big);
  };
  EXPECT_EQ(serialize(fill).size(), message_size(fill));
}

TEST(WireWriter, WhatItWritesIsReadBack) {
  const std::string big(200000, 'z');
  const std::string bytes = serialize([&](Writer& w) {
    for (int i = 0; i < 300; ++i)
      w.message(1, [&] { w.int64(1, i), w.string(2, big.substr(0, static_cast<std::size_t>(i) * 500)); });
  });
  int count = 0;
  for (Reader r(Bytes::own(bytes)); r.next(); ++count) {
    Reader inner = r.message();
    ASSERT_TRUE(inner.next());
    ASSERT_EQ(inner.int64(), count);
    ASSERT_TRUE(inner.next());
    ASSERT_EQ(inner.text().size(), static_cast<std::size_t>(count) * 500);
  }
  EXPECT_EQ(count, 300);
}

TEST(WireWriter, LargeBytesGoStraightToTheSink) {
  const Bytes data = Bytes::own(std::string(3 << 20, 'x'));
  CountingSink sink;
  write_message(sink, [&](Writer& w) { w.message(1, [&] { w.string(1, "name"), w.bytes(9, data); }); });
  EXPECT_EQ(sink.large, std::vector<const std::byte*>{data.data()});
}

// 6 GiB in one field, never materialised: lengths beyond 32 bits come out right.
TEST(WireWriter, LengthsBeyondFourGigabytes) {
  const std::vector<std::byte> chunk(1 << 20);
  const std::uint64_t chunks = 6 * 1024;
  CountingSink sink;
  const auto fill = [&](Writer& w) {
    w.message(1, [&] {
      for (std::uint64_t i = 0; i < chunks; ++i) w.bytes(9, chunk);
    });
  };
  write_message(sink, fill);
  const std::uint64_t inside = chunks * (chunk.size() + 1 + varint_size(chunk.size()));
  EXPECT_EQ(sink.total, inside + 1 + varint_size(inside));
  EXPECT_GT(inside, std::uint64_t{1} << 32);
}

// Each level's function runs twice in all, however deep it is.
TEST(WireWriter, LengthsAreComputedOnce) {
  int calls = 0;
  std::function<void(Writer&, int)> nest = [&](Writer& w, int depth) {
    ++calls;
    if (depth > 0) w.message(1, [&] { nest(w, depth - 1); });
  };
  (void)serialize([&](Writer& w) { nest(w, 90); });
  EXPECT_EQ(calls, 2 * 91);
}

TEST(WireWriter, NoticesAFunctionThatChangesItsMind) {
  const auto code_of = [](const std::function<void(Writer&)>& fill) {
    try {
      (void)serialize(fill);
    } catch (const Error& error) {
      return error.code();
    }
    return Code{};
  };
  int calls = 0;
  EXPECT_EQ(code_of([&](Writer& w) { w.message(1, [&] { w.string(1, ++calls == 1 ? "a" : "bb"); }); }), Code::internal);
  calls = 0;
  EXPECT_EQ(code_of([&](Writer& w) { w.string(1, ++calls == 1 ? "a" : "bb"); }), Code::internal);
  calls = 0;
  EXPECT_EQ(code_of([&](Writer& w) {
              if (++calls == 2) w.message(1, [] {});
            }),
            Code::internal);
  calls = 0;
  EXPECT_EQ(code_of([&](Writer& w) {
              if (++calls == 1) w.message(1, [] {});
            }),
            Code::internal);
}

TEST(WireWriter, RefusesNestingThatNoReaderAccepts) {
  const auto nested = [](int depth) {
    return [depth](Writer& w) {
      const std::function<void(int)> fill = [&](int left) {
        if (left > 0) w.message(1, [&] { fill(left - 1); });
      };
      fill(depth);
    };
  };
  Reader r(Bytes::own(serialize(nested(kMaxDepth - 1))));
  int depth = 0;
  while (r.next()) {
    r = r.message();
    ++depth;
  }
  EXPECT_EQ(depth, kMaxDepth - 1);
  EXPECT_REFUSED(Code::too_deep, serialize(nested(kMaxDepth)));
}

TEST(WireWriter, RawFieldsSurvive) {
  using namespace std::string_literals;
  const std::string unknown = "\x9A\x06\x02hi"s;
  const std::string bytes = serialize([&](Writer& w) {
    w.int64(1, 1);
    w.raw_field(Bytes::own(unknown));
  });
  EXPECT_EQ(bytes, "\x08\x01"s + unknown);
}

}  // namespace
}  // namespace ingot::formats::protobuf
