// NonMaxSuppression: each class by itself, the best candidates in order as far as they are asked for, each against many
// boxes at once.
#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/kernels.h"
#include "ingot/engine/kernels/overlap_loops.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/non_max_suppression.h"

namespace ingot::engine {
namespace {

/// Scores and their places as numbers of which the least is the best score, and of equal scores the first.
class Candidates {
 public:
  explicit Candidates(const ops::Suppression& s, std::int64_t k) {
    const float* scores = s.scores_of(k);
    for (std::int64_t i = 0; i < s.count; ++i)
      if (s.is_candidate(scores[i])) left_.push_back(falling(scores[i]) << 32 | static_cast<std::uint64_t>(i));
  }

  std::int64_t size() const { return std::ssize(left_); }
  /// The place of the i-th best; to be asked for in order. They are sorted a part at a time.
  std::int64_t at(std::int64_t i) {
    if (i == sorted_) sort_next();
    return static_cast<std::int64_t>(left_[static_cast<std::size_t>(i)] & 0xffffffffu);
  }

 private:
  static std::uint64_t falling(float score) {
    const auto bits = std::bit_cast<std::uint32_t>(score + 0.0f);  // -0 becomes 0
    return bits >> 31 ? bits : ~bits & 0x7fffffffu;
  }

  void sort_next() {
    const auto begin = left_.begin() + sorted_;
    sorted_ = std::min(size(), std::max<std::int64_t>(256, 4 * sorted_));
    const auto end = left_.begin() + sorted_;
    if (end != left_.end()) std::nth_element(begin, end, left_.end());
    std::sort(begin, end);
  }

  std::vector<std::uint64_t> left_;
  std::int64_t sorted_ = 0;
};

/// Boxes that were kept and have an area: no other takes another's place.
class Kept {
 public:
  bool leaves(const ops::Rectangle& box, float most_overlap) const {
    if (!(box.area() > 0)) return true;
    const BoxRows rows = {numbers_[0].data(), numbers_[1].data(), numbers_[2].data(),
                          numbers_[3].data(), numbers_[4].data(), std::ssize(numbers_[0])};
    return !meets_(rows, box.y1, box.x1, box.y2, box.x2, box.area(), most_overlap);
  }
  void add(const ops::Rectangle& box) {
    if (!(box.area() > 0)) return;
    if (count_ == numbers_[0].size())
      for (std::size_t i = 0; i < std::size(numbers_); ++i)
        numbers_[i].resize(count_ + BoxRows::kStep, i < 2 ? kInfinity : -kInfinity);
    const float fields[] = {box.y1, box.x1, box.y2, box.x2, box.area()};
    for (std::size_t i = 0; i < std::size(fields); ++i) numbers_[i][count_] = fields[i];
    ++count_;
  }

 private:
  /// A box from infinity to minus infinity meets no other.
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  OverlapLoop meets_ = overlap_loop();
  std::vector<float> numbers_[5];
  std::size_t count_ = 0;
};

/// The places of the boxes that the k-th class keeps.
std::vector<std::int64_t> kept_of(const ops::Suppression& s, std::int64_t k, const Budget& budget) {
  Candidates candidates(s, k);
  Kept kept;
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < candidates.size() && std::ssize(places) < s.most; ++i) {
    constexpr std::int64_t kPoll = 64;
    if (i % kPoll == 0) budget.poll();
    const std::int64_t place = candidates.at(i);
    const ops::Rectangle box = s.box(k, place);
    if (!kept.leaves(box, s.most_overlap)) continue;
    kept.add(box);
    places.push_back(place);
  }
  return places;
}

class NonMaxSuppression final : public PreparedNode {
 public:
  void run(ops::KernelContext& c, ThreadPool& pool) const override {
    const ops::Suppression s(c);
    if (s.count > std::numeric_limits<std::uint32_t>::max()) return ops::find(c.node)->kernel(c);
    const std::int64_t classes = s.most == 0 ? 0 : s.batch * s.classes;
    std::vector<std::vector<std::int64_t>> places(static_cast<std::size_t>(classes));
    const Budget& budget = c.host().budget();
    pool.parallel_for(classes, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) places[static_cast<std::size_t>(k)] = kept_of(s, k, budget);
    });
    std::int64_t total = 0;
    for (const auto& of_class : places) total += std::ssize(of_class);
    Array y = make_raw(c, 0, DType::i64, {total, 3});
    std::int64_t* row = y.mutable_data<std::int64_t>().data();
    for (std::int64_t k = 0; k < classes; ++k)
      for (const std::int64_t place : places[static_cast<std::size_t>(k)]) {
        *row++ = k / s.classes;
        *row++ = k % s.classes;
        *row++ = place;
      }
  }
};

}  // namespace

std::unique_ptr<PreparedNode> prepare_suppression(PrepareContext&) { return std::make_unique<NonMaxSuppression>(); }

}  // namespace ingot::engine
