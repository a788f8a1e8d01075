// The rows that several processes scored, in one file.
#include "ingot/driver/score_parts.h"

#include <filesystem>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"

namespace ingot::driver {
namespace {

namespace fs = std::filesystem;

/// Up to the first line that ends outside of quotes.
std::size_t header_size(std::string_view text) {
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') is_quoted = !is_quoted;
    if (text[i] == '\n' && !is_quoted) return i + 1;
  }
  return text.size();
}

}  // namespace

std::string part_name(const std::string& out, int part) {
  const fs::path path(out);
  return (path.parent_path() / (path.stem().string() + ".part" + std::to_string(part) + path.extension().string()))
      .string();
}

void join_parts(const std::string& out, int parts) {
  AtomicFile file(out);
  bool has_header = false;
  for (int i = 0; i < parts; ++i) {
    const std::string name = part_name(out, i);
    if (!fs::exists(name)) continue;
    const auto bytes = map_file(name);
    const std::string_view text = bytes.text();
    file.write(has_header ? text.substr(header_size(text)) : text);
    has_header = true;
  }
  file.commit();
  std::error_code none;
  for (int i = 0; i < parts; ++i) fs::remove(part_name(out, i), none);
}

}  // namespace ingot::driver
