#include "ingot/base/atomic_file.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>

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

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const test::TempDir dir;
  AtomicFile file(dir / "a");
  file.write("content");
  EXPECT_FALSE(fs::exists(dir / "a"));
  file.commit();
  EXPECT_EQ(test::read_text(dir / "a"), "content");
  EXPECT_EQ(entries(dir.path()), std::set<std::string>{"a"});
}

TEST(AtomicFile, WithoutCommitTheOldFileStaysAndNothingElse) {
  const test::TempDir dir;
  test::write_text(dir / "a", "old");
  {
    AtomicFile file(dir / "a");
    file.write(std::string(1 << 20, 'x'));
  }
  EXPECT_EQ(test::read_text(dir / "a"), "old");
  EXPECT_EQ(entries(dir.path()), std::set<std::string>{"a"});
}

TEST(AtomicFile, PiecesOfAllSizesArriveInOrder) {
  const test::TempDir dir;
  std::string expected;
  AtomicFile file(dir / "a");
  for (std::size_t i = 0; i < 200; ++i) {
    const std::string piece((i * i * 37) % (i % 20 == 0 ? 400000 : 5000), static_cast<char>('a' + i % 26));
    file.write(piece);
    expected += piece;
    ASSERT_EQ(file.position(), expected.size());
  }
  file.commit();
  EXPECT_TRUE(test::read_text(dir / "a") == expected);
}

TEST(AtomicFile, AlignPadsWithZeros) {
  const test::TempDir dir;
  AtomicFile file(dir / "a");
  file.align(4096);
  EXPECT_EQ(file.position(), 0u);
  file.write("x");
  file.align(8);
  EXPECT_EQ(file.position(), 8u);
  file.align(8);
  EXPECT_EQ(file.position(), 8u);
  file.align(10000);
  file.align(0);
  file.align(1);
  EXPECT_EQ(file.position(), 10000u);
  file.commit();
  EXPECT_EQ(test::read_text(dir / "a"), "x" + std::string(9999, '\0'));
}

TEST(AtomicFile, KeepsThePermissionsOfTheOldFile) {
  const test::TempDir dir;
  test::write_text(dir / "a", "old");
  fs::permissions(dir / "a", fs::perms::owner_read | fs::perms::owner_write);
  AtomicFile file(dir / "a");
  file.write("new");
  file.commit();
  EXPECT_EQ(fs::status(dir / "a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AtomicFile, ReplacesALinkNotItsTarget) {
  const test::TempDir dir;
  test::write_text(dir / "target", "target");
  fs::create_symlink("target", dir / "link");
  AtomicFile file(dir / "link");
  file.write("new");
  file.commit();
  EXPECT_EQ(test::read_text(dir / "target"), "target");
  EXPECT_EQ(test::read_text(dir / "link"), "new");
  EXPECT_FALSE(fs::is_symlink(dir / "link"));
}

TEST(AtomicFile, LongNamesFit) {
  const test::TempDir dir;
  const std::string name(255, 'n');
  AtomicFile file(dir / name);
  file.write("x");
  file.commit();
  EXPECT_EQ(test::read_text(dir / name), "x");
}

TEST(AtomicFile, WritesIntoTheCurrentDirectoryAndTheRoot) {
  EXPECT_EQ(split_path("a").directory, ".");
  EXPECT_EQ(split_path("/a").directory, "/");
  EXPECT_EQ(split_path("x/y/a").directory, "x/y");
  EXPECT_EQ(split_path("x/y/a").name, "a");
}

Code code_of_opening(const std::string& path) {
  try {
    AtomicFile file(path);
  } catch (const Error& error) {
    return error.code();
  }
  return Code{};
}

TEST(AtomicFile, RefusesPathsItCannotReplace) {
  const test::TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(code_of_opening(dir / "pipe"), Code::not_regular_file);
  EXPECT_EQ(code_of_opening("/dev/null"), Code::not_regular_file);
  fs::create_directory(dir / "sub");
  EXPECT_EQ(code_of_opening(dir / "sub"), Code::not_regular_file);
  EXPECT_EQ(code_of_opening(dir / "sub/"), Code::cannot_write);
  EXPECT_EQ(code_of_opening(dir / "missing/a"), Code::cannot_write);
  EXPECT_EQ(code_of_opening(""), Code::cannot_write);
  EXPECT_EQ(code_of_opening(dir / std::string(300, 'x')), Code::cannot_write);
}

TEST(AtomicFile, WritingAfterTheEndIsABug) {
  const test::TempDir dir;
  AtomicFile file(dir / "a");
  file.commit();
  EXPECT_REFUSED(Code::internal, file.write(std::string(1 << 20, 'x')));
}

/// Writes are refused beyond `size` bytes, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t size) {
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit = {size, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_;
  void (*handler_)(int);
};

TEST(AtomicFile, FailedWritesLeaveTheOldFileAndNothingElse) {
  const test::TempDir dir;
  test::write_text(dir / "a", "old");
  for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 20}) {
    const FileSizeLimit limit(100000);
    try {
      AtomicFile file(dir / "a");
      for (int i = 0; i < 1000; ++i) file.write(std::string(piece, 'x'));
      file.commit();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::cannot_write);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("File too large"));
    }
  }
  EXPECT_EQ(test::read_text(dir / "a"), "old");
  EXPECT_EQ(entries(dir.path()), std::set<std::string>{"a"});
}

TEST(AtomicFile, TemporaryNamesAreRecognised) {
  EXPECT_TRUE(is_temporary_name(".a.onnx.ingot-0123abcd.tmp", "a.onnx"));
  EXPECT_FALSE(is_temporary_name(".a.onnx.ingot-0123abcd.tmp", "b.onnx"));
  EXPECT_FALSE(is_temporary_name(".a.onnx.ingot-0123abcg.tmp", "a.onnx"));
  EXPECT_FALSE(is_temporary_name(".a.onnx.ingot-0123abc.tmp", "a.onnx"));
  EXPECT_FALSE(is_temporary_name(".a.onnx.ingot-.tmp", "a.onnx"));
  EXPECT_FALSE(is_temporary_name("a.onnx", "a.onnx"));
  const test::TempDir dir;
  AtomicFile file(dir / "a.onnx");
  ASSERT_EQ(entries(dir.path()).size(), 1u);
  EXPECT_TRUE(is_temporary_name(*entries(dir.path()).begin(), "a.onnx"));
}

}  // namespace
}  // namespace ingot
