// Files that tests read and write.
#include "tests/support/files.h"

#include <stdlib.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ingot::test {

std::filesystem::path source_dir() { return INGOT_SOURCE_DIR; }

std::optional<std::filesystem::path> shared_dir() {
  const char* named = std::getenv("INGOT_SHARED");
  const std::filesystem::path path = named != nullptr && *named != '\0'
                                         ? std::filesystem::path(named)
                                         : source_dir().parent_path() / "shared";
  if (!std::filesystem::is_directory(path)) return std::nullopt;
  return path;
}

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "ingot-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary directory: " + name);
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || (in.peek() != std::ifstream::traits_type::eof() && !(text << in.rdbuf())))
    throw std::runtime_error("cannot read " + path.string());
  return std::move(text).str();
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace ingot::test
