// How much memory the program took.
#include "ingot/base/peak_memory.h"

#include <cstdio>
#include <memory>

namespace ingot {

std::uint64_t peak_memory() {
  // getrusage() would count what the program that started this one held before.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> status(std::fopen("/proc/self/status", "re"), &std::fclose);
  char line[256];
  unsigned long long kib = 0;
  while (status && std::fgets(line, sizeof line, status.get()))
    if (std::sscanf(line, "VmHWM: %llu kB", &kib) == 1) break;
  return kib * 1024;
}

}  // namespace ingot
