// Stands in for libFuzzer in normal builds: feeds every input of the archives, directories and files named to the fuzz
// target.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/tar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;
using ingot::test::TarMember;

/// The inputs in a place; none in one that does not exist: a target without regressions has no directory of them.
std::vector<TarMember> inputs_in(const fs::path& place) {
  if (!fs::exists(place)) return {};
  if (place.extension() == ".tar") return ingot::test::read_tar(place);
  if (!fs::is_directory(place)) return {{place.string(), ingot::test::read_text(place)}};
  std::vector<TarMember> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(place))
    if (entry.is_regular_file()) found.push_back({entry.path().string(), ingot::test::read_text(entry.path())});
  std::ranges::sort(found, {}, &TarMember::name);
  return found;
}

}  // namespace

int main(int count, char** arguments) {
  std::string current;
  try {
    std::size_t replayed = 0;
    for (int i = 1; i < count; ++i) {
      for (const TarMember& input : inputs_in(current = arguments[i])) {
        current = std::string(arguments[i]) + ": " + input.name;
        // A copy of exactly the input's size, so that the address sanitizer sees the first byte read beyond it.
        const std::vector<std::uint8_t> exact(input.content.begin(), input.content.end());
        LLVMFuzzerTestOneInput(exact.data(), exact.size());
        ++replayed;
      }
    }
    if (!replayed) throw std::runtime_error("no inputs to replay");
    std::printf("%zu inputs replayed\n", replayed);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", current.c_str(), error.what());
    return 1;
  }
}
