// HDF5 files as h5py writes them.
#include "ingot/formats/hdf5/file.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot::formats::hdf5 {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

/// The files, written once; empty: h5py is not here.
const fs::path& directory() {
  static const test::TempDir scratch;
  static const fs::path made = [] {
    const std::string script = (test::source_dir() / "tests/formats/hdf5/write_files.py").string();
    const std::string command = "/usr/bin/python3 '" + script + "' '" + scratch.path().string() + "' 2>/dev/null";
    return std::system(command.c_str()) == 0 ? scratch.path() : fs::path();
  }();
  return made;
}

class Hdf5 : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (directory().empty()) GTEST_SKIP() << "python3-h5py writes the files, and is not here";
  }
  static File open(const std::string& name) { return File(map_file((directory() / name).string())); }
};

template <class T> std::vector<T> values(const Array& array) {
  std::vector<T> all(array.data.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), array.data.data(), array.data.size());
  return all;
}

Array read(const File& file, const std::string& path) {
  const Object* found = file.find(path);
  if (!found) throw Error(Code::unknown_name, path);
  return found->read();
}

class Hdf5Forms : public Hdf5 {};
INSTANTIATE_TEST_SUITE_P(All, Hdf5Forms, testing::Values("old.h5", "new.h5", "v108.h5"));

TEST_P(Hdf5Forms, NumbersOfAllTypesAreRead) {
  const File file = open(GetParam());
  const Array plain = read(file, "plain");
  EXPECT_EQ(plain.dtype, DType::f32);
  EXPECT_THAT(plain.dims, ElementsAre(2, 3, 4));
  std::vector<float> wanted;
  for (int i = 0; i < 24; ++i) wanted.push_back(static_cast<float>(i) * 0.5F - 3);
  EXPECT_EQ(values<float>(plain), wanted);
  EXPECT_EQ(values<float>(read(file, "compact")), wanted);
  EXPECT_EQ(values<float>(read(file, "again")), wanted);
  EXPECT_THAT(values<float>(read(file, "as >f4")), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(values<std::int64_t>(read(file, "as >i8")), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(values<double>(read(file, "as <f8")), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(read(file, "as <f2").dtype, DType::f16);
  EXPECT_EQ(read(file, "as |u1").dtype, DType::u8);
  EXPECT_EQ(read(file, "as <u8").dtype, DType::u64);
  EXPECT_EQ(read(file, "bool").dtype, DType::boolean);
  EXPECT_THAT(read(file, "scalar").dims, ElementsAre());
  EXPECT_THAT(read(file, "empty").dims, ElementsAre(0, 3));
  EXPECT_EQ(read(file, "raw").dtype, DType::undefined);
  EXPECT_EQ(read(file, "raw").data.text(), "abcd");
}

TEST_P(Hdf5Forms, ChunksComeTogether) {
  const File file = open(GetParam());
  std::vector<float> wanted;
  for (int i = 0; i < 70; ++i) wanted.push_back(static_cast<float>(i));
  for (const char* name : {"chunks", "packed", "one chunk", "both grow"})
    EXPECT_EQ(values<float>(read(file, name)), wanted) << name;
  const std::vector<std::int32_t> many = values<std::int32_t>(read(file, "many chunks"));
  ASSERT_EQ(many.size(), 3000u);
  for (std::size_t i = 0; i < many.size(); ++i) ASSERT_EQ(many[i], static_cast<std::int32_t>(i));
}

TEST_P(Hdf5Forms, TextsAreRead) {
  const File file = open(GetParam());
  EXPECT_THAT(read(file, "fixed texts").strings, ElementsAre("a", "bcd", ""));
  EXPECT_THAT(read(file, "texts").strings, ElementsAre("x", "y\u00e4", ""));
  EXPECT_THAT(file.root().attribute("names")->strings, ElementsAre("conv", "dense"));
  EXPECT_EQ(file.root().attribute("text")->strings.at(0), std::string(70000, 't'));
  EXPECT_THAT(values<std::int64_t>(*file.root().attribute("number")), ElementsAre(7));
  EXPECT_EQ(file.root().attribute("absent"), nullptr);
}

TEST_P(Hdf5Forms, GroupsAndAttributesMayBeMany) {
  const File file = open(GetParam());
  const Object* many = file.find("many");
  ASSERT_EQ(many->members().size(), 700u);
  for (const int i : {0, 1, 350, 699}) {
    const Object* member = many->member("member_" + std::to_string(i));
    ASSERT_NE(member, nullptr);
    EXPECT_THAT(values<std::int64_t>(*member->attribute("index")), ElementsAre(i));
    EXPECT_EQ(file.find("noted")->attribute("note_" + std::to_string(i))->strings.at(0), "value " + std::to_string(i));
  }
  EXPECT_TRUE(file.find("a/b/kernel:0")->is_dataset());
  EXPECT_EQ(file.find("a/c"), nullptr);
}

TEST_F(Hdf5, ABlockOfTheUsersMayStandBefore) {
  EXPECT_EQ(values<float>(read(open("user_block.h5"), "plain")).at(1), -2.5F);
}

TEST_F(Hdf5, WhatLeadsElsewhereIsRefused) {
  EXPECT_REFUSED(Code::bad_hdf5, open("links.h5").find("self"));
  EXPECT_REFUSED(Code::bad_hdf5, read(open("committed.h5"), "x"));
  EXPECT_REFUSED(Code::bad_hdf5, read(open("external.h5"), "x"));
}

TEST_F(Hdf5, NoMemoryIsTakenForWhatIsNotThere) { EXPECT_REFUSED(Code::bad_hdf5, read(open("bomb.h5"), "x")); }

TEST_F(Hdf5, ACycleIsWalkedAsFarAsAsked) {
  const File file = open("cycle.h5");
  EXPECT_EQ(file.find("g/again/g/again"), &file.root());
}

TEST_F(Hdf5, DamageIsRefusedAndNothingElseHappens) {
  for (const char* name : {"old.h5", "new.h5"}) {
    const Bytes whole = map_file((directory() / name).string());
    std::vector<std::byte> bytes(whole.data(), whole.data() + whole.size());
    std::size_t refused = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 100) {
      const std::byte before = bytes[at];
      bytes[at] = ~before;
      try {
        const File file(Bytes::copy(bytes));
        for (const char* path : {"packed", "many/member_350", "noted", "texts", "both grow"})
          if (const Object* found = file.find(path); found && found->is_dataset()) found->read();
      } catch (const Error&) {
        ++refused;
      }
      bytes[at] = before;
    }
    EXPECT_GT(refused, 0u);
  }
}

TEST(Hdf5Signature, OtherFilesAreNotTaken) {
  EXPECT_FALSE(looks_like_hdf5(Bytes::own(std::string("PK\3\4"))));
  EXPECT_REFUSED(Code::bad_hdf5, File(Bytes::own(std::string("nothing"))));
}

}  // namespace
}  // namespace ingot::formats::hdf5
