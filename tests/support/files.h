#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::test {

/// The root of the source tree; asked here only, so that compiled tests are the same in every checkout.
std::filesystem::path source_dir();

/// The directory of shared test data (official backend tests, corpora): $INGOT_SHARED, else `shared` beside the source
/// tree. Nothing if it is not there; the test then skips and says why.
std::optional<std::filesystem::path> shared_dir();

/// A directory of its own for one test, removed with all its content.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The path of `name` inside, as the library takes paths.
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// The whole file as it is; throws std::runtime_error if it cannot be read.
std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace ingot::test
