#pragma once
#include <cstddef>
#include <span>

namespace ingot {

/// Lets the whole pages of a mapped file among these bytes leave memory until somebody reads them again: for who has
/// made a copy in another form. Bytes that lie elsewhere stay as they are.
void release_pages(std::span<const std::byte> bytes);

}  // namespace ingot
