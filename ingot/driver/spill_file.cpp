// Temporary files without names.
#include "ingot/driver/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"

namespace ingot::driver {
namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20;

FileDescriptor open_unnamed(const std::string& directory) {
  FileDescriptor file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  std::string name = directory + "/.ingot-XXXXXX";  // a file system that knows no files without names
  file = FileDescriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) throw system_error(Code::cannot_write, "cannot make a temporary file", directory, errno);
  ::unlink(name.c_str());
  return file;
}

}  // namespace

SpillFile::SpillFile(const std::string& directory) : directory_(directory), file_(open_unnamed(directory)) {}

void SpillFile::write(std::span<const std::byte> bytes) {
  buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (buffer_.size() >= kPiece) flush();
}

void SpillFile::flush() {
  for (std::size_t at = 0; at < buffer_.size();) {
    const ssize_t written = ::write(file_.get(), buffer_.data() + at, buffer_.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw system_error(Code::cannot_write, "cannot write a temporary file", directory_, errno);
    at += static_cast<std::size_t>(written);
  }
  buffer_.clear();
}

Bytes SpillFile::contents() {
  flush();
  return map_open_file(file_, directory_);
}

void copy_to(const Bytes& bytes, Sink& sink) {
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    const Bytes piece = bytes.slice(at, std::min(kPiece, bytes.size() - at));
    sink.write(piece.span());
    drop_pages(piece);
  }
}

}  // namespace ingot::driver
