// What recurrent layers of floats share: their functions, and batches of sequences of different lengths.
#include "ingot/engine/kernels/recurrent.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "ingot/ops/rnn/activation.h"

namespace ingot::engine {
namespace {

std::optional<RecurrentFunction> vector_function(const ops::RecurrentActivation& f) {
  const auto a = static_cast<float>(f.alpha), b = static_cast<float>(f.beta);
  if (f.name == "sigmoid") return RecurrentFunction{Unary::sigmoid};
  if (f.name == "tanh") return RecurrentFunction{Unary::tanh};
  if (f.name == "relu") return RecurrentFunction{Unary::relu};
  if (f.name == "hardsigmoid") return RecurrentFunction{Unary::hard_sigmoid, a, b};
  if (f.name == "leakyrelu") return RecurrentFunction{Unary::leaky_relu, a};
  if (f.name == "elu") return RecurrentFunction{Unary::elu, a, 1};
  if (f.name == "softplus") return RecurrentFunction{Unary::softplus};
  return {};
}

}  // namespace

void RecurrentFunction::operator()(const float* x, float* y, std::int64_t n) const {
  if (clip != std::numeric_limits<float>::infinity()) {
    apply(Unary::clip, x, y, n, -clip, clip);
    x = y;
  }
  apply(unary, x, y, n, a, b);
}

std::vector<RecurrentFunction> recurrent_functions(const Attributes& attributes, const std::vector<std::string>& usual,
                                                   std::int64_t directions) {
  std::string problem;
  std::vector<RecurrentFunction> functions;
  for (const auto& named : ops::read_activations(attributes, usual, static_cast<std::size_t>(directions), problem)) {
    auto function = vector_function(named);
    if (!function) return {};
    if (const float* clip = attributes.get<float>("clip")) function->clip = *clip;
    if (!(function->clip >= 0)) return {};
    functions.push_back(*function);
  }
  return functions;
}

Sequences::Sequences(const ops::KernelContext& c, std::int64_t steps, std::int64_t batch)
    : steps_(steps), batch_(batch) {
  constexpr std::size_t kLengths = 4;
  if (!c.has(kLengths)) return;
  if (c.in(kLengths).dims() != Dims{batch}) c.fail("sequence_lens must have one element per sequence");
  const auto lengths = c.in(kLengths).data<std::int32_t>();
  for (const std::int32_t length : lengths)
    if (length < 0 || length > steps)
      c.fail("a sequence of length " + std::to_string(length) + " where there are " + std::to_string(steps) + " steps");
  if (std::ranges::all_of(lengths, [&](std::int32_t length) { return length == steps; })) return;
  order_.resize(static_cast<std::size_t>(batch));
  std::iota(order_.begin(), order_.end(), 0);
  const auto length_of = [&](std::int64_t place) { return lengths[static_cast<std::size_t>(place)]; };
  std::ranges::stable_sort(order_, std::greater(), length_of);
  for (const std::int64_t place : order_) lengths_.push_back(length_of(place));
  first_rows_ = {0};
  auto running = lengths_.end();
  for (std::int64_t i = 0; i < lengths_.front(); ++i) {
    while (running[-1] <= i) --running;
    first_rows_.push_back(first_rows_.back() + (running - lengths_.begin()));
  }
}

template <class F> void Sequences::each_row(bool is_reverse, F f) const {
  for (std::int64_t i = 0; i < steps(); ++i)
    for (std::int64_t r = 0; r < count(i); ++r) {
      const auto at = static_cast<std::size_t>(r);
      f(first_row(i, is_reverse) + r, is_reverse ? lengths_[at] - 1 - i : i, order_[at]);
    }
}

void Sequences::gather(const float* x, std::int64_t width, bool is_reverse, float* rows) const {
  each_row(is_reverse, [&](std::int64_t row, std::int64_t step, std::int64_t place) {
    std::copy_n(x + (step * batch_ + place) * width, width, rows + row * width);
  });
}

void Sequences::scatter(const float* rows, std::int64_t width, bool is_reverse, float* y, std::int64_t stride) const {
  for (std::int64_t i = 0; i < steps_; ++i) std::fill_n(y + i * stride, batch_ * width, 0.0f);
  each_row(is_reverse, [&](std::int64_t row, std::int64_t step, std::int64_t place) {
    std::copy_n(rows + row * width, width, y + step * stride + place * width);
  });
}

void Sequences::order(const float* states, std::int64_t width, float* ordered) const {
  for (const std::int64_t place : order_) ordered = std::copy_n(states + place * width, width, ordered);
}

void Sequences::restore(const float* ordered, std::int64_t width, float* states) const {
  for (const std::int64_t place : order_) {
    std::copy_n(ordered, width, states + place * width);
    ordered += width;
  }
}

void Sequences::ends(const float* rows, const float* begin, std::int64_t width, float* states) const {
  for (std::size_t r = 0; r < order_.size(); ++r) {
    const auto row = static_cast<std::int64_t>(r);
    const float* end =
        lengths_[r] == 0 ? begin + row * width : rows + (first_row(lengths_[r] - 1, false) + row) * width;
    std::copy_n(end, width, states + order_[r] * width);
  }
}

}  // namespace ingot::engine
