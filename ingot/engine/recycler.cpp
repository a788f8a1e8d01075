// Blocks of memory by size, kept while they are not used.
#include "ingot/engine/recycler.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace ingot::engine {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr std::size_t kSmallest = 4096;  // what is smaller the allocator does well
constexpr std::size_t kMostPerSize = 8;

void free_block(std::byte* block) { ::operator delete(block, kAlignment); }

}  // namespace

struct Recycler::Shelf {
  ~Shelf() {
    for (auto& [size, blocks] : free)
      for (std::byte* block : blocks) free_block(block);
  }
  std::mutex mutex;
  std::map<std::size_t, std::vector<std::byte*>> free;
};

Recycler::Recycler() : shelf_(std::make_shared<Shelf>()) {}

std::shared_ptr<std::byte> Recycler::take(std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  std::byte* block = nullptr;
  if (size >= kSmallest) {
    const std::lock_guard lock(shelf_->mutex);
    const auto it = shelf_->free.find(size);
    if (it != shelf_->free.end() && !it->second.empty()) {
      block = it->second.back();
      it->second.pop_back();
    }
  }
  if (!block) block = static_cast<std::byte*>(::operator new(size, kAlignment));
  if (size < kSmallest) return {block, free_block};
  return {block, [size, weak = std::weak_ptr(shelf_)](std::byte* back) {
            const auto shelf = weak.lock();
            if (!shelf) return free_block(back);
            const std::lock_guard lock(shelf->mutex);
            auto& blocks = shelf->free[size];
            if (blocks.size() < kMostPerSize)
              blocks.push_back(back);
            else
              free_block(back);
          }};
}

}  // namespace ingot::engine
