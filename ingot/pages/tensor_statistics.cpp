// What the numbers of a tensor are like.
#include "ingot/pages/tensor_statistics.h"

#include <algorithm>
#include <cmath>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"

namespace ingot::pages {
namespace {

constexpr std::int64_t kPiece = 1 << 18;  // elements at a time; a multiple of eight, so that packed ones end at bytes
constexpr std::size_t kBars = 40;

template <class F> void for_each_piece(const Tensor& tensor, F&& use) {
  for (std::int64_t begin = 0; begin < tensor.size(); begin += kPiece) {
    current_budget().poll();
    const std::int64_t count = std::min(kPiece, tensor.size() - begin);
    const auto offset = static_cast<std::size_t>(begin) * bits_of(tensor.dtype()) / 8;
    const auto bytes = static_cast<std::size_t>(*byte_count(tensor.dtype(), static_cast<std::uint64_t>(count)));
    use(Tensor(tensor.dtype(), {count}, tensor.bytes().slice(offset, bytes)).to_doubles());
  }
}

}  // namespace

std::optional<TensorStatistics> statistics_of(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  if (!tensor.size() || !(is_float(dtype) || is_integer(dtype) || dtype == DType::boolean)) return std::nullopt;
  TensorStatistics s;
  s.least = INFINITY;
  s.most = -INFINITY;
  double count = 0, sum = 0, squares = 0;
  std::uint64_t zeros = 0;
  for_each_piece(tensor, [&](const std::vector<double>& values) {
    for (const double v : values) {
      if (!std::isfinite(v)) {
        ++s.not_finite;
        continue;
      }
      s.least = std::min(s.least, v);
      s.most = std::max(s.most, v);
      ++count;
      // Welford's way: squares of large numbers do not swallow small differences.
      const double step = v - sum;
      sum += step / count;
      squares += step * (v - sum);
      zeros += v == 0;
    }
  });
  if (count == 0) return std::nullopt;
  s.mean = sum;
  s.deviation = std::sqrt(squares / count);
  s.zeros = static_cast<double>(zeros) / static_cast<double>(tensor.size());
  s.histogram.assign(kBars, 0);
  const double width = (s.most - s.least) / kBars;
  for_each_piece(tensor, [&](const std::vector<double>& values) {
    for (const double v : values)
      if (std::isfinite(v))
        ++s.histogram[width > 0 && std::isfinite(width)
                          ? std::min(kBars - 1, static_cast<std::size_t>((v - s.least) / width))
                          : 0];
  });
  return s;
}

}  // namespace ingot::pages
