#include "ingot/base/safe_path.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "ingot/base/error.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

class SafePath : public ::testing::Test {
 protected:
  SafePath() {
    fs::create_directories(dir_ / "models/sub");
    test::write_text(dir_ / "secret", "secret");
    test::write_text(dir_ / "models/data", "data");
    test::write_text(dir_ / "models/sub/deep", "deep");
    fs::create_symlink("data", dir_ / "models/link");
    fs::create_symlink("../secret", dir_ / "models/escape");
    fs::create_symlink("..", dir_ / "models/up");
    fs::create_symlink("sub", dir_ / "models/inside");
    fs::create_symlink("/etc", dir_ / "models/absolute");
    fs::create_symlink("loop", dir_ / "models/loop");
    test::write_text(dir_ / "models/twice", "twice");
    fs::create_hard_link(dir_ / "models/twice", dir_ / "models/other_name");
    EXPECT_EQ(::mkfifo((dir_ / "models/pipe").c_str(), 0600), 0);
  }

  std::string models() const { return dir_ / "models"; }

  Code refusal(std::string_view path, PathPolicy policy = {}) const {
    try {
      (void)map_beneath(models(), path, policy);
    } catch (const Error& error) {
      return error.code();
    }
    return Code{};
  }

  test::TempDir dir_;
};

TEST_F(SafePath, OpensPlainPathsBelow) {
  EXPECT_EQ(map_beneath(models(), "data").text(), "data");
  EXPECT_EQ(map_beneath(models(), "./data").text(), "data");
  EXPECT_EQ(map_beneath(models(), "sub/deep").text(), "deep");
  EXPECT_EQ(map_beneath(models(), "sub//deep").text(), "deep");
  EXPECT_EQ(map_beneath(models() + "/sub/../", "data").text(), "data") << "the directory is the user's";
}

TEST_F(SafePath, RefusesPathsThatAreNotPlain) {
  using namespace std::string_view_literals;
  EXPECT_EQ(refusal(""), Code::bad_model_path);
  EXPECT_EQ(refusal("/etc/passwd"), Code::bad_model_path);
  EXPECT_EQ(refusal(models() + "/data"), Code::bad_model_path);
  EXPECT_EQ(refusal("sub\\deep"), Code::bad_model_path);
  EXPECT_EQ(refusal("data\0x"sv), Code::bad_model_path);
  for (const PathPolicy policy : {PathPolicy{false}, PathPolicy{true}}) {
    EXPECT_EQ(refusal("..", policy), Code::outside_model_directory);
    EXPECT_EQ(refusal("../secret", policy), Code::outside_model_directory);
    EXPECT_EQ(refusal("sub/../../secret", policy), Code::outside_model_directory);
    EXPECT_EQ(refusal("sub/../data", policy), Code::outside_model_directory) << "even where it would lead back";
    EXPECT_EQ(refusal("sub/..", policy), Code::outside_model_directory);
  }
}

TEST_F(SafePath, DotsInNamesAreNotParents) {
  test::write_text(dir_ / "models/..data", "dots");
  test::write_text(dir_ / "models/a..", "dots");
  EXPECT_EQ(map_beneath(models(), "..data").text(), "dots");
  EXPECT_EQ(map_beneath(models(), "a..").text(), "dots");
}

TEST_F(SafePath, RefusesLinksInEveryComponent) {
  EXPECT_EQ(refusal("link"), Code::link_refused);
  EXPECT_EQ(refusal("escape"), Code::link_refused);
  EXPECT_EQ(refusal("up/secret"), Code::link_refused);
  EXPECT_EQ(refusal("inside/deep"), Code::link_refused);
  EXPECT_EQ(refusal("absolute/passwd"), Code::link_refused);
  EXPECT_EQ(refusal("loop"), Code::link_refused);
  EXPECT_EQ(refusal("twice"), Code::link_refused) << "a hard link";
}

TEST_F(SafePath, AllowsLinksOnRequest) {
  const PathPolicy trusted{.allow_links = true};
  EXPECT_EQ(map_beneath(models(), "link", trusted).text(), "data");
  EXPECT_EQ(map_beneath(models(), "escape", trusted).text(), "secret");
  EXPECT_EQ(map_beneath(models(), "inside/deep", trusted).text(), "deep");
  EXPECT_EQ(map_beneath(models(), "twice", trusted).text(), "twice");
  EXPECT_EQ(refusal("loop", trusted), Code::cannot_open);
}

TEST_F(SafePath, RefusesWhatIsNoRegularFile) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string socket_path = dir_ / "models/socket";
  socket_path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  for (const PathPolicy policy : {PathPolicy{false}, PathPolicy{true}}) {
    EXPECT_EQ(refusal("pipe", policy), Code::not_regular_file);
    EXPECT_EQ(refusal("sub", policy), Code::not_regular_file);
    EXPECT_EQ(refusal("sub/", policy), Code::not_regular_file);
    EXPECT_EQ(refusal(".", policy), Code::not_regular_file);
    EXPECT_EQ(refusal("socket", policy), Code::not_regular_file);
    EXPECT_EQ(refusal("missing", policy), Code::cannot_open);
    EXPECT_EQ(refusal("data/x", policy), Code::cannot_open);
    EXPECT_EQ(refusal(std::string(100000, 'x'), policy), Code::cannot_open);
  }
  ::close(listener);
}

TEST_F(SafePath, MessagesNameTheFileAndTheRemedy) {
  try {
    (void)map_beneath(models(), "link");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "the model names a file by the path 'link', which goes through a link");
    EXPECT_THAT(error.hint_text(), ::testing::HasSubstr("--allow-links"));
  }
  try {
    (void)map_beneath(models(), "missing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), models() + "/missing");
  }
}

// The way of old kernels gives the same answers as the kernel's own.
TEST_F(SafePath, StepsAgreeWithTheKernel) {
  const FileDescriptor root(::open(models().c_str(), O_PATH | O_DIRECTORY));
  ASSERT_TRUE(root);
  const auto outcome = [&](auto open, const std::string& path) -> std::string {
    const FileDescriptor file = open(root.get(), path);
    if (!file) return std::strerror(errno);
    struct stat status;
    if (::fstat(file.get(), &status) != 0) return "fstat";
    return std::to_string(status.st_ino);
  };
  if (!detail::open_beneath_by_kernel(root.get(), "data") && errno == ENOSYS)
    GTEST_SKIP() << "this kernel has no openat2, so there is nothing to compare with";
  for (const char* path : {"data",      "./data",      "sub/deep",        "sub//deep", "sub/./deep",  "link",  "escape",
                           "up/secret", "inside/deep", "absolute/passwd", "loop",      "pipe",        "sub",   "sub/",
                           ".",         "missing",     "data/x",          "missing/x", "sub/missing", "loop/x"})
    EXPECT_EQ(outcome(detail::open_beneath_by_steps, path), outcome(detail::open_beneath_by_kernel, path)) << path;
}

}  // namespace
}  // namespace ingot
