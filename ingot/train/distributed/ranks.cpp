// Sums over ranks, and what each takes of a batch.
#include "ingot/train/ranks.h"

#include <algorithm>

namespace ingot::train {
namespace {

/// Each rank adds up one part of the numbers, for all.
template <class T> void add_parts(Ranks& ranks, std::span<T> numbers, std::span<const double> weights) {
  const auto count = static_cast<std::size_t>(ranks.count()), own = static_cast<std::size_t>(ranks.rank());
  const std::size_t each = (numbers.size() + count - 1) / count;
  std::vector<T> all(each * count), received(all.size());
  std::ranges::copy(numbers, all.begin());
  ranks.exchange(std::as_bytes(std::span(all)), std::as_writable_bytes(std::span(received)));
  for (std::size_t i = 0; i < each; ++i) {
    double sum = 0;
    for (std::size_t r = 0; r < count; ++r)
      sum += static_cast<double>(received[r * each + i]) * (weights.empty() ? 1 : weights[r]);
    all[own * each + i] = static_cast<T>(sum);
  }
  ranks.spread(std::as_writable_bytes(std::span(all)));
  std::copy_n(all.begin(), numbers.size(), numbers.begin());
}

struct Share {
  std::ptrdiff_t first, end;
  Share(std::size_t examples, std::ptrdiff_t rank, std::ptrdiff_t count)
      : first(static_cast<std::ptrdiff_t>(examples) * rank / count),
        end(static_cast<std::ptrdiff_t>(examples) * (rank + 1) / count) {}
};

}  // namespace

void Ranks::add(std::span<double> numbers, std::span<const double> weights) { add_parts(*this, numbers, weights); }
void Ranks::add(std::span<float> numbers, std::span<const double> weights) { add_parts(*this, numbers, weights); }

std::vector<std::int64_t> share_of(const std::vector<std::int64_t>& examples, const Ranks& ranks) {
  const Share share(examples.size(), ranks.rank(), ranks.count());
  return {examples.begin() + share.first, examples.begin() + share.end};
}

std::vector<double> weights_of(std::size_t examples, const Ranks& ranks) {
  std::vector<double> weights;
  for (int r = 0; r < ranks.count(); ++r) {
    const Share share(examples, r, ranks.count());
    weights.push_back(static_cast<double>(share.end - share.first) / static_cast<double>(examples));
  }
  return weights;
}

}  // namespace ingot::train
