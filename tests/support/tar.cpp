// Uncompressed POSIX archives: a header of 512 bytes per member, its content padded to 512, zeros at the end.
#include "tests/support/tar.h"

#include <cstddef>
#include <stdexcept>
#include <string_view>

#include "tests/support/files.h"

namespace ingot::test {
namespace {

constexpr std::size_t kBlock = 512;

std::string_view text_at(std::string_view header, std::size_t begin, std::size_t size) {
  const std::string_view field = header.substr(begin, size);
  return field.substr(0, field.find('\0'));
}

std::size_t size_in(std::string_view header) {
  std::size_t size = 0;
  for (const char digit : text_at(header, 124, 12)) {
    if (digit < '0' || digit > '7') throw std::runtime_error("a size that is no octal number");
    size = size * 8 + static_cast<std::size_t>(digit - '0');
  }
  return size;
}

}  // namespace

std::vector<TarMember> read_tar(const std::filesystem::path& path) try {
  const std::string archive = read_text(path);
  std::vector<TarMember> members;
  for (std::size_t at = 0;;) {
    if (archive.size() - at < kBlock) throw std::runtime_error("no end");
    const std::string_view header = std::string_view(archive).substr(at, kBlock);
    if (header.front() == '\0') return members;
    if (text_at(header, 257, 5) != "ustar") throw std::runtime_error("no ustar header");
    if (header[156] != '0' || header[345] != '\0')
      throw std::runtime_error("a member that is no plain short-named file");
    const std::size_t size = size_in(header), padded = (size + kBlock - 1) / kBlock * kBlock;
    at += kBlock;
    if (archive.size() - at < padded) throw std::runtime_error("a member beyond the end");
    members.push_back({std::string(text_at(header, 0, 100)), archive.substr(at, size)});
    at += padded;
  }
} catch (const std::runtime_error& error) {
  throw std::runtime_error(path.string() + ": " + error.what());
}

}  // namespace ingot::test
