#pragma once
#include <string>
#include <string_view>

#include "ingot/base/file_descriptor.h"

namespace ingot {

/// A directory that appears whole or not at all, with the files of one model: they are written into a temporary
/// directory beside it, which commit() puts in its place. Whoever opens the model, at any moment and after a kill at
/// any moment, finds all old files or all new ones.
///
///   DirectorySet files("out/web_model", [](std::string_view entry) { return entry == "model.json"; });
///   AtomicFile model(files.path_of("model.json"));
///   ...
///   model.commit();
///   files.commit();
class DirectorySet {
 public:
  /// What is there already is replaced; refused where it is no directory, or holds an entry that is not `is_own`.
  DirectorySet(std::string path, bool (*is_own)(std::string_view entry));
  DirectorySet(const DirectorySet&) = delete;
  DirectorySet& operator=(const DirectorySet&) = delete;
  /// Without commit(): the old files stay, the new ones go.
  ~DirectorySet();

  /// Where a file of the set is written; a name with slashes makes the directories before them.
  std::string path_of(const std::string& name) const;
  void commit();

 private:
  std::string path_, temporary_;
  FileDescriptor lock_;  // held while its writer lives
  bool committed_ = false;
};

}  // namespace ingot
