#include "ingot/base/file_set.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <random>
#include <set>
#include <thread>

#include "ingot/base/bytes.h"
#include "ingot/base/error.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

std::set<std::string> entries(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename().string());
  return names;
}

/// A "model" is the name of its data file and the hash of the content it expects there.
void write_pair(const std::string& path, const std::string& content) {
  FileSet files(path);
  files.data().write(bytes_of(content));
  const std::string name = files.finish_data();
  files.model().write(name + "\n" + hash_text(hash64(bytes_of(content))));
  files.commit();
}

/// Whether the model and its data are there and belong together.
::testing::AssertionResult loads(const std::string& path) {
  const std::string model = test::read_text(path);
  const std::size_t end = model.find('\n');
  if (end == std::string::npos) return ::testing::AssertionFailure() << "torn model: " << model;
  const fs::path data = fs::path(path).parent_path() / model.substr(0, end);
  if (!fs::exists(data)) return ::testing::AssertionFailure() << data << " is missing";
  if (hash_text(hash64(bytes_of(test::read_text(data)))) != model.substr(end + 1))
    return ::testing::AssertionFailure() << "torn data";
  return ::testing::AssertionSuccess();
}

TEST(FileSet, DataIsNamedByItsContent) {
  const test::TempDir dir;
  FileSet files(dir / "m.onnx");
  files.data().write(bytes_of("weights"));
  const std::string name = files.finish_data();
  EXPECT_EQ(name, "m.onnx-" + hash_text(hash64(bytes_of("weights"))) + ".data");
  files.model().write(name);
  files.commit();
  EXPECT_EQ(test::read_text(dir / name), "weights");
  EXPECT_EQ(entries(dir.path()), (std::set<std::string>{"m.onnx", name}));
}

TEST(FileSet, AlignmentIsPartOfTheContent) {
  const test::TempDir dir;
  FileSet files(dir / "m");
  files.data().write(bytes_of("x"));
  files.data().align(10000);
  EXPECT_EQ(files.data().position(), 10000u);
  const std::string name = files.finish_data();
  const std::string content = "x" + std::string(9999, '\0');
  EXPECT_EQ(test::read_text(dir / name), content);
  EXPECT_EQ(name, "m-" + hash_text(hash64(bytes_of(content))) + ".data");
}

TEST(FileSet, NewDataReplacesOldData) {
  const test::TempDir dir;
  write_pair(dir / "m", "one");
  write_pair(dir / "m", "two");
  EXPECT_TRUE(loads(dir / "m"));
  EXPECT_EQ(entries(dir.path()).size(), 2u);
}

TEST(FileSet, SameContentAgainIsFine) {
  const test::TempDir dir;
  write_pair(dir / "m", "one");
  write_pair(dir / "m", "one");
  EXPECT_TRUE(loads(dir / "m"));
  EXPECT_EQ(entries(dir.path()).size(), 2u);
}

TEST(FileSet, ModelWithoutDataCollectsTheDataOfTheModelBefore) {
  const test::TempDir dir;
  write_pair(dir / "m", "one");
  FileSet files(dir / "m");
  files.model().write("all in one");
  files.commit();
  EXPECT_EQ(entries(dir.path()), std::set<std::string>{"m"});
}

TEST(FileSet, WithoutCommitTheOldPairStaysAndNothingElse) {
  const test::TempDir dir;
  write_pair(dir / "m", "one");
  const auto before = entries(dir.path());
  {
    FileSet files(dir / "m");
    files.data().write(bytes_of("two"));
    files.finish_data();
    files.model().write("x");
  }
  EXPECT_EQ(entries(dir.path()), before);
  EXPECT_TRUE(loads(dir / "m"));
  {
    FileSet files(dir / "m");
    files.data().write(bytes_of("one"));  // the same as the old data
    files.finish_data();
  }
  EXPECT_EQ(entries(dir.path()), before);
  EXPECT_TRUE(loads(dir / "m"));
}

TEST(FileSet, WrongOrderIsABug) {
  const test::TempDir dir;
  FileSet files(dir / "m");
  files.data().write(bytes_of("x"));
  EXPECT_REFUSED(Code::internal, files.commit());
  files.finish_data();
  EXPECT_REFUSED(Code::internal, files.data());
}

TEST(CollectLeftovers, LeavesAloneWhatAnotherFileNames) {
  const test::TempDir dir;
  write_pair(dir / "m", "one");
  fs::copy(dir / "m", dir / "copy");  // names the same data
  write_pair(dir / "m", "two");
  EXPECT_TRUE(loads(dir / "m"));
  EXPECT_TRUE(loads(dir / "copy"));
  fs::remove(dir / "copy");
  EXPECT_EQ(collect_leftovers(dir.path().string(), "m"), 1);
  EXPECT_TRUE(loads(dir / "m"));
}

// The name may lie anywhere, also across the pieces in which a file is read.
TEST(CollectLeftovers, FindsNamesAnywhereInAFile) {
  const test::TempDir dir;
  const std::string name = "m-0123456789abcdef.data";
  for (std::size_t offset = (1 << 20) - 30; offset < (1 << 20) + 3; ++offset) {
    test::write_text(dir / name, "");
    test::write_text(dir / "other", std::string(offset, 'm') + name + std::string(100, 'x'));
    ASSERT_EQ(collect_leftovers(dir.path().string(), "m"), 0) << offset;
  }
  test::write_text(dir / "other", std::string(3 << 20, 'm') + name.substr(0, 20));
  EXPECT_EQ(collect_leftovers(dir.path().string(), "m"), 1);
}

TEST(CollectLeftovers, TouchesOnlyItsOwnNames) {
  const test::TempDir dir;
  const std::string hash = "0123456789abcdef";
  const std::set<std::string> foreign = {"m.data",
                                         "m-" + hash + ".bin",
                                         "m-" + hash,
                                         "m-0123456789ABCDEF.data",
                                         "m-" + hash + "0.data",
                                         "mm-" + hash + ".data",
                                         "m.onnx-" + hash + ".data",
                                         ".m.tmp",
                                         ".m.ingot-xyz.tmp",
                                         ".n.ingot-01234567.tmp",
                                         "m"};
  for (const std::string& name : foreign) test::write_text(dir / name, "");
  fs::create_directory(dir / ("m-" + std::string("ffffffffffffffff") + ".data"));
  fs::create_symlink("m.data", dir / "m-eeeeeeeeeeeeeeee.data");
  test::write_text(dir / ("m-" + hash + ".data"), "");
  test::write_text(dir / ".m.ingot-01234567.tmp", "");
  EXPECT_EQ(collect_leftovers(dir.path().string(), "m"), 2);
  std::set<std::string> expected = foreign;
  expected.insert("m-ffffffffffffffff.data");
  expected.insert("m-eeeeeeeeeeeeeeee.data");
  EXPECT_EQ(entries(dir.path()), expected);
}

TEST(CollectLeftovers, LeavesTheTemporaryFilesOfTheLivingAlone) {
  const test::TempDir dir;
  AtomicFile file(dir / "m");
  file.write("x");
  EXPECT_EQ(collect_leftovers(dir.path().string(), "m"), 0);
  file.commit();
  EXPECT_EQ(test::read_text(dir / "m"), "x");
}

TEST(CollectLeftovers, LeavesDataAloneWhoseModelIsAboutToBeRenamed) {
  const test::TempDir dir;
  FileSet files(dir / "m");
  files.data().write(bytes_of("x"));
  const std::string name = files.finish_data();
  EXPECT_EQ(collect_leftovers(dir.path().string(), "m"), 0);
  files.model().write(name + "\n" + hash_text(hash64(bytes_of("x"))));
  files.commit();
  EXPECT_TRUE(loads(dir / "m"));
}

TEST(CollectLeftovers, MissingDirectoryIsNothingToCollect) {
  EXPECT_EQ(collect_leftovers("/nonexistent/directory", "m"), 0);
}

TEST(FileSet, KillAtAnyMomentLeavesTheOldPairOrTheNewOne) {
  const test::TempDir dir;
  const std::string path = dir / "m";
  write_pair(path, "first");
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0;; ++i)
        write_pair(path, std::to_string(round) + std::string(static_cast<std::size_t>(i % 7) * 50000, 'x'));
    }
    ::usleep(static_cast<useconds_t>(random() % 20000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_TRUE(loads(path)) << "round " << round;
  }
  write_pair(path, "last");
  EXPECT_EQ(entries(dir.path()).size(), 2u) << "the last run has collected what the killed ones left";
}

constexpr int kNoSmallDisk = 77;

/// In a process of its own, with a disk of 1 MB: writes a small pair, then a large one, which must fail.
int fill_a_small_disk(const std::string& disk) {
  if (::geteuid() != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kNoSmallDisk;
  if (::geteuid() == 0 && ::unshare(CLONE_NEWNS) != 0) return kNoSmallDisk;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kNoSmallDisk;
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0) return kNoSmallDisk;
  const std::string path = disk + "/m";
  write_pair(path, "small");
  const auto before = entries(disk);
  try {
    write_pair(path, std::string(2 << 20, 'x'));
    return 1;
  } catch (const Error& error) {
    if (error.code() != Code::disk_full) return 2;
    if (std::string_view(error.what()).find("No space left on device") == std::string_view::npos) return 3;
  }
  if (entries(disk) != before) return 4;
  return loads(path) ? 0 : 5;
}

TEST(FileSet, FullDiskLeavesTheOldPairAndSaysSo) {
  const test::TempDir dir;
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 6;
    try {
      code = fill_a_small_disk(dir.path().string());
    } catch (const std::exception&) {
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoSmallDisk)
    GTEST_SKIP() << "a small disk cannot be mounted here (needs root or user namespaces): a full disk is not tested";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(FileSet, ManyProcessesToOneTargetLeaveAPairThatLoads) {
  const test::TempDir dir;
  const std::string path = dir / "m";
  std::vector<pid_t> children;
  for (int p = 0; p < 8; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        for (int i = 0; i < 15; ++i)
          write_pair(path, std::to_string(i % 3) + std::string(static_cast<std::size_t>(p % 4) * 1000, 'x'));
      } catch (const std::exception& e) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(loads(path));
  collect_leftovers(dir.path().string(), "m");
  EXPECT_EQ(entries(dir.path()).size(), 2u);
}

}  // namespace
}  // namespace ingot
