// AtomicFile: a file that appears whole or not at all.
#include "ingot/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"

namespace ingot {
namespace {

constexpr std::size_t kBufferSize = std::size_t{256} << 10;
constexpr std::size_t kLongestStem = 200;  // leaves room for the rest of the name

std::string temporary_prefix(std::string_view name) { return fmt::format(".{}.ingot-", name.substr(0, kLongestStem)); }

std::uint32_t random_number() {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) number = static_cast<std::uint32_t>(::getpid());
  return number;
}

/// A temporary file that a signal handler may have to remove.
struct Record {
  std::atomic<int> directory{-1};  // -1: the record is free; -2: somebody is filling it
  char name[256] = {};
};
std::array<Record, 16> records;
static_assert(std::atomic<int>::is_always_lock_free);

int record(int directory, const std::string& name) {
  if (name.size() >= sizeof records[0].name) return -1;
  for (std::size_t i = 0; i < records.size(); ++i) {
    int expected = -1;
    if (!records[i].directory.compare_exchange_strong(expected, -2)) continue;
    std::memcpy(records[i].name, name.c_str(), name.size() + 1);
    records[i].directory = directory;
    return static_cast<int>(i);
  }
  return -1;
}

void strike(int record) {
  if (record >= 0) records[static_cast<std::size_t>(record)].directory = -1;
}

template <class Call> int retry(Call call) {
  int result;
  do {
    result = call();
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

SplitPath split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

bool is_temporary_name(std::string_view entry, std::string_view name) {
  const std::string prefix = temporary_prefix(name);
  if (entry.size() != prefix.size() + 12 || !entry.starts_with(prefix) || !entry.ends_with(".tmp")) return false;
  return entry.substr(prefix.size(), 8).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  auto [directory, name] = split_path(path_);
  name_ = std::move(name);
  if (name_.empty() || name_ == "." || name_ == ".." || path_.find('\0') != std::string::npos)
    throw Error(Code::cannot_write, "is not the name of a file").in_file(path_);
  directory_ = FileDescriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_) throw system_error(Code::cannot_write, "cannot open the directory to write to", directory, errno);
  // Renaming onto a device or pipe would replace it.
  struct stat old;
  const bool exists = ::fstatat(directory_.get(), name_.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (!exists && errno != ENOENT) throw system_error(Code::cannot_write, "cannot write", path_, errno);
  if (exists && !S_ISREG(old.st_mode) && !S_ISLNK(old.st_mode))
    throw Error(Code::not_regular_file, "cannot write: is not a regular file").in_file(path_);
  buffer_.reserve(kBufferSize);
  open_temporary();  // nothing fails behind it: who would remove the file?
  if (exists && S_ISREG(old.st_mode)) (void)::fchmod(file_.get(), old.st_mode & 0777);
}

AtomicFile::~AtomicFile() {
  if (!file_) return;
  ::unlinkat(directory_.get(), temporary_.c_str(), 0);
  strike(record_);
}

void AtomicFile::open_temporary() {
  for (;;) {
    temporary_ = fmt::format("{}{:08x}.tmp", temporary_prefix(name_), random_number());
    FileDescriptor file(
        ::openat(directory_.get(), temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (!file && errno == EEXIST) continue;
    if (!file) throw system_error(Code::cannot_write, "cannot create", path_, errno);
    // Where locks are not supported, collect_leftovers() cannot lock either and leaves the file alone.
    (void)retry([&] { return ::flock(file.get(), LOCK_EX); });
    struct stat status;
    const bool collected = ::fstat(file.get(), &status) == 0 && status.st_nlink == 0;
    if (collected) continue;  // by another process, before we had the lock
    file_ = std::move(file);
    record_ = record(directory_.get(), temporary_);
    return;
  }
}

void remove_temporary_files() noexcept {
  for (const Record& r : records)
    if (const int directory = r.directory; directory >= 0) ::unlinkat(directory, r.name, 0);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  const bool large = bytes.size() >= kBufferSize / 2;
  if (large || buffer_.size() + bytes.size() > kBufferSize) flush();
  if (large)
    write_through(bytes);
  else
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  position_ += bytes.size();
}

void AtomicFile::align(std::size_t boundary) { write_padding(*this, position_, boundary); }

void AtomicFile::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void AtomicFile::write_through(std::span<const std::byte> bytes) {
  if (!file_) throw Error(Code::internal, "a file was written after its end").in_file(path_);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw system_error(Code::cannot_write, "cannot write", path_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit_as(const std::string& name) {
  flush();
  check_mapped_files();
  const auto check = [&](int result, std::string_view doing) {
    if (result != 0) throw system_error(Code::cannot_write, doing, path_, errno);
  };
  check(retry([&] { return ::fsync(file_.get()); }), "cannot write to the disk");
  check(::renameat(directory_.get(), temporary_.c_str(), directory_.get(), name.c_str()), "cannot rename");
  (void)file_.close();
  strike(record_);
  // Some file systems cannot sync a directory and say so by EINVAL.
  const int synced = retry([&] { return ::fsync(directory_.get()); });
  if (synced != 0 && errno != EINVAL) check(synced, "cannot write the directory to the disk");
}

}  // namespace ingot
