// The first levels of a tree for many rows at once: every branch is asked for every row, and what does not matter is
// thrown away.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/top_of_tree.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/ranked_trees.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::CappedTag<std::int16_t, kRankedRows> d16;
using Ranks = hn::Vec<decltype(d16)>;

/// The way of a vector of rows. Answers are -1 where a rank is above the split, else 0.
class Way {
 public:
  HWY_INLINE Way(const TopOfTree& top, const std::int16_t* ranks) : top_(top), ranks_(ranks) {
    answers_[0] = answer<0, 0>(1);
    answers_[1] = answer<1, 0>(1);
    answers_[2] = answer<2, 0>(1);
    answers_[3] = answer<3, 0>(1);
    answers_[4] = answer<4, 0>(1);
    static_assert(kTopLevels == 5);
  }
  HWY_INLINE Ranks end() const {
    Ranks way = hn::Zero(d16);
    for (const Ranks& answer : answers_) way = hn::Sub(hn::Add(way, way), answer);
    return way;
  }

 private:
  /// What the branch of a level says that lies on the rows' way below `branch`, which is one of `Above`.
  template <int Level, int Above> HWY_INLINE Ranks answer(std::size_t branch) const {
    if constexpr (Above == Level) {
      const auto split = hn::Set(d16, static_cast<std::int16_t>(top_.splits[branch]));
      return hn::VecFromMask(d16, hn::Gt(hn::LoadU(d16, ranks_ + top_.columns[branch]), split));
    } else {
      return hn::IfThenElse(hn::MaskFromVec(answers_[Above]), answer<Level, Above + 1>(2 * branch + 1),
                            answer<Level, Above + 1>(2 * branch));
    }
  }

  const TopOfTree& top_;
  const std::int16_t* ranks_;
  Ranks answers_[kTopLevels];
};

void walk(const TopOfTree& top, const std::uint16_t* ranks, std::size_t group_size, std::size_t groups,
          std::uint16_t* ways) {
  const auto* signed_ranks = reinterpret_cast<const std::int16_t*>(ranks);
  auto* to = reinterpret_cast<std::int16_t*>(ways);
  for (std::size_t group = 0; group < groups; ++group)
    for (std::size_t row = 0; row < kRankedRows; row += hn::Lanes(d16))
      hn::StoreU(Way(top, signed_ranks + group * group_size + row).end(), d16, to + group * kRankedRows + row);
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(walk);

}  // namespace

void walk_top(const TopOfTree& top, const std::uint16_t* ranks, std::size_t group_size, std::size_t groups,
              std::uint16_t* ways) {
  HWY_DYNAMIC_DISPATCH(walk)(top, ranks, group_size, groups, ways);
}

}  // namespace ingot::engine
#endif
