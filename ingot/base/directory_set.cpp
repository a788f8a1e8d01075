// DirectorySet: a directory that appears whole or not at all.
#include "ingot/base/directory_set.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

FileDescriptor open_directory(const std::string& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// Temporary directories of this set whose writer is gone.
void remove_leftovers(const SplitPath& path) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path.directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!is_temporary_name(name, path.name) || !entry.is_directory(ignored)) continue;
    const FileDescriptor lock = open_directory(entry.path().string());
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), ignored);
  }
}

void require_own(const std::string& path, bool (*is_own)(std::string_view)) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) throw Error(Code::cannot_write, "cannot write: is not a directory").in_file(path);
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
    if (const std::string name = entry.path().filename().string(); !is_own(name))
      throw Error(Code::cannot_write, "the directory holds '" + name + "', which is no part of such a model")
          .hint("name a new directory, or one that holds only a model to replace")
          .in_file(path);
  if (error) throw system_error(Code::cannot_write, "cannot read the directory", path, error.value());
}

}  // namespace

DirectorySet::DirectorySet(std::string path, bool (*is_own)(std::string_view)) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  const SplitPath split = split_path(path_);
  if (split.name.empty() || split.name == "." || split.name == "..")
    throw Error(Code::cannot_write, "is not the name of a directory that could be replaced").in_file(path_);
  require_own(path_, is_own);
  remove_leftovers(split);
  for (;;) {
    std::uint32_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint32_t>(::getpid());
    temporary_ = fmt::format("{}/.{}.ingot-{:08x}.tmp", split.directory, split.name, number);
    std::error_code error;
    if (fs::create_directory(temporary_, error)) break;
    if (error) throw system_error(Code::cannot_write, "cannot create", path_, error.value());
  }
  lock_ = open_directory(temporary_);
  if (lock_) (void)::flock(lock_.get(), LOCK_EX);
}

DirectorySet::~DirectorySet() {
  std::error_code ignored;
  if (!committed_) fs::remove_all(temporary_, ignored);
}

std::string DirectorySet::path_of(const std::string& name) const {
  const fs::path path = fs::path(temporary_) / name;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw system_error(Code::cannot_write, "cannot create", path.parent_path().string(), error.value());
  return path.string();
}

void DirectorySet::commit() {
  if (lock_) (void)::fsync(lock_.get());
  int result = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE);
  if (result != 0 && errno == EEXIST) {
    // Both change places at once; what was there lies under the temporary name then.
    result = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE);
    std::error_code ignored;
    if (result == 0) fs::remove_all(temporary_, ignored);
  } else if (result != 0 && errno == EINVAL) {
    result = ::rename(temporary_.c_str(), path_.c_str());  // a file system without exchanges: an empty one goes
  }
  if (result != 0) throw system_error(Code::cannot_write, "cannot rename", path_, errno);
  committed_ = true;
  const FileDescriptor parent = open_directory(split_path(path_).directory);
  if (parent) (void)::fsync(parent.get());
}

}  // namespace ingot
