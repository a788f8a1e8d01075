// Hashes of texts: FarmHash's Fingerprint64, SipHash-2-4, TensorFlow's Hash64.
#include "ingot/ops/contrib/hashes.h"

#include <bit>
#include <cstring>
#include <utility>

namespace ingot::ops {
namespace {

using U64 = std::uint64_t;

constexpr U64 kA = 0xc3a5c85c97cb3127, kB = 0xb492b66fbe98f273, kC = 0x9ae16a3b2f90404f;

/// Little-endian numbers at a place of the text.
template <class T> U64 number(const char* at) {
  T value = 0;
  std::memcpy(&value, at, sizeof value);
  static_assert(std::endian::native == std::endian::little);
  return value;
}
U64 whole(const char* at) { return number<U64>(at); }
U64 half(const char* at) { return number<std::uint32_t>(at); }
U64 turned(U64 v, int bits) { return std::rotr(v, bits); }
U64 folded(U64 v) { return v ^ v >> 47; }
U64 joined(U64 u, U64 v, U64 mul) { return folded((v ^ folded((u ^ v) * mul)) * mul) * mul; }

U64 short_text(const char* s, std::size_t n) {
  const U64 mul = kC + n * 2;
  if (n >= 8) {
    const U64 a = whole(s) + kC, b = whole(s + n - 8);
    return joined(turned(b, 37) * mul + a, (turned(a, 25) + b) * mul, mul);
  }
  if (n >= 4) return joined(n + (half(s) << 3), half(s + n - 4), mul);
  if (n == 0) return kC;
  const auto byte = [&](std::size_t i) { return static_cast<U64>(static_cast<unsigned char>(s[i])); };
  const U64 y = byte(0) + (byte(n >> 1) << 8), z = n + (byte(n - 1) << 2);
  return folded(y * kC ^ z * kA) * kC;
}

U64 text_to_32(const char* s, std::size_t n) {
  const U64 mul = kC + n * 2, a = whole(s) * kB, b = whole(s + 8);
  const U64 c = whole(s + n - 8) * mul, d = whole(s + n - 16) * kC;
  return joined(turned(a + b, 43) + turned(c, 30) + d, a + turned(b + kC, 18) + c, mul);
}

U64 text_to_64(const char* s, std::size_t n) {
  const U64 mul = kC + n * 2, a = whole(s) * kC, b = whole(s + 8);
  const U64 c = whole(s + n - 8) * mul, d = whole(s + n - 16) * kC;
  const U64 y = turned(a + b, 43) + turned(c, 30) + d;
  const U64 z = joined(y, a + turned(b + kC, 18) + c, mul);
  const U64 e = whole(s + 16) * mul, f = whole(s + 24);
  const U64 g = (y + whole(s + n - 32)) * mul, h = (z + whole(s + n - 24)) * mul;
  return joined(turned(e + f, 43) + turned(g, 30) + h, e + turned(f + a, 18) + g, mul);
}

using Pair = std::pair<U64, U64>;

Pair of_32_bytes(const char* s, U64 a, U64 b) {
  const U64 x = whole(s + 8), y = whole(s + 16), z = whole(s + 24);
  a += whole(s);
  b = turned(b + a + z, 21);
  const U64 first = a;
  a += x + y;
  b += turned(a, 44);
  return {a + z, b + first};
}

/// What is known after some blocks of 64 bytes.
struct Blocks {
  U64 x, y, z;
  Pair v{}, w{};

  void take(const char* s, U64 mul, U64 scale) {
    x = turned(x + y + v.first + whole(s + 8), 37) * mul;
    y = turned(y + v.second + whole(s + 48), 42) * mul;
    x ^= w.second * scale;
    y += v.first * scale + whole(s + 40);
    z = turned(z + w.first, 33) * mul;
    v = of_32_bytes(s, v.second * mul, x + w.first);
    w = of_32_bytes(s + 32, z + w.second, y + whole(s + 16));
    std::swap(z, x);
  }
};

U64 long_text(const char* s, std::size_t n) {
  constexpr U64 kSeed = 81;
  Blocks b{kSeed * kC + whole(s), kSeed * kB + 113, folded((kSeed * kB + 113) * kC + 113) * kC};
  const char* last = s + n - 64;
  for (std::size_t block = 0; block < (n - 1) / 64; ++block, s += 64) b.take(s, kB, 1);
  const U64 mul = kB + ((b.z & 0xff) << 1);
  b.w.first += (n - 1) & 63;
  b.v.first += b.w.first;
  b.w.first += b.v.first;
  b.take(last, mul, 9);
  return joined(joined(b.v.first, b.w.first, mul) + folded(b.y) * kA + b.z, joined(b.v.second, b.w.second, mul) + b.x,
                mul);
}

}  // namespace

std::uint64_t fingerprint64(std::string_view text) {
  const std::size_t n = text.size();
  if (n <= 16) return short_text(text.data(), n);
  if (n <= 32) return text_to_32(text.data(), n);
  return n <= 64 ? text_to_64(text.data(), n) : long_text(text.data(), n);
}

std::uint64_t sip_hash(std::string_view text, std::uint64_t key0, std::uint64_t key1) {
  U64 v0 = key0 ^ 0x736f6d6570736575, v1 = key1 ^ 0x646f72616e646f6d;
  U64 v2 = key0 ^ 0x6c7967656e657261, v3 = key1 ^ 0x7465646279746573;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
    }
  };
  const auto take = [&](U64 word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  const std::size_t blocks = text.size() / 8;
  for (std::size_t i = 0; i < blocks; ++i) take(whole(text.data() + 8 * i));
  U64 last = static_cast<U64>(text.size()) << 56;
  for (std::size_t i = 8 * blocks; i < text.size(); ++i)
    last |= static_cast<U64>(static_cast<unsigned char>(text[i])) << 8 * (i % 8);
  take(last);
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

std::uint64_t hash64(std::string_view text, bool mixes_empty_tail) {
  constexpr U64 kMul = 0xc6a4a7935bd1e995;
  U64 h = 0xDECAFCAFFE ^ text.size() * kMul;
  const std::size_t blocks = text.size() / 8;
  for (std::size_t i = 0; i < blocks; ++i) {
    U64 k = whole(text.data() + 8 * i) * kMul;
    k = (k ^ k >> 47) * kMul;
    h = (h ^ k) * kMul;
  }
  U64 tail = 0;
  for (std::size_t i = 8 * blocks; i < text.size(); ++i)
    tail |= static_cast<U64>(static_cast<unsigned char>(text[i])) << 8 * (i % 8);
  h ^= tail;
  if (mixes_empty_tail || text.size() % 8) h *= kMul;
  h = (h ^ h >> 47) * kMul;
  return h ^ h >> 47;
}

}  // namespace ingot::ops
