// Einsum at run time: one factor after the other, by plain sums of products.
#include "ingot/ops/tensor/einsum/kernel.h"

#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/ops/tensor/einsum/equation.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

/// A factor whose dimensions have labels: letters, and for what "..." stands for numbers from 128 on, counted from its
/// end.
struct Factor {
  Array array;
  std::vector<std::size_t> labels;
};

constexpr std::size_t kFirstOther = 128;

std::vector<std::size_t> labels_of(const KernelContext& c, const std::string& term, std::int64_t rank) {
  const bool has_others = term.find(kEllipsis) != std::string::npos;
  const auto named = static_cast<std::int64_t>(term.size()) - (has_others ? 1 : 0);
  if (has_others ? rank < named : rank != named) c.fail("'" + term + "' does not fit rank " + std::to_string(rank));
  std::vector<std::size_t> labels;
  for (const char label : term) {
    if (label != kEllipsis) labels.push_back(static_cast<std::size_t>(label));
    for (std::int64_t k = rank - named; label == kEllipsis && k-- > 0;)
      labels.push_back(kFirstOther + static_cast<std::size_t>(k));
  }
  return labels;
}

bool has_label(const std::vector<std::size_t>& labels, std::size_t label) {
  return std::ranges::find(labels, label) != labels.end();
}

/// The product of two factors, summed over all labels that are not kept. Dimensions of 1 are stretched.
Factor product_of(KernelContext& c, const Factor& a, const Factor& b, const std::vector<std::size_t>& kept,
                  const Dims& sizes) {
  std::vector<std::size_t> order = kept;
  for (const Factor* f : {&a, &b})
    for (const std::size_t label : f->labels)
      if (!has_label(order, label)) order.push_back(label);
  Walk walk{{}, std::vector<Dims>(3, Dims(order.size(), 0))};
  for (const std::size_t label : order) walk.dims.push_back(sizes[label]);
  const Dims result(walk.dims.begin(), walk.dims.begin() + static_cast<std::ptrdiff_t>(kept.size()));
  std::ranges::copy(strides_of(result), walk.strides[2].begin());
  for (std::size_t k = 0; k < 2; ++k) {
    const Factor& f = k == 0 ? a : b;
    const Dims dense = strides_of(f.array.dims());
    for (std::size_t i = 0; i < f.labels.size(); ++i) {
      const auto at = static_cast<std::size_t>(std::ranges::find(order, f.labels[i]) - order.begin());
      if (f.array.dims()[i] != 1) walk.strides[k][at] += dense[i];  // a label that stands twice is a diagonal
    }
  }
  Factor y{scratch(c, a.array.dtype(), result), kept};
  join_axes(walk);
  dispatch(a.array.dtype(), Types<double, std::uint64_t>{}, [&]<class T>() {
    const T *left = a.array.data<T>().data(), *right = b.array.data<T>().data();
    const auto out = y.array.mutable_data<T>();
    std::ranges::fill(out, T(0));
    const std::int64_t i = walk.strides[0].back(), j = walk.strides[1].back(), k = walk.strides[2].back();
    for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
      T* to = out.data() + at[2];
      for (std::int64_t t = 0; t < n; ++t) to[t * k] += left[at[0] + t * i] * right[at[1] + t * j];
    });
  });
  return y;
}

}  // namespace

// One factor after the other; what neither the result nor a later factor needs is summed at once.
void run_einsum(KernelContext& c) {
  const std::string text = c.attr("equation", "");
  if (text.size() >= 4096) c.fail("the equation is too long");
  const Equation equation = parse_equation(c, text);
  if (equation.inputs.size() != c.input_count()) c.fail("the equation does not have one term per input");
  const DType dtype = c.in(0).dtype(), work = is_float(dtype) ? DType::f64 : DType::u64;  // integers wrap around
  Dims sizes(kFirstOther + static_cast<std::size_t>(kMostDims), 1);
  std::vector<Factor> factors;
  std::vector<std::size_t> last_use(sizes.size(), 0);
  std::size_t others = 0;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const Array& x = c.in(i);
    if (x.dtype() != dtype) c.fail("the inputs differ in element type");
    if (x.rank() > kMostDims) c.fail("rank " + std::to_string(x.rank()) + " is too high");
    factors.push_back({converted(x, work, c.host()), labels_of(c, equation.inputs[i], x.rank())});
    for (std::size_t k = 0; k < factors.back().labels.size(); ++k) {
      const std::size_t label = factors.back().labels[k];
      last_use[label] = i;
      if (label >= kFirstOther) others = std::max(others, label - kFirstOther + 1);
      const std::int64_t d = x.dims()[k];
      if (sizes[label] != 1 && d != 1 && sizes[label] != d) c.fail("the dimensions of one label differ");
      if (d != 1) sizes[label] = d;
    }
  }
  std::vector<std::size_t> output;
  for (const char label : equation.output) {
    if (label != kEllipsis) output.push_back(static_cast<std::size_t>(label));
    for (std::size_t k = others; label == kEllipsis && k-- > 0;) output.push_back(kFirstOther + k);
  }
  Factor y{converted(Array::scalar(1.0), work, c.host()), {}};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const bool is_last = i + 1 == factors.size();
    std::vector<std::size_t> kept;
    for (const Factor* f : {&y, &factors[i]})
      for (const std::size_t label : f->labels) {
        const bool is_needed = last_use[label] > i || has_label(output, label);
        if (is_needed && !has_label(kept, label)) kept.push_back(label);
      }
    y = product_of(c, y, factors[i], is_last ? output : kept, sizes);
    factors[i] = {};
  }
  put(c, 0, y.array, dtype);
}

}  // namespace ingot::ops
