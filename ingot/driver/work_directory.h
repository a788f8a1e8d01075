#pragma once
#include <filesystem>
#include <string>

#include "ingot/base/file_descriptor.h"

namespace ingot::driver {

/// A directory of our own, which nobody else can enter, for files that are needed for a moment; it goes with this object.
/// It is locked while its owner lives, so that those of killed processes are told apart: the next one that makes such a
/// directory removes them.
class WorkDirectory {
 public:
  WorkDirectory();
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;
};

}  // namespace ingot::driver
