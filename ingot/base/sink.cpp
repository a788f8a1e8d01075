// Padding for sinks.
#include "ingot/base/sink.h"

#include <algorithm>

namespace ingot {

void write_padding(Sink& sink, std::uint64_t position, std::size_t boundary) {
  static constexpr std::byte kZeros[4096] = {};
  std::size_t left = boundary == 0 ? 0 : (boundary - position % boundary) % boundary;
  while (left > 0) {
    const std::size_t size = std::min(left, sizeof(kZeros));
    sink.write(std::span(kZeros).first(size));
    left -= size;
  }
}

}  // namespace ingot
