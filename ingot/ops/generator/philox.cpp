// Random numbers by counter: Philox4x32-10, and the uniform and normal numbers made of its words.
#include <bit>
#include <cmath>

#include "ingot/ops/generator/random.h"

namespace ingot::ops {
namespace {

std::uint64_t hash_of(const Node& node) {
  std::string_view name = node.name;
  for (std::size_t i = 0; name.empty() && i < node.output_count(); ++i)
    if (node.output(i)) name = node.output(i)->name();
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : name) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3;
  }
  return hash;
}

/// In [0, 1), in steps of 2^-53.
double fraction(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t bits = std::uint64_t{high} << 32 | low;
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace

bool is_random(const Node& node) {
  return node.op.starts_with("Random") || node.is("Bernoulli") || node.is("Multinomial") || node.is("Dropout");
}

Random::Random(const Node& node) {
  if (const auto* seed = node.attributes.get<float>("seed")) {
    key_ = {std::bit_cast<std::uint32_t>(*seed), 0};
    return;
  }
  const auto* seed = node.attributes.get<std::int64_t>("seed");
  const std::uint64_t key = seed ? static_cast<std::uint64_t>(*seed) : hash_of(node);
  key_ = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

Random::Random(KernelContext& c) : Random(c.node) {
  if (const auto* host = dynamic_cast<const DrawingHost*>(&c.host())) draw_ = host->draw();
}

Random::Block Random::block(std::uint64_t i) const {
  Block x = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32), static_cast<std::uint32_t>(draw_),
             static_cast<std::uint32_t>(draw_ >> 32)};
  auto key = key_;
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t p = std::uint64_t{0xD2511F53} * x[0], q = std::uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<std::uint32_t>(q >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(q),
         static_cast<std::uint32_t>(p >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(p)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return x;
}

double Random::uniform(std::uint64_t i, int digits) const {
  const Block x = block(i);
  const double u = fraction(x[0], x[1]);
  return digits >= 53 ? u : std::ldexp(std::floor(std::ldexp(u, digits)), -digits);
}

double Random::normal(std::uint64_t i) const {
  constexpr double kTau = 6.2831853071795864769;
  const Block x = block(i);
  // 1 - u lies in (0, 1], so that its logarithm exists.
  const double radius = std::sqrt(-2 * std::log1p(-fraction(x[0], x[1])));
  return radius * std::cos(kTau * fraction(x[2], x[3]));
}

}  // namespace ingot::ops
