// Blocks of memory by size, kept while they are not used.
#include "ingot/engine/recycler.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

#include "ingot/engine/pages.h"

namespace ingot::engine {
namespace {

constexpr std::size_t kSmallest = 4096;  // what is smaller the allocator does well

/// Four sizes per power of two: a model whose shapes change asks for many sizes, and could use none of them again.
std::size_t rounded(std::size_t bytes) {
  const std::size_t step = std::bit_floor(bytes) / 4;
  return (bytes + step - 1) / step * step;
}

}  // namespace

struct Recycler::Shelf {
  ~Shelf() { clear(); }

  void clear() {
    for (auto& [size, blocks] : free)
      for (std::byte* block : blocks) free_pages(block);
    free.clear();
    kept = 0;
  }

  /// A block that was kept, or null.
  std::byte* take(std::size_t size) {
    const std::lock_guard lock(mutex);
    lent += size;
    most_lent = std::max(most_lent, lent);
    const auto it = free.find(size);
    if (it == free.end() || it->second.empty()) return nullptr;
    std::byte* block = it->second.back();
    it->second.pop_back();
    kept -= size;
    return block;
  }

  /// What was lent could not be made.
  void forget(std::size_t size) {
    const std::lock_guard lock(mutex);
    lent -= size;
  }

  /// Keeps at most twice what was once in use: what runs with other shapes left behind is dropped.
  void give_back(std::byte* block, std::size_t size) {
    const std::lock_guard lock(mutex);
    lent -= size;
    if (kept + size > 2 * most_lent) clear();
    free[size].push_back(block);
    kept += size;
  }

  std::mutex mutex;
  std::map<std::size_t, std::vector<std::byte*>> free;
  std::size_t kept = 0, lent = 0, most_lent = 0;  // bytes
};

Recycler::Recycler() : shelf_(std::make_shared<Shelf>()) {}

std::shared_ptr<std::byte> Recycler::take(std::size_t bytes) {
  if (bytes < kSmallest) return take_pages(bytes);
  const std::size_t size = rounded(bytes);
  std::byte* block = shelf_->take(size);
  try {
    if (!block) block = allocate_pages(size);
  } catch (...) {
    shelf_->forget(size);
    throw;
  }
  return {block, [size, weak = std::weak_ptr(shelf_)](std::byte* back) {
            if (const auto shelf = weak.lock())
              shelf->give_back(back, size);
            else
              free_pages(back);
          }};
}

}  // namespace ingot::engine
