// A directory appears whole or not at all.
#include "ingot/base/directory_set.h"

#include <gtest/gtest.h>

#include "ingot/base/error.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot {
namespace {

bool is_model(std::string_view entry) { return entry == "model" || entry == "data"; }

void write_set(const std::string& path, const std::string& text, bool commits = true) {
  DirectorySet files(path, is_model);
  test::write_text(files.path_of("model"), text);
  test::write_text(files.path_of("data/0"), text + "!");
  if (commits) files.commit();
}

TEST(DirectorySet, AppearsWithAllFiles) {
  const test::TempDir directory;
  write_set(directory / "out", "one");
  EXPECT_EQ(test::read_text(directory / "out/model"), "one");
  EXPECT_EQ(test::read_text(directory / "out/data/0"), "one!");
}

TEST(DirectorySet, ReplacesAnEarlierOne) {
  const test::TempDir directory;
  write_set(directory / "out/", "one");
  write_set(directory / "out", "two");
  EXPECT_EQ(test::read_text(directory / "out/model"), "two");
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory.path())) ++entries;
  EXPECT_EQ(entries, 1u) << "nothing else is left";
}

TEST(DirectorySet, LeavesTheOldOneWithoutCommit) {
  const test::TempDir directory;
  write_set(directory / "out", "one");
  write_set(directory / "out", "two", false);
  EXPECT_EQ(test::read_text(directory / "out/model"), "one");
}

TEST(DirectorySet, RefusesToReplaceWhatIsNotItsOwn) {
  const test::TempDir directory;
  std::filesystem::create_directory(directory.path() / "out");
  test::write_text(directory / "out/letter.txt", "dear");
  EXPECT_REFUSED(Code::cannot_write, DirectorySet(directory / "out", is_model));
  test::write_text(directory / "file", "");
  EXPECT_REFUSED(Code::cannot_write, DirectorySet(directory / "file", is_model));
  EXPECT_REFUSED(Code::cannot_write, DirectorySet(".", is_model));
  EXPECT_EQ(test::read_text(directory / "out/letter.txt"), "dear");
}

TEST(DirectorySet, RemovesWhatAKilledWriterLeft) {
  const test::TempDir directory;
  std::filesystem::create_directory(directory.path() / ".out.ingot-0123abcd.tmp");
  write_set(directory / "out", "one");
  EXPECT_FALSE(std::filesystem::exists(directory.path() / ".out.ingot-0123abcd.tmp"));
}

}  // namespace
}  // namespace ingot
