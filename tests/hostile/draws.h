#pragma once
#include <cstdint>
#include <vector>

namespace ingot::test {

/// Decisions drawn from a seed, the same on every machine.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }
  /// From [0, count); 0 if that is empty.
  std::size_t below(std::size_t count) { return count ? static_cast<std::size_t>(next() % count) : 0; }
  bool coin() { return next() & 1; }
  template <class T> T& one_of(std::vector<T>& list) { return list[below(list.size())]; }
  /// A number that programs tend not to expect.
  std::int64_t odd_number() {
    constexpr std::int64_t kNumbers[] = {0,
                                         -1,
                                         1,
                                         2,
                                         3,
                                         4,
                                         5,
                                         7,
                                         16,
                                         -2,
                                         -5,
                                         100,
                                         1000,
                                         65536,
                                         1 << 20,
                                         1 << 30,
                                         INT32_MAX,
                                         INT32_MIN,
                                         INT64_MAX,
                                         INT64_MIN,
                                         (std::int64_t{1} << 32) + 1,
                                         std::int64_t{1} << 62};
    return kNumbers[below(std::size(kNumbers))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace ingot::test
