#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/file_descriptor.h"
#include "ingot/base/sink.h"

namespace ingot {

/// A file that appears whole or not at all: written under a temporary name in the same directory, which commit()
/// renames when everything is on the disk. Without commit() the old file stays and the temporary one is removed.
///
/// The temporary name is `.<name>.ingot-<8 hex digits>.tmp`, and the file is locked while its writer lives, so that
/// collect_leftovers() can tell what a killed process left behind.
class AtomicFile final : public Sink {
 public:
  /// Fails if the directory is missing, or if something else than a regular file or link stands at `path`.
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() override;

  void write(std::span<const std::byte> bytes) override;
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Zeros up to the next multiple of `boundary`.
  void align(std::size_t boundary);
  std::uint64_t position() const { return position_; }
  const std::string& path() const { return path_; }

  /// Refuses if a mapped file failed since it was last asked: what was written may hold zeros instead of its bytes.
  void commit() { commit_as(name_); }
  /// Under another name in the same directory, for names that depend on the content.
  void commit_as(const std::string& name);

 private:
  void open_temporary();
  void flush();
  void write_through(std::span<const std::byte> bytes);

  std::string path_, name_, temporary_;
  FileDescriptor directory_, file_;
  std::vector<std::byte> buffer_;
  std::uint64_t position_ = 0;
  int record_ = -1;  // in the list that remove_temporary_files() reads; -1: the list is full
};

/// Removes the temporary files of this process, for a program that ends without unwinding. Safe in a signal handler.
void remove_temporary_files() noexcept;

/// The directory ("." if none is named) and the last component of a path.
struct SplitPath {
  std::string directory, name;
};
SplitPath split_path(const std::string& path);

/// Whether `entry` is named as AtomicFile names the temporary files of `name`.
bool is_temporary_name(std::string_view entry, std::string_view name);

}  // namespace ingot
