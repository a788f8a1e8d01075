// The best numbers of lanes, for the CPU that runs it: one pass keeps those that may be among them, then these are put
// in order.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/top_loops.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/top_loops.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {

/// A number of 32 bits and its place in one: the larger comes first, of equal numbers the first.
struct Packed {
  std::uint64_t bits;
  Packed(std::int32_t key, std::int64_t place)
      : bits((static_cast<std::uint64_t>(static_cast<std::uint32_t>(key) ^ 0x80000000u) << 32) |
             (0xffffffffu - static_cast<std::uint64_t>(place))) {}
  std::int32_t key() const { return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 32) ^ 0x80000000u); }
  std::int64_t place() const { return static_cast<std::int64_t>(0xffffffffu - (bits & 0xffffffffu)); }
  bool operator<(const Packed& other) const { return bits > other.bits; }
};

struct Placed {
  std::int64_t number, at;
  Placed(std::int64_t key, std::int64_t place) : number(key), at(place) {}
  std::int64_t key() const { return number; }
  std::int64_t place() const { return at; }
  bool operator<(const Placed& other) const { return number != other.number ? number > other.number : at < other.at; }
};

template <class T> using Key = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
template <class T> using Entry = std::conditional_t<sizeof(T) == 8, Placed, Packed>;

/// Signed integers in the order of the numbers: NaN is above all of them, zeros are one number.
template <class T> Key<T> key_of(T value) {
  using K = Key<T>;
  if constexpr (std::is_floating_point_v<T>) {
    const T number = value + T{0};  // -0 becomes 0
    K bits = std::bit_cast<K>(number);
    bits ^= (bits >> (8 * sizeof(K) - 1)) & std::numeric_limits<K>::max();
    return number != number ? std::numeric_limits<K>::max() : bits;
  } else if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(K)) {
    return static_cast<K>(value ^ (T{1} << (8 * sizeof(T) - 1)));
  } else {
    return static_cast<K>(value);
  }
}

/// Finds the best of some neighbouring lanes, with memory that it keeps.
template <class T> class Selection {
 public:
  Selection(std::int64_t n, std::int64_t k, std::int64_t lanes, bool is_largest)
      : n_(static_cast<std::size_t>(n)),
        k_(static_cast<std::size_t>(k)),
        capacity_((2 * k_ + kBlock) / kBlock * kBlock),
        flip_(is_largest ? 0 : -1),
        keys_(lanes > 1 ? n_ * static_cast<std::size_t>(lanes) : 0) {
    best_.reserve(std::min(capacity_, n_) + kBlock);
  }

  /// Takes in lanes side by side, whose elements are `step` apart.
  void read(const T* first, std::int64_t step, std::int64_t lanes) {
    const auto wide = static_cast<std::size_t>(lanes);
    for (std::size_t i = 0; i < n_; ++i, first += step)
      for (std::size_t j = 0; j < wide; ++j) keys_[j * n_ + i] = key_of(first[j]) ^ flip_;
  }
  /// The best k, in order, of a lane that was taken in.
  std::span<const Entry<T>> best_of(std::int64_t lane) {
    const Key<T>* keys = keys_.data() + static_cast<std::size_t>(lane) * n_;
    return select([&](std::size_t first, std::size_t) { return keys + first; });
  }
  /// Of one whose elements are neighbours.
  std::span<const Entry<T>> best_of(const T* lane) {
    std::array<Key<T>, kBlock> block;
    return select([&](std::size_t first, std::size_t n) {
      for (std::size_t j = 0; j < n; ++j) block[j] = key_of(lane[first + j]) ^ flip_;
      return block.data();
    });
  }

 private:
  static constexpr std::size_t kBlock = 64;

  /// keys_from(first, n) gives n keys of the lane.
  template <class F> std::span<const Entry<T>> select(F keys_from) {
    best_.clear();
    bool takes_all = true;  // of the first ones; later ones must be above the last of those that are kept
    for (std::size_t i = 0; i < n_; i += kBlock) {
      const std::size_t n = std::min(kBlock, n_ - i);
      const Key<T>* keys = n == kBlock ? keys_from(i, kBlock) : keys_from(i, n);
      if (!takes_all && n == kBlock && !has_above(keys)) continue;
      for (std::size_t j = 0; j < n; ++j) {
        if (!takes_all && keys[j] <= least_) continue;
        const Entry<T> entry(keys[j], static_cast<std::int64_t>(i + j));
        if (is_few() && !takes_all)
          insert(entry);
        else
          best_.push_back(entry);
      }
      if (best_.size() < capacity_) continue;
      keep_best();
      if (is_few()) std::sort(best_.begin(), best_.end());
      takes_all = false;
    }
    if (best_.size() > k_) keep_best();
    std::sort(best_.begin(), best_.end());
    return best_;
  }
  bool has_above(const Key<T>* block) const {
    bool found = false;
    for (std::size_t j = 0; j < kBlock; ++j) found |= block[j] > least_;
    return found;
  }
  /// So few that they are kept in order, and the least of them is always known.
  bool is_few() const { return k_ <= 32; }
  void insert(const Entry<T>& entry) {
    std::size_t at = k_ - 1;
    for (; at > 0 && entry < best_[at - 1]; --at) best_[at] = best_[at - 1];
    best_[at] = entry;
    least_ = best_.back().key();
  }
  void keep_best() {
    std::nth_element(best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(k_) - 1, best_.end());
    best_.erase(best_.begin() + static_cast<std::ptrdiff_t>(k_), best_.end());
    least_ = best_.back().key();
  }

  std::size_t n_, k_, capacity_;  // k is at least 1
  Key<T> flip_;                   // turns the order around
  std::vector<Key<T>> keys_;
  std::vector<Entry<T>> best_;
  Key<T> least_ = 0;
};

template <class T> void select_lanes(const TopLanes& lanes, std::int64_t begin, std::int64_t end) {
  const std::int64_t strips = lanes.strips(), wide = std::min(TopLanes::kWide, lanes.inner), k = lanes.k;
  Selection<T> selection(lanes.size, k, wide, lanes.is_largest);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t outer = i / strips, inner = i % strips * TopLanes::kWide;
    const std::int64_t count = std::min(TopLanes::kWide, lanes.inner - inner);
    const T* from = static_cast<const T*>(lanes.x) + outer * lanes.size * lanes.inner + inner;
    if (wide > 1) selection.read(from, lanes.inner, count);
    for (std::int64_t j = 0; j < count; ++j) {
      std::int64_t to = outer * k * lanes.inner + inner + j;
      for (const Entry<T>& entry : wide > 1 ? selection.best_of(j) : selection.best_of(from)) {
        static_cast<T*>(lanes.best)[to] = from[entry.place() * lanes.inner + j];
        lanes.places[to] = entry.place();
        to += lanes.inner;
      }
    }
  }
}

TopLoop find_top(DType type) {
  switch (type) {
    case DType::f32:
      return select_lanes<float>;
    case DType::f64:
      return select_lanes<double>;
    case DType::i64:
      return select_lanes<std::int64_t>;
    case DType::i32:
      return select_lanes<std::int32_t>;
    case DType::u8:
      return select_lanes<std::uint8_t>;
    case DType::i8:
      return select_lanes<std::int8_t>;
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(find_top);

}  // namespace

TopLoop top_loop(DType type) { return HWY_DYNAMIC_DISPATCH(find_top)(type); }

}  // namespace ingot::engine
#endif
