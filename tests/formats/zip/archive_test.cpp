// Zip archives: honest ones are read, lying ones are refused.
#include "ingot/formats/zip/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/sink.h"
#include "tests/support/refusal.h"

namespace ingot::formats::zip {
namespace {

using ::testing::HasSubstr;

void put(std::string& text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 0xff);
}

/// One member with every field free to lie.
struct Piece {
  std::string name = "a", data = "hello";
  std::uint32_t method = 0, flags = 0, size = 5;
  std::string local_name = {};
  std::string extra = {};
  std::optional<std::uint32_t> crc = {}, stored = {}, offset = {};
};

std::string deflated(const std::string& text) {
  z_stream z = {};
  deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 100, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  const std::size_t size = z.total_out;
  deflateEnd(&z);
  return out.substr(0, size);
}

std::uint32_t crc_of(const std::string& text) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

void put_head(std::string& text, const Piece& p, std::size_t extra) {
  put(text, 20, 2);
  put(text, p.flags, 2);
  put(text, p.method, 2);
  put(text, 0, 4);
  put(text, p.crc.value_or(crc_of(p.data)), 4);
  put(text, p.stored.value_or(static_cast<std::uint32_t>(p.data.size())), 4);
  put(text, p.size, 4);
  put(text, p.name.size(), 2);
  put(text, extra, 2);
}

std::string archive_of(const std::vector<Piece>& pieces) {
  std::string text, directory;
  for (const Piece& p : pieces) {
    const auto start = static_cast<std::uint32_t>(text.size());
    put(text, 0x04034b50, 4);
    put_head(text, p, 0);
    text += p.local_name.empty() ? p.name : p.local_name;
    text += p.data;
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);
    put_head(directory, p, p.extra.size());
    put(directory, 0, 2 + 2 + 2 + 4);
    put(directory, p.offset.value_or(start), 4);
    directory += p.name + p.extra;
  }
  const std::size_t at = text.size();
  text += directory;
  put(text, 0x06054b50, 4);
  put(text, 0, 4);
  put(text, pieces.size(), 2);
  put(text, pieces.size(), 2);
  put(text, directory.size(), 4);
  put(text, at, 4);
  put(text, 0, 2);
  return text;
}

std::string refusal(const std::string& text) {
  try {
    const Archive archive(Bytes::own(text));
    for (const Member& m : archive.members()) archive.read(m);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Zip, StoredMembersStayInTheFile) {
  const Bytes file = Bytes::own(archive_of({{}}));
  const Archive archive(file);
  const Member* member = archive.find("a");
  ASSERT_TRUE(member);
  const Bytes content = archive.read(*member);
  EXPECT_EQ(content.text(), "hello");
  EXPECT_EQ(content.data(), file.data() + member->offset);
  EXPECT_EQ(archive.find("b"), nullptr);
}

TEST(Zip, DeflatedMembersAreInflatedAndCharged) {
  const std::string text(100'000, 'x');
  Piece p{.name = "big", .data = deflated(text), .method = 8, .size = 100'000};
  p.crc = crc_of(text);
  const Archive archive(Bytes::own(archive_of({p})));
  Budget budget;
  {
    const Bytes content = archive.read(archive.members()[0], &budget);
    EXPECT_EQ(content.text(), text);
    EXPECT_EQ(budget.memory(), 100'000u);
  }
  EXPECT_EQ(budget.memory(), 0u);
  Budget small(Limits{.memory = 1000});
  EXPECT_REFUSED(Code::memory_limit, archive.read(archive.members()[0], &small));
}

TEST(Zip, MembersAreUnpackedInPiecesWithoutBeingInMemory) {
  std::string text;
  for (int i = 0; text.size() < 3'000'000; ++i) text += std::to_string(i * i) + ",";
  Piece p{.name = "big", .data = deflated(text), .method = 8, .size = static_cast<std::uint32_t>(text.size())};
  p.crc = crc_of(text);
  Budget small(Limits{.memory = 1000});
  StringSink sink;
  const Archive archive(Bytes::own(archive_of({p})));
  archive.unpack(archive.members()[0], sink, &small);
  EXPECT_EQ(sink.text(), text);
  p.crc = 1;
  const Archive wrong(Bytes::own(archive_of({p})));
  EXPECT_REFUSED(Code::checksum_mismatch, wrong.unpack(wrong.members()[0], sink));
  p.data.resize(p.data.size() / 2);
  const Archive cut(Bytes::own(archive_of({p})));
  EXPECT_REFUSED(Code::bad_archive, cut.unpack(cut.members()[0], sink));
}

TEST(Zip, WhatIsWrittenIsReadAgainAndIsTheSameEachTime) {
  std::vector<std::pair<std::string, Bytes>> members = {{"x", Bytes::own(std::string("content"))}, {"y/z", Bytes()}};
  StringSink first, second;
  write(members, first);
  write(members, second);
  EXPECT_EQ(first.text(), second.text());
  const Archive archive(Bytes::own(first.take()));
  ASSERT_EQ(archive.members().size(), 2u);
  EXPECT_EQ(archive.read(*archive.find("x")).text(), "content");
  EXPECT_TRUE(archive.read(*archive.find("y/z")).empty());
}

TEST(Zip, MoreThan65535MembersNeedZip64) {
  std::vector<std::pair<std::string, Bytes>> members;
  for (int i = 0; i < 70'000; ++i) members.emplace_back(std::to_string(i), Bytes());
  StringSink sink;
  write(members, sink);
  EXPECT_EQ(Archive(Bytes::own(sink.take())).members().size(), 70'000u);
}

TEST(Zip, SizesMayStandInTheZip64Field) {
  Piece p;
  p.stored = 0xffffffff;
  p.size = 0xffffffff;
  put(p.extra, 1, 2);
  put(p.extra, 16, 2);
  put(p.extra, 5, 8);
  put(p.extra, 5, 8);
  const Archive archive(Bytes::own(archive_of({p})));
  EXPECT_EQ(archive.read(archive.members()[0]).text(), "hello");
}

TEST(Zip, LiesAreRefused) {
  EXPECT_THAT(refusal(archive_of({{}, {}})), HasSubstr("twice"));
  EXPECT_THAT(refusal(archive_of({{.flags = 1}})), HasSubstr("encrypted"));
  EXPECT_THAT(refusal(archive_of({{.method = 12}})), HasSubstr("method 12"));
  EXPECT_THAT(refusal(archive_of({{.size = 6}})), HasSubstr("contradict"));
  EXPECT_THAT(refusal(archive_of({{.local_name = "b"}})), HasSubstr("contradicts"));
  Piece elsewhere;  // its entry leads to the header of 'a'
  elsewhere.name = "b";
  elsewhere.offset = 0;
  EXPECT_THAT(refusal(archive_of({{}, elsewhere})), HasSubstr("contradicts"));
  Piece beyond;
  beyond.offset = 0x7fffffff;
  EXPECT_THAT(refusal(archive_of({beyond})), HasSubstr("beyond the end"));
  Piece bomb{.data = deflated("x"), .method = 8, .size = 0xfffffff0};
  EXPECT_THAT(refusal(archive_of({bomb})), HasSubstr("more than deflate can give"));
  Piece longer{.data = deflated("hello"), .method = 8, .size = 6};
  longer.crc = crc_of("hello");
  EXPECT_THAT(refusal(archive_of({longer})), HasSubstr("damaged"));
  Piece wrong;
  wrong.crc = 1;
  EXPECT_THAT(refusal(archive_of({wrong})), HasSubstr("IG0713"));
}

TEST(Zip, MembersThatShareDataAreRefused) {
  // Both directory entries lead to one member: the heart of overlap bombs.
  Piece second;
  second.offset = 0;
  EXPECT_THAT(refusal(archive_of({{}, second})), HasSubstr("overlap"));
}

TEST(Zip, EveryTruncationIsRefused) {
  const std::string whole = archive_of({{}, {.name = "b"}});
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_NE(refusal(whole.substr(0, n)), "accepted") << n;
}

TEST(Zip, EveryFlippedByteEndsInAnErrorOrAnArchive) {
  const std::string whole = archive_of({{}, {.name = "b", .data = deflated("hello"), .method = 8}});
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const int bit : {0, 3, 7}) {
      std::string text = whole;
      text[i] = static_cast<char>(text[i] ^ (1 << bit));
      refusal(text);
    }
}

}  // namespace
}  // namespace ingot::formats::zip
