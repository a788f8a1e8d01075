// The loop over directions, sequences and steps that RNN, GRU and LSTM share.
#include "ingot/ops/rnn/layer.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ingot/ops/pace.h"

namespace ingot::ops {
namespace {

enum Input : std::size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeephole };

struct Sizes {
  std::int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool batch_first = false, reverse_first = false;

  Dims states() const { return batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden}; }
  Dims outputs() const {
    return batch_first ? Dims{batch, steps, directions, hidden} : Dims{steps, directions, batch, hidden};
  }
  std::int64_t input_at(std::int64_t t, std::int64_t n) const {
    return (batch_first ? n * steps + t : t * batch + n) * inputs;
  }
  std::int64_t state_at(std::int64_t d, std::int64_t n) const {
    return (batch_first ? n * directions + d : d * batch + n) * hidden;
  }
  std::int64_t output_at(std::int64_t t, std::int64_t d, std::int64_t n) const {
    return (batch_first ? (n * steps + t) * directions + d : (t * directions + d) * batch + n) * hidden;
  }
};

Sizes read_sizes(const KernelContext& c) {
  const Array &x = c.in(kX), &r = c.in(kR);
  if (x.rank() != 3 || r.rank() != 3) c.fail("X and R must have rank 3");
  Sizes s;
  s.batch_first = c.attr("layout", std::int64_t{0}) != 0;
  s.steps = x.dims()[s.batch_first ? 1 : 0];
  s.batch = x.dims()[s.batch_first ? 0 : 1];
  s.inputs = x.dims()[2];
  s.hidden = r.dims()[2];
  const std::string direction = c.attr("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    c.fail("attribute 'direction' is '" + direction + "'");
  s.directions = direction == "bidirectional" ? 2 : 1;
  s.reverse_first = direction == "reverse";
  if (c.attr("hidden_size", s.hidden) != s.hidden) c.fail("attribute 'hidden_size' is not the size of R");
  return s;
}

/// Input i in double; zeros where it is absent.
Array parameter(KernelContext& c, std::size_t i, const Dims& dims) {
  if (!c.has(i)) return scratch(c, DType::f64, dims);
  if (c.in(i).dims() != dims) c.fail("input " + std::to_string(i) + " has a shape that does not fit the others");
  return converted(c.in(i), DType::f64, c.host());
}

std::int64_t length_of(const KernelContext& c, const Sizes& s, std::int64_t n) {
  if (!c.has(kLengths)) return s.steps;
  const std::int64_t length = c.in(kLengths).data<std::int32_t>()[static_cast<std::size_t>(n)];
  if (length < 0 || length > s.steps)
    c.fail("a sequence of length " + std::to_string(length) + " where there are " + std::to_string(s.steps) + " steps");
  return length;
}

std::span<const double> part(const Array& a, std::int64_t index, std::int64_t size) {
  return a.data<double>().subspan(static_cast<std::size_t>(index * size), static_cast<std::size_t>(size));
}

double dot(std::span<const double> a, const double* b) { return std::inner_product(a.begin(), a.end(), b, 0.0); }

}  // namespace

double RecurrentStep::recur(std::size_t gate, std::size_t i, std::span<const double> state) const {
  return dot(state, recurrence.data() + (gate * size() + i) * size());
}

double RecurrentStep::activate(std::size_t function, double x) const {
  return activations[function](x < -clip ? -clip : x > clip ? clip : x);
}

void run_recurrent(KernelContext& c, std::int64_t gates, bool with_cell, const std::vector<std::string>& activations,
                   void (*step)(const KernelContext&, RecurrentStep&)) {
  const Sizes s = read_sizes(c);
  const std::int64_t rows = tensor_size(Dims{gates, s.hidden});
  const Array x = converted(c.in(kX), DType::f64, c.host());
  c.in(kW);  // not optional
  const Array w = parameter(c, kW, {s.directions, rows, s.inputs}),
              r = parameter(c, kR, {s.directions, rows, s.hidden});
  const Array b = parameter(c, kB, {s.directions, tensor_size(Dims{2, rows})});
  const Array initial_h = parameter(c, kInitialH, s.states());
  Array initial_c, peephole;
  if (with_cell) initial_c = parameter(c, kInitialC, s.states());
  if (with_cell && c.has(kPeephole)) peephole = parameter(c, kPeephole, {s.directions, tensor_size(Dims{3, s.hidden})});
  if (c.has(kLengths) && c.in(kLengths).dims() != Dims{s.batch})
    c.fail("sequence_lens must have one element per sequence");
  const auto functions = read_activations(c, activations, static_cast<std::size_t>(s.directions));
  const float* clip = c.node.attributes.get<float>("clip");
  if (clip && !(*clip >= 0)) c.fail("attribute 'clip' is negative");

  Array y = scratch(c, DType::f64, c.wants(0) ? s.outputs() : Dims{0});
  Array last_h = scratch(c, DType::f64, s.states()), last_c = scratch(c, DType::f64, with_cell ? s.states() : Dims{0});
  Array input = scratch(c, DType::f64, {rows}), spare = scratch(c, DType::f64, {rows});
  Pace pace(c.host().budget());
  for (std::int64_t k = 0; last_h.size() > 0 && k < s.directions * s.batch; ++k) {
    const std::int64_t d = k / s.batch, n = k % s.batch, length = length_of(c, s, n);
    const bool is_reversed = s.reverse_first || d == 1;
    const auto state = [&](Array& last, const Array& initial) {
      const auto at = static_cast<std::size_t>(s.state_at(d, n)), size = static_cast<std::size_t>(s.hidden);
      const auto values = last.mutable_data<double>().subspan(at, size);
      std::ranges::copy(initial.data<double>().subspan(at, size), values.begin());
      return values;
    };
    RecurrentStep now;
    now.hidden = state(last_h, initial_h);
    if (with_cell) now.cell = state(last_c, initial_c);
    now.recurrence = part(r, d, rows * s.hidden);
    const std::span<const double> biases = part(b, d, 2 * rows);
    now.bias = biases.subspan(static_cast<std::size_t>(rows));
    if (peephole) now.peephole = part(peephole, d, 3 * s.hidden);
    now.activations =
        std::span(functions).subspan(static_cast<std::size_t>(d) * activations.size(), activations.size());
    now.input = input.data<double>();
    now.scratch = spare.mutable_data<double>();
    now.clip = clip ? static_cast<double>(*clip) : std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t t = is_reversed ? length - 1 - i : i;
      const auto from =
          x.data<double>().subspan(static_cast<std::size_t>(s.input_at(t, n)), static_cast<std::size_t>(s.inputs));
      const double* weights = part(w, d, rows * s.inputs).data();
      for (std::int64_t row = 0; row < rows; ++row)
        input.mutable_data<double>()[static_cast<std::size_t>(row)] =
            biases[static_cast<std::size_t>(row)] + dot(from, weights + row * s.inputs);
      step(c, now);
      if (c.wants(0)) std::ranges::copy(now.hidden, y.mutable_data<double>().begin() + s.output_at(t, d, n));
      pace.step(rows * (s.inputs + s.hidden));
    }
  }
  const DType elem = c.in(kX).dtype();
  if (c.wants(0)) put(c, 0, y, elem);
  if (c.wants(1)) put(c, 1, last_h, elem);
  if (with_cell && c.wants(2)) put(c, 2, last_c, elem);
}

}  // namespace ingot::ops
