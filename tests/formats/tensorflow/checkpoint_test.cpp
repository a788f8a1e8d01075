// Checkpoints: tables, checksums, compression, keys.
#include "ingot/formats/tensorflow/checkpoint.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/protobuf/wire_writer.h"
#include "ingot/formats/tensorflow/table_file.h"
#include "tests/formats/tensorflow/table_writer.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot::formats::tensorflow {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> span_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Snappy, UnpacksLiteralsAndCopies) {
  // "abc", then a copy of 6 bytes from 3 back: the copy reads what it writes.
  const std::string packed(
      "\x09\x08"
      "abc"
      "\x09\x03",
      7);
  EXPECT_EQ(uncompress_snappy(span_of(packed), Budget::unlimited()).text(), "abcabcabc");
}

TEST(Snappy, RefusesWhatDoesNotFit) {
  for (const std::string& bad : {std::string("\x05\x08"
                                             "abc",
                                             5),
                                 std::string("\x09\x08"
                                             "abc"
                                             "\x09\x04",
                                             7),
                                 std::string("\xff\xff\xff\xff\x0f\x00", 6),
                                 std::string("\x03\x08"
                                             "ab",
                                             4)})
    EXPECT_THROW((void)uncompress_snappy(span_of(bad), Budget::unlimited()), Error);
}

TEST(CheckpointKey, OfASliceIsOrdered) {
  EXPECT_EQ(slice_key("ab", {{0, 2}, {-1, 64}}), std::string("\x00"
                                                             "ab\x00\x01\x01\x02\x80\x82\x7f\xc0\x40",
                                                             12));
}

using protobuf::serialize;
using protobuf::Writer;

/// A table of version 1: names, shapes and types in its header, values in the entries.
std::string version_1(bool is_whole) {
  const auto slice = [&](Writer& w, std::uint32_t field) {
    w.message(field, [&] {
      w.message(1, [&] {
        if (!is_whole) w.int64(2, 1);
      });
    });
  };
  const std::string header = serialize([&](Writer& w) {
    w.message(1, [&] {
      w.message(1, [&] {
        w.string(1, "v");
        w.message(2, [&] { w.message(2, [&] { w.int64(1, 2); }); });
        w.int64(3, 1);
        slice(w, 4);
      });
    });
  });
  const std::string value = serialize([&](Writer& w) {
    w.message(2, [&] {
      w.string(1, "v");
      slice(w, 2);
      w.message(3, [&] {
        w.int64(1, 1);
        w.fixed_float(5, 1.5F);
        w.fixed_float(5, -2);
      });
    });
  });
  return test::table_of(test::table_entry("", header) + test::table_entry(std::string("\0v\0\1", 4), value) +
                        std::string(4, '\0'));
}

TEST(CheckpointOfVersion1, HoldsItsValues) {
  const Checkpoint checkpoint = Checkpoint::of(Bytes::own(version_1(true)), {}, Budget::unlimited());
  EXPECT_EQ(checkpoint.keys(), std::vector<std::string>{"v"});
  const auto value = checkpoint.read("v", Budget::unlimited());
  ASSERT_TRUE(value);
  EXPECT_EQ(value->shape.dims, std::vector<std::int64_t>{2});
  EXPECT_EQ(value->dtype, DataType::f32);
  ASSERT_EQ(value->elements.size(), 8U);
  float numbers[2];
  std::memcpy(numbers, value->elements.data(), sizeof numbers);
  EXPECT_EQ(numbers[0], 1.5F);
  EXPECT_EQ(numbers[1], -2);
}

TEST(CheckpointOfVersion1, RefusesAPartOfAnotherSizeThanItStates) {
  EXPECT_REFUSED(Code::bad_checkpoint, Checkpoint::of(Bytes::own(version_1(false)), {}, Budget::unlimited()));
}

/// A variable int32[2,3] whose columns 0 and 1 stand in one entry and column 2 in another, which may be left out. The
/// entries do not say their type.
std::string version_1_in_parts(bool is_complete) {
  const auto slice = [](Writer& w, std::uint32_t field, std::int64_t start, std::int64_t length) {
    w.message(field, [&] {
      w.message(1, [&] {});
      w.message(1, [&] {
        w.int64(1, start);
        w.int64(2, length);
      });
    });
  };
  const std::string header = serialize([&](Writer& w) {
    w.message(1, [&] {
      w.message(1, [&] {
        w.string(1, "v");
        w.message(2, [&] {
          w.message(2, [&] { w.int64(1, 2); });
          w.message(2, [&] { w.int64(1, 3); });
        });
        w.int64(3, 3);
        slice(w, 4, 0, 2);
        slice(w, 4, 2, 1);
      });
    });
  });
  const auto part = [&](std::int64_t start, std::int64_t length, const std::vector<std::int64_t>& values) {
    return serialize([&](Writer& w) {
      w.message(2, [&] {
        w.string(1, "v");
        slice(w, 2, start, length);
        w.message(3, [&] {
          for (const std::int64_t v : values) w.int64(7, v);
        });
      });
    });
  };
  std::string entries =
      test::table_entry("", header) + test::table_entry(std::string("\0v\0\1", 4), part(0, 2, {1, 2, 4, 5}));
  if (is_complete) entries += test::table_entry(std::string("\0v\0\2", 4), part(2, 1, {3, 6}));
  return test::table_of(entries + std::string(4, '\0'));
}

TEST(CheckpointOfVersion1, JoinsTheParts) {
  const Checkpoint checkpoint = Checkpoint::of(Bytes::own(version_1_in_parts(true)), {}, Budget::unlimited());
  const auto value = checkpoint.read("v", Budget::unlimited());
  ASSERT_TRUE(value);
  EXPECT_EQ(value->shape.dims, (std::vector<std::int64_t>{2, 3}));
  ASSERT_EQ(value->elements.size(), 24U);
  std::vector<std::int32_t> numbers(6);
  std::memcpy(numbers.data(), value->elements.data(), 24);
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
}

TEST(CheckpointOfVersion1, RefusesAVariableOfWhichAPartIsMissing) {
  EXPECT_REFUSED(Code::bad_checkpoint, Checkpoint::of(Bytes::own(version_1_in_parts(false)), {}, Budget::unlimited()));
}

class CheckpointFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto shared = test::shared_dir();
    if (!shared || !fs::is_directory(*shared / "corpus/savedmodel")) GTEST_SKIP() << "no corpus: set INGOT_SHARED";
    directory_ = *shared / "corpus/savedmodel/checkpoint_tf2onnx/checkpoint";
  }
  fs::path directory_;
};

TEST_F(CheckpointFile, GivesVariablesWithTheirShapes) {
  const Checkpoint checkpoint = Checkpoint::open(directory_.string(), "model", {}, Budget::unlimited());
  const std::vector<std::string> keys = checkpoint.keys();
  ASSERT_FALSE(keys.empty());
  for (const std::string& key : keys) EXPECT_TRUE(checkpoint.read(key, Budget::unlimited())) << key;
  EXPECT_FALSE(checkpoint.read("nobody", Budget::unlimited()));
}

TEST_F(CheckpointFile, NoticesEveryFlippedByteOfTheIndex) {
  const std::string index = test::read_text(directory_ / "model.index");
  const std::string data = test::read_text(directory_ / "model.data-00000-of-00001");
  std::size_t noticed = 0, tried = 0;
  for (std::size_t i = 0; i < index.size() - 48; ++i) {  // the footer's padding is not covered by a checksum
    std::string damaged = index;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    ++tried;
    try {
      (void)Checkpoint::of(Bytes::own(damaged), {Bytes::own(data)}, Budget::unlimited());
    } catch (const Error&) {
      ++noticed;
    }
  }
  // The block of meta data is never read: the only bytes that may change.
  EXPECT_GE(noticed + 16, tried);
}

TEST_F(CheckpointFile, NoticesDamagedData) {
  const std::string index = test::read_text(directory_ / "model.index");
  std::string data = test::read_text(directory_ / "model.data-00000-of-00001");
  for (char& c : data) c = static_cast<char>(c ^ 1);
  const Checkpoint checkpoint = Checkpoint::of(Bytes::own(index), {Bytes::own(data)}, Budget::unlimited());
  for (const std::string& key : checkpoint.keys())
    EXPECT_REFUSED(Code::checksum_mismatch, checkpoint.read(key, Budget::unlimited()));
}

}  // namespace
}  // namespace ingot::formats::tensorflow
