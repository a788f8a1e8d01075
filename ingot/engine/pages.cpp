// Large blocks of memory.
#include "ingot/engine/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace ingot::engine {
namespace {

constexpr std::size_t kAlignment = 64, kLargePage = std::size_t{2} << 20;

}  // namespace

std::byte* allocate_pages(std::size_t bytes) {
  const std::size_t alignment = bytes < kLargePage ? kAlignment : kLargePage;
  void* block = nullptr;
  if (::posix_memalign(&block, alignment, std::max<std::size_t>(bytes, 1)) != 0) throw std::bad_alloc();
  // Whole large pages only: the rest would take one for a few bytes.
  if (bytes >= kLargePage) ::madvise(block, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
  return static_cast<std::byte*>(block);
}

void free_pages(std::byte* block) { std::free(block); }

std::shared_ptr<std::byte> take_pages(std::size_t bytes) { return {allocate_pages(bytes), free_pages}; }

}  // namespace ingot::engine
