// How the operators that prepare features run.
#include "ingot/ops/ml/features_kernel.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ingot/base/checked.h"
#include "ingot/ops/ml/scores.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

using Floats = std::vector<float>;

/// How many numbers an example has in an input [N, ...], or [C] for one example.
std::int64_t width_of(const Array& x) {
  std::int64_t width = 1;
  for (std::size_t i = x.rank() == 1 ? 0 : 1; x.size() != 0 && i < x.dims().size(); ++i) width *= x.dims()[i];
  return x.size() == 0 ? 0 : width;
}

/// place(i) is where element i is among the categories; their number if it is none of them.
template <class F> void put_one_hot(KernelContext& c, std::size_t categories, F place) {
  Dims dims = c.in(0).dims();
  dims.push_back(static_cast<std::int64_t>(categories));
  Array& y = c.make(0, DType::f32, dims);
  const auto out = y.mutable_data<float>();
  std::ranges::fill(out, 0.0f);
  const bool allows_none = c.attr("zeros", std::int64_t{1}) != 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.in(0).size()); ++i) {
    const std::size_t at = place(i);
    if (at < categories)
      out[i * categories + at] = 1;
    else if (!allows_none)
      c.fail("an element is none of the categories");
  }
}

template <class T> std::unordered_map<T, std::size_t> places_of(const std::vector<T>& list) {
  std::unordered_map<T, std::size_t> places;
  for (std::size_t i = 0; i < list.size(); ++i) places.try_emplace(list[i], i);
  return places;
}

}  // namespace

void run_feature_extractor(KernelContext& c) {
  const Array& x = c.in(0);
  const auto places = c.in(1).to_ints();
  if (x.rank() == 0) c.fail("the input is a scalar");
  const std::int64_t size = x.dims().back(), rows = size == 0 ? 0 : x.size() / size;
  for (const std::int64_t place : places)
    if (place < 0 || place >= size) c.fail("index " + std::to_string(place) + " is out of range");
  Dims dims = x.rank() == 1 ? Dims{1, size} : x.dims();
  dims.back() = std::ssize(places);
  Array& z = c.make(0, x.dtype(), dims);
  dispatch_cell(x.dtype(), [&]<class T>() {
    const T* in = cells<T>(x);
    T* out = cells<T>(z);
    for (std::int64_t row = 0; row < rows; ++row)
      for (const std::int64_t place : places) *out++ = in[row * size + place];
  });
}

void run_binarizer(KernelContext& c) {
  const double threshold = c.attr("threshold", 0.0f);
  map_unary(c, ComputeNumbers{}, [&]<class T>(T x) { return static_cast<double>(x) > threshold ? T{1} : T{0}; });
}

// Of an input with more features than stated the first are taken; one with fewer is filled up with zeros.
void run_feature_vectorizer(KernelContext& c) {
  const auto sizes = c.attr_ints("inputdimensions");
  if (!sizes.empty() && sizes.size() != c.input_count()) c.fail("attribute 'inputdimensions' needs one size per input");
  std::vector<std::int64_t> widths;
  std::int64_t rows = 0, total = 0;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const Array& x = c.in(i);
    if (x.rank() == 0) c.fail("an input is a scalar");
    const std::int64_t count = x.rank() == 1 ? 1 : x.dims()[0], width = sizes.empty() ? width_of(x) : sizes[i];
    if (i > 0 && count != rows) c.fail("the inputs differ in their number of rows");
    rows = count;
    const auto sum = width < 0 ? std::nullopt : checked_add(total, width);
    if (!sum) c.fail("attribute 'inputdimensions' is out of range");
    total = *sum;
    widths.push_back(width);
  }
  Array& y = c.make(0, DType::f32, {rows, total});
  float* out = y.mutable_data<float>().data();
  std::fill_n(out, y.size(), 0.0f);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const Array x = converted(c.in(i), DType::f32, c.host());
    const std::int64_t given = width_of(x);
    for (std::int64_t row = 0; given != 0 && row < rows; ++row)
      std::copy_n(x.data<float>().data() + row * given, std::min(given, widths[i]), out + row * total + before);
    before += widths[i];
  }
}

void run_imputer(KernelContext& c) {
  const Array& x = c.in(0);
  const bool is_whole = is_integer(x.dtype());
  const auto* floats = c.node.attributes.get<Floats>("imputed_value_floats");
  const auto ints = c.attr_ints("imputed_value_int64s");
  const std::size_t count = is_whole ? ints.size() : floats ? floats->size() : 0;
  const std::size_t features = x.rank() == 0 ? 1 : static_cast<std::size_t>(x.dims().back());
  if (count != 1 && count != features) c.fail("the values to put in do not fit the features");
  const float gap = c.attr("replaced_value_float", 0.0f);
  const std::int64_t whole_gap = c.attr("replaced_value_int64", std::int64_t{0});
  Array& y = c.make(0, x.dtype(), x.dims());
  dispatch(x.dtype(), Types<float, double, std::int32_t, std::int64_t>{}, [&]<class T>() {
    const auto in = x.data<T>();
    const auto out = y.mutable_data<T>();
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t k = count == 1 ? 0 : i % features;
      if constexpr (std::is_integral_v<T>)
        out[i] = in[i] == whole_gap ? static_cast<T>(ints[k]) : in[i];
      else
        out[i] = in[i] == T{gap} || (std::isnan(gap) && std::isnan(in[i])) ? T{(*floats)[k]} : in[i];
    }
  });
}

// Rows whose norm is 0 stay as they are.
void run_normalizer(KernelContext& c) {
  const std::string norm = c.attr("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") c.fail("attribute 'norm' is '" + norm + "'");
  const Examples x = Examples::of(c);
  Array y = scratch(c, DType::f64, c.in(0).dims());
  for (std::int64_t n = 0; n < x.count; ++n) {
    const auto row = x.row(n);
    double size = 0;
    for (const double number : row) {
      if (norm == "MAX")
        size = std::max(size, std::abs(number));
      else
        size += norm == "L1" ? std::abs(number) : number * number;
    }
    if (norm == "L2") size = std::sqrt(size);
    std::ranges::transform(row, y.mutable_data<double>().begin() + n * x.features,
                           [&](double number) { return size == 0 ? number : number / size; });
  }
  put(c, 0, y, DType::f32);
}

void run_one_hot_encoder(KernelContext& c) {
  const Array& x = c.in(0);
  const auto* ints = c.node.attributes.get<std::vector<std::int64_t>>("cats_int64s");
  const auto* strings = c.node.attributes.get<std::vector<std::string>>("cats_strings");
  if (x.dtype() == DType::string) {
    if (!strings) c.fail("attribute 'cats_strings' is missing");
    const auto places = places_of(*strings);
    return put_one_hot(c, strings->size(), [&](std::size_t i) {
      const auto it = places.find(x.data<std::string>()[i]);
      return it == places.end() ? strings->size() : it->second;
    });
  }
  if (!ints) c.fail("attribute 'cats_int64s' is missing");
  const auto places = places_of(*ints);
  const Array whole = converted(x, DType::i64, c.host());
  put_one_hot(c, ints->size(), [&](std::size_t i) {
    const auto it = places.find(whole.data<std::int64_t>()[i]);
    return it == places.end() ? ints->size() : it->second;
  });
}

void run_scaler(KernelContext& c) {
  const Array x = converted(c.in(0), DType::f64, c.host());
  const auto offset = floats_of(c, "offset"), scale = floats_of(c, "scale");
  const std::size_t features = x.rank() == 0 ? 1 : static_cast<std::size_t>(x.dims().back());
  for (const auto* list : {&offset, &scale})
    if (list->size() > 1 && list->size() != features) c.fail("offset or scale does not fit the features");
  const auto at = [&](const std::vector<double>& list, std::size_t i, double absent) {
    return list.empty() ? absent : list[list.size() == 1 ? 0 : i % features];
  };
  Array y = scratch(c, DType::f64, x.dims());
  const auto in = x.data<double>();
  const auto out = y.mutable_data<double>();
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = (in[i] - at(offset, i, 0)) * at(scale, i, 1);
  put(c, 0, y, DType::f32);
}

}  // namespace ingot::ops
