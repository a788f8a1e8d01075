#include "ingot/base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

Code code_of_mapping(const std::string& path) {
  try {
    (void)map_file(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), path);
    return error.code();
  }
  return Code{};
}

TEST(MapFile, GivesTheContent) {
  const test::TempDir dir;
  test::write_text(dir / "a", "content");
  EXPECT_EQ(map_file(dir / "a").text(), "content");
}

TEST(MapFile, DroppedPagesAreFetchedAgain) {
  const test::TempDir directory;
  std::string text(50'000, 'a');
  text[20'000] = 'b';
  test::write_text(directory / "file", text);
  const Bytes bytes = map_file(directory / "file");
  EXPECT_EQ(bytes.text(), text);
  drop_pages(bytes);
  drop_pages(bytes.slice(10, 30'000));
  const Bytes own = Bytes::own(text);  // no mapped file: must not be touched
  drop_pages(own);
  EXPECT_EQ(own.text(), text);
  drop_pages({});
  EXPECT_EQ(bytes.text(), text);
}

TEST(MapFile, EmptyFileIsEmpty) {
  const test::TempDir dir;
  test::write_text(dir / "a", "");
  EXPECT_TRUE(map_file(dir / "a").empty());
}

TEST(MapFile, StaysValidWhenTheFileIsRemovedOrReplaced) {
  const test::TempDir dir;
  test::write_text(dir / "a", "old");
  const Bytes bytes = map_file(dir / "a").slice(1, 2);
  std::filesystem::remove(dir / "a");
  test::write_text(dir / "a", "new");
  EXPECT_EQ(bytes.text(), "ld");
}

TEST(MapFile, RefusesWhatIsNoRegularFile) {
  const test::TempDir dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(code_of_mapping(dir / "pipe"), Code::not_regular_file) << "and does not wait for a writer";
  EXPECT_EQ(code_of_mapping(dir.path().string()), Code::not_regular_file);
  EXPECT_EQ(code_of_mapping("/dev/null"), Code::not_regular_file);
  EXPECT_EQ(code_of_mapping(dir / "missing"), Code::cannot_open);
}

TEST(MapFile, FollowsLinksThatTheUserNames) {
  const test::TempDir dir;
  test::write_text(dir / "a", "content");
  std::filesystem::create_symlink("a", dir / "link");
  EXPECT_EQ(map_file(dir / "link").text(), "content");
}

/// Runs `body` in a process of its own, since it changes signal handlers; its exit status.
int status_of_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    int code = 99;
    try {
      code = body();
    } catch (const std::exception&) {
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(SigbusGuard, TruncatedFileReadsAsZerosAndIsAnErrorAfterwards) {
  const test::TempDir dir;
  const std::string path = dir / "big";
  const std::size_t size = 1 << 20;
  test::write_text(path, std::string(size, 'x'));
  const int status = status_of_child([&] {
    install_sigbus_guard();
    const Bytes other = map_file(path).slice(0, 10);
    const Bytes bytes = map_file(path);
    if (mapping_was_truncated()) return 1;
    if (::truncate(path.c_str(), 4096) != 0) return 2;
    if (bytes.text()[100] != 'x') return 3;
    if (bytes.text()[5000] != 0 || bytes.text()[size - 1] != 0) return 4;
    if (!mapping_was_truncated()) return 5;
    try {
      check_mapped_files();
      return 6;
    } catch (const Error& error) {
      if (error.code() != Code::truncated_while_mapped) return 7;
    }
    check_mapped_files();  // it was said once
    return 42;
  });
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(SigbusGuard, NothingThatIsMadeOfATruncatedFileTakesTheOldFilesPlace) {
  const test::TempDir dir;
  const std::string path = dir / "big", out = dir / "out";
  test::write_text(path, std::string(1 << 20, 'x'));
  test::write_text(out, "old");
  const int status = status_of_child([&] {
    install_sigbus_guard();
    const Bytes bytes = map_file(path);
    if (::truncate(path.c_str(), 4096) != 0) return 2;
    const std::string copy(bytes.text());  // as a pass would that packs weights anew
    AtomicFile file(out);
    file.write(copy);
    try {
      file.commit();
      return 3;
    } catch (const Error& error) {
      if (error.code() != Code::truncated_while_mapped) return 4;
    }
    return 42;
  });
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 42);
  EXPECT_EQ(test::read_text(out), "old");
}

TEST(SigbusGuard, MappingsMadeLaterInFreedEntriesAreGuardedToo) {
  const test::TempDir dir;
  const std::string path = dir / "big";
  test::write_text(path, std::string(1 << 16, 'x'));
  const int status = status_of_child([&] {
    install_sigbus_guard();
    for (int i = 0; i < 100; ++i) (void)map_file(path);
    const Bytes bytes = map_file(path);
    if (::truncate(path.c_str(), 0) != 0) return 1;
    return bytes.text()[0] == 0 && mapping_was_truncated() ? 42 : 2;
  });
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST(SigbusGuard, OtherBusErrorsStillEndTheProgram) {
  const int status = status_of_child([] {
    ::signal(SIGBUS, SIG_DFL);
    install_sigbus_guard();
    ::raise(SIGBUS);
    ::raise(SIGBUS);
    return 1;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGBUS);
}

TEST(SigbusGuard, OtherBusErrorsReachTheHandlerBefore) {
  const int status = status_of_child([] {
    ::signal(SIGBUS, [](int) { ::_exit(43); });
    install_sigbus_guard();
    ::raise(SIGBUS);
    return 1;
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 43);
}

}  // namespace
}  // namespace ingot
