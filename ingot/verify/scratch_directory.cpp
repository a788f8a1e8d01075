// A temporary directory that nobody else can enter.
#include "ingot/verify/scratch_directory.h"

#include <stdlib.h>

#include "ingot/base/error.h"

namespace ingot::verify {

ScratchDirectory::ScratchDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ingot-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw Error(Code::cannot_write, "cannot make a directory").in_file(pattern);
  path_ = pattern;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ingot::verify
