// Large blocks of memory.
#include "ingot/engine/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace ingot::engine {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLarge = std::size_t{1} << 20;

}  // namespace

std::byte* allocate_pages(std::size_t bytes) {
  void* block = nullptr;
  if (::posix_memalign(&block, kAlignment, std::max<std::size_t>(bytes, 1)) != 0) throw std::bad_alloc();
  return static_cast<std::byte*>(block);
}

void free_pages(std::byte* block) { std::free(block); }

std::shared_ptr<std::byte> take_pages(std::size_t bytes) {
  std::shared_ptr<std::byte> block(allocate_pages(bytes), free_pages);
#ifdef MADV_POPULATE_WRITE
  if (bytes >= kLarge) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = (reinterpret_cast<std::uintptr_t>(block.get()) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(block.get()) + bytes) / page * page;
    // Where the system cannot, the pages come one by one.
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
  }
#endif
  return block;
}

}  // namespace ingot::engine
