#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace ingot::test {

struct TarMember {
  std::string name, content;
};

/// The files of an uncompressed POSIX archive (ustar), in its order; a corpus of thousands of small inputs is one such
/// file. Throws std::runtime_error where the archive is damaged or holds anything but plain files.
std::vector<TarMember> read_tar(const std::filesystem::path& path);

}  // namespace ingot::test
