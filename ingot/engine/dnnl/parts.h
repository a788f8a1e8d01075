#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace ingot::engine {

/// Some of the channels of a layer's result.
struct Channels {
  std::int64_t first, count;
};

/// Channels in at most four parts, each of whole units and, but for the last, not smaller than `least`: what the
/// threads of a pool share out. The parts do not depend on the threads.
inline std::vector<Channels> parts_of(std::int64_t channels, std::int64_t unit, std::int64_t least) {
  constexpr std::int64_t kMost = 4;
  const std::int64_t count = std::clamp<std::int64_t>(channels / least, 1, kMost);
  const std::int64_t size = ((channels + count - 1) / count + unit - 1) / unit * unit;
  std::vector<Channels> parts;
  for (std::int64_t first = 0; first < channels; first += size)
    parts.push_back({first, std::min(size, channels - first)});
  return parts;
}

}  // namespace ingot::engine
