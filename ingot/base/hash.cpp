// The content hash XXH64, after its published specification.
#include "ingot/base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace ingot {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87u;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9u;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5u;

template <class T> T load(const std::byte* data) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

std::uint64_t mix(std::uint64_t lane, std::uint64_t input) { return std::rotl(lane + input * kPrime2, 31) * kPrime1; }

}  // namespace

void Hasher::stripe(const std::byte* data) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i] = mix(lanes_[i], load<std::uint64_t>(data + 8 * i));
}

void Hasher::update(std::span<const std::byte> bytes) {
  const auto held = static_cast<std::size_t>(total_ % kStripe);
  total_ += bytes.size();
  if (held > 0) {
    const std::size_t taken = std::min(kStripe - held, bytes.size());
    std::copy_n(bytes.begin(), taken, rest_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes = bytes.subspan(taken);
    if (held + taken < kStripe) return;
    stripe(rest_.data());
  }
  for (; bytes.size() >= kStripe; bytes = bytes.subspan(kStripe)) stripe(bytes.data());
  std::ranges::copy(bytes, rest_.begin());
}

std::uint64_t Hasher::digest() const {
  std::uint64_t hash = kPrime5;
  if (total_ >= kStripe) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) hash = (hash ^ mix(0, lane)) * kPrime1 + kPrime4;
  }
  hash += total_;
  const std::byte* data = rest_.data();
  auto left = static_cast<std::size_t>(total_ % kStripe);
  for (; left >= 8; left -= 8, data += 8)
    hash = std::rotl(hash ^ mix(0, load<std::uint64_t>(data)), 27) * kPrime1 + kPrime4;
  if (left >= 4) {
    hash = std::rotl(hash ^ load<std::uint32_t>(data) * kPrime1, 23) * kPrime2 + kPrime3;
    left -= 4, data += 4;
  }
  for (; left > 0; --left, ++data) hash = std::rotl(hash ^ static_cast<std::uint64_t>(*data) * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

std::uint64_t hash64(std::span<const std::byte> bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.digest();
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace ingot
