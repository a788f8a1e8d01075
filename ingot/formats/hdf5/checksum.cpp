// The two checksums of HDF5.
#include "ingot/formats/hdf5/checksum.h"

#include <array>
#include <bit>

namespace ingot::formats::hdf5 {
namespace {

using Words = std::array<std::uint32_t, 3>;

std::uint32_t byte_at(std::span<const std::byte> data, std::size_t i) { return static_cast<std::uint32_t>(data[i]); }

/// Adds up to twelve bytes, little-endian.
void absorb(Words& w, std::span<const std::byte> block) {
  for (std::size_t i = 0; i < block.size(); ++i) w[i / 4] += byte_at(block, i) << (8 * (i % 4));
}

void mix(Words& w) {
  auto& [a, b, c] = w;
  const auto step = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t& z, int turn) {
    x -= z;
    x ^= std::rotl(z, turn);
    z += y;
  };
  step(a, b, c, 4);
  step(b, c, a, 6);
  step(c, a, b, 8);
  step(a, b, c, 16);
  step(b, c, a, 19);
  step(c, a, b, 4);
}

void finish(Words& w) {
  auto& [a, b, c] = w;
  const auto step = [](std::uint32_t& x, std::uint32_t y, int turn) {
    x ^= y;
    x -= std::rotl(y, turn);
  };
  step(c, b, 14);
  step(a, c, 11);
  step(b, a, 25);
  step(c, b, 16);
  step(a, c, 4);
  step(b, a, 14);
  step(c, b, 24);
}

}  // namespace

std::uint32_t metadata_checksum(std::span<const std::byte> data) {
  Words w;
  w.fill(0xdeadbeefU + static_cast<std::uint32_t>(data.size()));
  while (data.size() > 12) {
    absorb(w, data.first(12));
    mix(w);
    data = data.subspan(12);
  }
  if (data.empty()) return w[2];
  absorb(w, data);
  finish(w);
  return w[2];
}

std::uint32_t fletcher32(std::span<const std::byte> data) {
  std::uint32_t first = 0, second = 0;
  const auto fold = [](std::uint32_t& sum) { sum = (sum & 0xffff) + (sum >> 16); };
  const std::size_t words = data.size() / 2;
  for (std::size_t i = 0; i < words; ++i) {
    first += (byte_at(data, 2 * i) << 8) | byte_at(data, 2 * i + 1);
    second += first;
    if (i % 360 == 359 || i + 1 == words) {
      fold(first);
      fold(second);
    }
  }
  if (data.size() % 2) {
    first += byte_at(data, data.size() - 1) << 8;
    second += first;
    fold(first);
    fold(second);
  }
  fold(first);
  fold(second);
  return (second << 16) | first;
}

}  // namespace ingot::formats::hdf5
