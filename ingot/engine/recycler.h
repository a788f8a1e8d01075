#pragma once
#include <cstddef>
#include <memory>

namespace ingot::engine {

/// Memory that runs of one session hand on to the next: fresh pages cost more than the work on them. Blocks are aligned
/// to 64 bytes, hold whatever was in them, and may be given back on any thread, even after the recycler is gone.
class Recycler {
 public:
  Recycler();
  std::shared_ptr<std::byte> take(std::size_t bytes);

 private:
  struct Shelf;
  std::shared_ptr<Shelf> shelf_;
};

}  // namespace ingot::engine
