#pragma once
#include <limits>
#include <string>
#include <vector>

#include "ingot/engine/kernels/vector_math.h"
#include "ingot/ops/kernel.h"

namespace ingot::engine {

/// A function of what the gates of a recurrent layer sum up.
struct RecurrentFunction {
  Unary unary = Unary::tanh;
  float a = 0, b = 0;                                   // its parameters
  float clip = std::numeric_limits<float>::infinity();  // no number that it is given is larger

  /// y[i] = function(x[i]) for n elements; y may be x.
  void operator()(const float* x, float* y, std::int64_t n) const;
  bool is_plain(Unary function) const { return unary == function && clip == std::numeric_limits<float>::infinity(); }
};

/// Those of all directions, as attributes name them, `usual` in each direction where they do not; none where one is not
/// computed a vector at a time.
std::vector<RecurrentFunction> recurrent_functions(const Attributes& attributes, const std::vector<std::string>& usual,
                                                   std::int64_t directions);

/// The steps of a batch of sequences, which may end at different times: input 4 of a recurrent layer. Where they do,
/// rows stand step by step without gaps, those of longer sequences first, so that a step goes on with the first rows
/// of the one before.
class Sequences {
 public:
  Sequences(const ops::KernelContext& c, std::int64_t steps, std::int64_t batch);

  /// Whether all are as long as there are steps: rows are those of the input, and nothing below needs to be called.
  bool is_even() const { return order_.empty(); }
  /// Of the longest.
  std::int64_t steps() const { return is_even() ? steps_ : std::ssize(first_rows_) - 1; }
  std::int64_t rows() const { return is_even() ? steps_ * batch_ : first_rows_.back(); }
  /// The first row of the i-th step, and how many it has.
  std::int64_t first_row(std::int64_t i, bool is_reverse) const {
    if (!is_even()) return first_rows_[static_cast<std::size_t>(i)];
    return (is_reverse ? steps_ - 1 - i : i) * batch_;
  }
  std::int64_t count(std::int64_t i) const {
    return is_even() ? batch_ : first_row(i + 1, false) - first_row(i, false);
  }

  /// The rows of an input [steps, batch, width].
  void gather(const float* x, std::int64_t width, bool is_reverse, float* rows) const;
  /// What the rows made, into an output whose steps are `stride` apart; what no step made is zero.
  void scatter(const float* rows, std::int64_t width, bool is_reverse, float* y, std::int64_t stride) const;
  /// States [batch, width] in the order of the rows, and back.
  void order(const float* states, std::int64_t width, float* ordered) const;
  void restore(const float* ordered, std::int64_t width, float* states) const;
  /// What each sequence ended with: its last row, or where it has none what it began with, which is in order.
  void ends(const float* rows, const float* begin, std::int64_t width, float* states) const;

 private:
  /// Calls f(row, step of the output, place in the batch) for each row.
  template <class F> void each_row(bool is_reverse, F f) const;

  std::int64_t steps_, batch_;
  std::vector<std::int64_t> order_, lengths_;  // by row of a step: the place in the batch, and how long it is
  std::vector<std::int64_t> first_rows_;       // of each step, and behind the last
};

}  // namespace ingot::engine
