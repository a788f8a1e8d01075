#pragma once
#include <cstddef>
#include <memory>

namespace ingot::engine {

/// Memory aligned to 64 bytes, holding anything, that will be written to the end: the pages of a large block are asked
/// for at once, which takes half the time of getting them one by one. Large pages of the system would take longer: on
/// virtual machines they are often not there yet.
std::shared_ptr<std::byte> take_pages(std::size_t bytes);

/// Memory of which parts may stay unused; given back by free_pages.
std::byte* allocate_pages(std::size_t bytes);
void free_pages(std::byte* block);

}  // namespace ingot::engine
