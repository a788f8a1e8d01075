#pragma once
#include <string>
#include <string_view>

#include "ingot/base/bytes.h"
#include "ingot/base/file_descriptor.h"

namespace ingot {

struct PathPolicy {
  /// Symbolic links, also those that lead outside, and files with several names. For directories that the user trusts,
  /// as the caches of model hubs.
  bool allow_links = false;
};

/// Maps a file that a model names: the only way to one. `relative` must be a plain path below `directory` (the model's;
/// "" is the current one): absolute paths, "..", backslashes and NUL are refused, and so is whatever is not a regular
/// file. Without policy.allow_links no component may be a link and the file must have one name only.
Bytes map_beneath(const std::string& directory, std::string_view relative, PathPolicy policy = {});

namespace detail {

/// Opens below an open directory without following links; -1 with errno ELOOP at a link. The first asks the kernel
/// (ENOSYS where it is too old), the second goes component by component.
FileDescriptor open_beneath_by_kernel(int directory, const std::string& relative);
FileDescriptor open_beneath_by_steps(int directory, const std::string& relative);

}  // namespace detail
}  // namespace ingot
