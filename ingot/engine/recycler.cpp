// Blocks of memory by size, kept while they are not used.
#include "ingot/engine/recycler.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>

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
  struct Block {
    std::byte* data = nullptr;
    std::size_t size = 0;
  };

  ~Shelf() {
    for (auto& [size, free_block] : free) free_pages(free_block.data);
  }

  /// The smallest block that was kept and is large enough, but not far too large; null if there is none. Without blocks
  /// that serve smaller needs, a network of many sizes would keep one of each.
  Block take(std::size_t size) {
    const std::lock_guard lock(mutex);
    Block block{nullptr, size};
    const auto it = free.lower_bound(size);
    if (it != free.end() && it->first <= kMostWaste * size) {
      block = {it->second.data, it->first};
      kept -= block.size;
      free.erase(it);
    }
    lent += block.size;
    most_lent = std::max(most_lent, lent);
    return block;
  }

  /// What was lent could not be made.
  void forget(std::size_t size) {
    const std::lock_guard lock(mutex);
    lent -= size;
  }

  /// Keeps at most twice what was once in use: what runs with other shapes left behind is dropped, the oldest first.
  void give_back(const Block& block) {
    const std::lock_guard lock(mutex);
    lent -= block.size;
    free.emplace(block.size, Free{block.data, ++now});
    kept += block.size;
    while (kept > 2 * most_lent) {
      const auto oldest = std::ranges::min_element(free, {}, [](const auto& entry) { return entry.second.since; });
      kept -= oldest->first;
      free_pages(oldest->second.data);
      free.erase(oldest);
    }
  }

  struct Free {
    std::byte* data;
    std::uint64_t since;
  };
  static constexpr std::size_t kMostWaste = 8;
  std::mutex mutex;
  std::multimap<std::size_t, Free> free;
  std::uint64_t now = 0;
  std::size_t kept = 0, lent = 0, most_lent = 0;  // bytes
};

Recycler::Recycler() : shelf_(std::make_shared<Shelf>()) {}

std::shared_ptr<std::byte> Recycler::take(std::size_t bytes) {
  if (bytes < kSmallest) return take_pages(bytes);
  Shelf::Block block = shelf_->take(rounded(bytes));
  try {
    if (!block.data) block.data = allocate_pages(block.size);
  } catch (...) {
    shelf_->forget(block.size);
    throw;
  }
  return {block.data, [size = block.size, weak = std::weak_ptr(shelf_)](std::byte* back) {
            if (const auto shelf = weak.lock())
              shelf->give_back({back, size});
            else
              free_pages(back);
          }};
}

}  // namespace ingot::engine
