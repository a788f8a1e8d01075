// com.microsoft.DynamicTimeWarping: the cheapest way through a matrix of costs.
#include <algorithm>
#include <limits>

#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

void infer_warping(InferContext& c) {
  c.out_elem(0, DType::i32);
  c.out_shape(0, {2, c.data_dim(0, 1)});
}

enum class Came : std::uint8_t { diagonal, above, left };

void run_warping(KernelContext& c) {
  const Array& x = c.in(0);
  if (!(x.rank() == 2 || (x.rank() == 3 && x.dims()[0] == 1))) c.fail("the costs must be a matrix");
  const auto rows = static_cast<std::size_t>(x.dims()[x.dims().size() - 2]),
             columns = static_cast<std::size_t>(x.dims().back());
  const auto in = x.data<float>();
  const std::size_t stride = columns + 1;
  Array costs = c.host().allocate(DType::f32, {static_cast<std::int64_t>(rows + 1), static_cast<std::int64_t>(stride)});
  Array came = c.host().allocate(DType::u8, costs.dims());
  const auto cost = costs.mutable_data<float>();
  const auto way = came.mutable_data<std::uint8_t>();
  std::ranges::fill(cost, std::numeric_limits<float>::infinity());
  cost[0] = 0;
  Pace pace(c.host().budget());
  for (std::size_t i = 1; i <= rows; ++i) {
    for (std::size_t j = 1; j <= columns; ++j) {
      const float diagonal = cost[(i - 1) * stride + j - 1], above = cost[(i - 1) * stride + j],
                  left = cost[i * stride + j - 1];
      Came from = Came::left;
      float best = left;
      if (diagonal < above && diagonal < left) {
        from = Came::diagonal;
        best = diagonal;
      } else if (above < diagonal && above < left) {
        from = Came::above;
        best = above;
      }
      cost[i * stride + j] = in[(i - 1) * columns + j - 1] + best;
      way[i * stride + j] = static_cast<std::uint8_t>(from);
    }
    pace.step(static_cast<std::int64_t>(columns));
  }
  std::vector<std::pair<std::int32_t, std::int32_t>> path;
  for (std::size_t i = rows, j = columns; i > 0 || j > 0;) {
    path.emplace_back(static_cast<std::int32_t>(i) - 1, static_cast<std::int32_t>(j) - 1);
    // Along the border there is one way only.
    const Came from = i == 0 ? Came::left : j == 0 ? Came::above : static_cast<Came>(way[i * stride + j]);
    i -= from != Came::left;
    j -= from != Came::above;
  }
  std::ranges::reverse(path);
  const auto length = std::ssize(path);
  const auto out = c.make(0, DType::i32, {2, length}).mutable_data<std::int32_t>();
  for (std::size_t i = 0; i < path.size(); ++i) {
    out[i] = path[i].first;
    out[path.size() + i] = path[i].second;
  }
}

}  // namespace

constinit const OpDef defs::microsoft::DynamicTimeWarping = {
    .name = "DynamicTimeWarping", .domain = kMicrosoft, .infer = infer_warping, .kernel = run_warping};

}  // namespace ingot::ops
