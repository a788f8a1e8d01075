// Stands in for libFuzzer in normal builds: feeds every file of the directories (or files) named to the fuzz target.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs(const std::vector<fs::path>& places) {
  std::vector<fs::path> found;
  for (const fs::path& place : places) {
    if (fs::is_directory(place)) {
      for (const fs::directory_entry& entry : fs::recursive_directory_iterator(place)) {
        if (entry.is_regular_file()) found.push_back(entry.path());
      }
    } else {
      found.push_back(place);
    }
  }
  std::ranges::sort(found);
  return found;
}

void replay(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  // A copy of exactly the input's size, so that the address sanitizer sees the first byte read beyond it.
  const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

int main(int count, char** arguments) {
  fs::path current;
  try {
    const std::vector<fs::path> all = inputs({arguments + 1, arguments + count});
    if (all.empty()) throw std::runtime_error("no inputs to replay");
    for (const fs::path& path : all) replay(current = path);
    std::printf("%zu inputs replayed\n", all.size());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", current.c_str(), error.what());
    return 1;
  }
}
