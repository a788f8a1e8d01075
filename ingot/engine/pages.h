#pragma once
#include <cstddef>
#include <memory>

namespace ingot::engine {

/// Memory aligned to 64 bytes, holding anything. A large block is made of large pages where the system has them: they
/// come a few hundred times faster than small ones.
std::shared_ptr<std::byte> take_pages(std::size_t bytes);

/// The same for those who own it otherwise; given back by free_pages.
std::byte* allocate_pages(std::size_t bytes);
void free_pages(std::byte* block);

}  // namespace ingot::engine
