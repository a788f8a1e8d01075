// Whether anything but Ingot itself may be started.
#include "ingot/driver/other_programs.h"

#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>

#include "ingot/base/error.h"

namespace ingot::driver {
namespace {

std::atomic<bool> are_forbidden = false;

}  // namespace

void forbid_other_programs() { are_forbidden = true; }

void require_other_programs(std::string_view what) {
  if (are_forbidden)
    throw Error(Code::bad_usage, std::string(what) + " is not started: other programs are off under --untrusted")
        .hint("without --untrusted it runs with all your rights");
}

void* open_library(const std::string& path) {
  require_other_programs("the library '" + path + "'");
  std::error_code none;
  // Opening a pipe would wait for whoever writes to it.
  if (!std::filesystem::is_regular_file(path, none))
    throw Error(Code::cannot_open, "there is no library, or it is no regular file").in_file(path);
  // A name without a slash would be looked up elsewhere.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error(Code::cannot_open, std::string("the library cannot be loaded: ") + ::dlerror()).in_file(path);
  return library;
}

}  // namespace ingot::driver
