// Numbers on their way from a file to a model.
#include "ingot/frontends/numbers.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"

namespace ingot::frontends {

void Numbers::refuse_place() { throw Error(Code::bad_source_graph, "an array is too small"); }

std::vector<double>& Numbers::own() {
  if (!own_ || own_.use_count() > 1) own_ = std::make_shared<std::vector<double>>(copy(0, size()));
  in_file_ = {};
  are_floats_ = false;
  height_ = 0;
  return *own_;
}

std::vector<double> Numbers::copy(std::size_t first, std::size_t count) const {
  if (first > size() || count > size() - first) refuse_place();
  if (height_ != 0) return in_order().copy(first, count);
  std::vector<double> values(count);
  if (are_floats_)
    for (std::size_t i = 0; i < count; ++i) values[i] = load<float>(first + i);
  else if (count != 0)
    std::memcpy(values.data(), data() + first * sizeof(double), count * sizeof(double));
  return values;
}

Numbers Numbers::in_order() const {
  if (height_ == 0) return *this;
  const Numbers columns(in_file_, are_floats_ ? DType::f32 : DType::f64);
  return turned(columns, static_cast<std::int64_t>(size() / height_), static_cast<std::int64_t>(height_));
}

Numbers turned(const Numbers& matrix, std::int64_t rows, std::int64_t columns) {
  if (matrix.height_ != 0 && std::cmp_equal(matrix.height_, rows))
    return {matrix.in_file_, matrix.are_floats_ ? DType::f32 : DType::f64};
  constexpr std::size_t kPiece = 1 << 19;  // numbers after which memory is given back
  const Bytes source = matrix.bytes();
  const auto height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(columns);
  const std::size_t bytes = matrix.empty() ? 0 : source.size() / matrix.size();
  drop_pages(source);
  std::vector<double> made(matrix.size());
  const std::size_t step = std::max<std::size_t>(1, kPiece / std::max<std::size_t>(1, width));
  for (std::size_t first = 0; first < height; first += step) {
    const std::size_t end = std::min(height, first + step);
    for (std::size_t c = 0; c < width; ++c)
      for (std::size_t r = first; r < end; ++r) made[c * height + r] = matrix[r * width + c];
    drop_pages(source.slice(first * width * bytes, (end - first) * width * bytes));
  }
  return made;
}

Value* constant_of(GraphBuilder& g, Dims dims, const Numbers& given, DType elem) {
  constexpr std::size_t kMany = 1 << 16;
  const Numbers values = given.in_order();
  if (values.are_floats() && (elem == DType::f32 || values.size() >= kMany))
    return g.cast(g.constant(Tensor(DType::f32, std::move(dims), values.bytes())), elem);
  if (elem == DType::f64 && !values.are_floats()) return g.constant(Tensor(elem, std::move(dims), values.bytes()));
  if (elem == DType::f64) return g.constant(Tensor::of<double>(std::move(dims), values.copy(0, values.size())));
  std::vector<std::byte> floats(values.size() * sizeof(float));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(values[i]);
    std::memcpy(floats.data() + i * sizeof value, &value, sizeof value);
  }
  return g.constant(Tensor(elem, std::move(dims), Bytes::own(std::move(floats))));
}

}  // namespace ingot::frontends
