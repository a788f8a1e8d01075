// The one function that opens a path named by a model.
#include "ingot/base/safe_path.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"

namespace ingot {
namespace {

// O_NONBLOCK: a pipe must not make us wait for its writer.
constexpr int kReadFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

void check_plain(std::string_view path) {
  const auto refuse = [&](std::string_view why) {
    throw Error(Code::bad_model_path, fmt::format("the model names a file by the path '{}', which {}", path, why))
        .hint("paths in a model must be relative to its directory");
  };
  if (path.empty()) refuse("is empty");
  if (path.find('\0') != std::string_view::npos) refuse("contains a NUL character");
  if (path.find('\\') != std::string_view::npos) refuse("contains a backslash");
  if (path.front() == '/') refuse("is absolute");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (path.substr(begin, end - begin) == "..")
      throw Error(Code::outside_model_directory,
                  fmt::format("the model names a file by the path '{}', which leads outside its directory", path))
          .hint("move the file beside the model and correct the path");
    begin = end + 1;
  }
}

Error link_refused(std::string_view path, std::string_view why) {
  return Error(Code::link_refused, fmt::format("the model names a file by the path '{}', which {}", path, why))
      .hint("replace the link by the file, or pass --allow-links if you trust the directory");
}

FileDescriptor open_beneath(int directory, const std::string& relative, PathPolicy policy) {
  if (policy.allow_links) return FileDescriptor(::openat(directory, relative.c_str(), kReadFlags));
  FileDescriptor file = detail::open_beneath_by_kernel(directory, relative);
  // EPERM: sandboxes that do not know the call refuse it in this way.
  if (!file && (errno == ENOSYS || errno == EPERM)) file = detail::open_beneath_by_steps(directory, relative);
  return file;
}

}  // namespace

FileDescriptor detail::open_beneath_by_kernel(int directory, const std::string& relative) {
  open_how how = {};
  how.flags = static_cast<decltype(how.flags)>(kReadFlags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long number = -1;
  do {  // EAGAIN: something was renamed meanwhile
    number = ::syscall(SYS_openat2, directory, relative.c_str(), &how, sizeof(how));
  } while (number < 0 && errno == EAGAIN);
  return FileDescriptor(static_cast<int>(number));
}

FileDescriptor detail::open_beneath_by_steps(int directory, const std::string& relative) {
  FileDescriptor held;
  int at = directory;
  for (std::size_t begin = 0;;) {
    const std::size_t end = relative.find('/', begin);
    const std::string part = relative.substr(begin, end == std::string::npos ? end : end - begin);
    if (end == std::string::npos)
      return FileDescriptor(::openat(at, part.empty() ? "." : part.c_str(), kReadFlags | O_NOFOLLOW));
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    FileDescriptor next(::openat(at, part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (!next || ::fstat(next.get(), &status) != 0) return FileDescriptor();
    if (!S_ISDIR(status.st_mode)) {
      errno = S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
      return FileDescriptor();
    }
    held = std::move(next);
    at = held.get();
  }
}

Bytes map_beneath(const std::string& directory, std::string_view relative, PathPolicy policy) {
  check_plain(relative);
  const std::string base = directory.empty() ? "." : directory;
  const FileDescriptor root(::open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) throw system_error(Code::cannot_open, "cannot open the model's directory", base, errno);
  const std::string name(relative);
  const std::string shown = directory.empty() ? name : fmt::format("{}/{}", directory, name);
  const FileDescriptor file = open_beneath(root.get(), name, policy);
  if (!file) {
    const int error = errno;
    if (error == ELOOP && !policy.allow_links) throw link_refused(relative, "goes through a link");
    if (error == EXDEV)
      throw Error(Code::outside_model_directory,
                  fmt::format("the model names a file by the path '{}', which leads outside its directory", relative));
    if (error == ENXIO) throw Error(Code::not_regular_file, "is not a regular file").in_file(shown);
    throw system_error(Code::cannot_open, "cannot open a file that the model names", shown, error);
  }
  struct stat status;
  if (::fstat(file.get(), &status) != 0) throw system_error(Code::cannot_read, "cannot read", shown, errno);
  if (S_ISREG(status.st_mode) && status.st_nlink > 1 && !policy.allow_links)
    throw link_refused(relative, "is one of several names of its file (a hard link)");
  return map_open_file(file, shown);
}

}  // namespace ingot
