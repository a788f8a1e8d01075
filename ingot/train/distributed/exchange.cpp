// What ranks tell each other in the middle of a step.
#include "ingot/train/distributed/exchange.h"

#include <algorithm>

namespace ingot::train {
namespace {

bool is_real(const Array& array) { return array.dtype() == DType::f32 || array.dtype() == DType::f64; }

template <class T> void put(std::span<const double> numbers, Array& array) {
  std::ranges::transform(numbers, array.mutable_data<T>().begin(), [](double v) { return static_cast<T>(v); });
}

}  // namespace

std::vector<std::int64_t> share_of(const std::vector<std::int64_t>& examples, const Ranks& ranks) {
  const auto all = std::ssize(examples), count = std::ptrdiff_t{ranks.count()}, rank = std::ptrdiff_t{ranks.rank()};
  return {examples.begin() + all * rank / count, examples.begin() + all * (rank + 1) / count};
}

void exchange(StepRunner& runner, Ranks& ranks, const TrainingGraph& gradients, double weight) {
  // In double: the order of ranks then hardly shows in sums of floats.
  std::vector<double> numbers = {runner.loss() * weight};
  for (const TrainingGraph::State& state : gradients.state) {
    const Array array = runner.state(state.name);
    if (!is_real(array)) continue;
    for (const double v : array.to_doubles()) numbers.push_back(v * weight);
  }
  ranks.add(numbers);
  runner.set_loss(numbers[0]);
  std::span<const double> rest = std::span(numbers).subspan(1);
  for (const TrainingGraph::State& state : gradients.state) {
    const Array old = runner.state(state.name);
    if (!is_real(old)) continue;
    Array made(old.dtype(), old.dims());
    const auto some = rest.first(static_cast<std::size_t>(old.size()));
    rest = rest.subspan(some.size());
    if (old.dtype() == DType::f32)
      put<float>(some, made);
    else
      put<double>(some, made);
    runner.set_state(state.name, made);
  }
}

}  // namespace ingot::train
