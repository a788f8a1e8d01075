// Zeros in place of bytes that are not there.
#include "ingot/base/zero_pages.h"

#include <sys/mman.h>

#include "ingot/base/error.h"

namespace ingot {

Bytes zero_pages(std::size_t size) {
  if (size == 0) return {};
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw Error(Code::out_of_memory, "a tensor would be larger than any memory");
  const auto unmap = [size](void* mapped) { ::munmap(mapped, size); };
  return Bytes(std::shared_ptr<void>(address, unmap), static_cast<const std::byte*>(address), size);
}

}  // namespace ingot
