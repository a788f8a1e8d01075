// Directories that are needed for a moment.
#include "ingot/driver/work_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "ingot/base/error.h"

namespace ingot::driver {

WorkDirectory::WorkDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ingot-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw system_error(Code::cannot_write, "cannot make a directory", pattern, errno);
  path_ = pattern;
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WorkDirectory::write(const std::string& name, const std::string& content) const {
  std::ofstream out(path_ / name, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw Error(Code::cannot_write, "cannot write " + name + " to " + path_.string());
}

std::string WorkDirectory::read(const std::string& name) const {
  std::ifstream in(path_ / name, std::ios::binary);
  if (!in) throw Error(Code::cannot_read, "cannot read " + name + " from " + path_.string());
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

}  // namespace ingot::driver
