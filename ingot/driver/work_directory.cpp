// Directories that are needed for a moment.
#include "ingot/driver/work_directory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "ingot/base/error.h"

namespace ingot::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPattern = "ingot-work-XXXXXX";
constexpr std::size_t kDrawn = 6;  // letters at its end that mkdtemp draws

FileDescriptor opened(const fs::path& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_ours(const FileDescriptor& directory) {
  struct stat status;
  return ::fstat(directory.get(), &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & 0777) == 0700;
}

bool lock(const FileDescriptor& directory) { return ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0; }

/// Removes what killed processes left in the directory for temporary files.
void collect_leftovers(const fs::path& temporary) {
  std::error_code error;
  for (fs::directory_iterator it(temporary, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() != kPattern.size() || !name.starts_with(kPattern.substr(0, kPattern.size() - kDrawn))) continue;
    std::error_code ignored;
    const FileDescriptor left = opened(it->path());
    if (left && is_ours(left) && lock(left)) fs::remove_all(it->path(), ignored);
  }
}

/// Whether the name still leads to the directory: another process may have collected it before it was locked.
bool is_still_there(const fs::path& path, const FileDescriptor& directory) {
  struct stat named, open;
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(directory.get(), &open) == 0 && named.st_ino == open.st_ino &&
         named.st_dev == open.st_dev;
}

}  // namespace

WorkDirectory::WorkDirectory() {
  const fs::path temporary = fs::temp_directory_path();
  collect_leftovers(temporary);
  constexpr int kMostAttempts = 100;
  for (int i = 0; i < kMostAttempts; ++i) {
    std::string pattern = (temporary / kPattern).string();
    if (!::mkdtemp(pattern.data())) throw system_error(Code::cannot_write, "cannot make a directory", pattern, errno);
    path_ = pattern;
    lock_ = opened(path_);
    // Where locks are not supported, nobody collects.
    if (lock_ && (lock(lock_) ? is_still_there(path_, lock_) : errno != EWOULDBLOCK)) return;
  }
  throw Error(Code::cannot_write, "cannot lock a directory of its own").in_file(temporary.string());
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WorkDirectory::write(const std::string& name, const std::string& content) const {
  std::ofstream out(path_ / name, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw Error(Code::cannot_write, "cannot write " + name + " to " + path_.string());
}

std::string WorkDirectory::read(const std::string& name) const {
  std::ifstream in(path_ / name, std::ios::binary);
  if (!in) throw Error(Code::cannot_read, "cannot read " + name + " from " + path_.string());
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

}  // namespace ingot::driver
