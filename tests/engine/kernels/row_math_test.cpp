// Functions of rows against their formulas.
#include "ingot/engine/kernels/row_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ingot::engine {
namespace {

TEST(RowMath, CellsOfAnLstmAgreeWithTheFormula) {
  constexpr std::size_t kCells = 21, kStride = 24;
  std::vector<float> gates(4 * kStride), cell(kCells), h(kCells);
  for (std::size_t i = 0; i < gates.size(); ++i) gates[i] = std::sin(static_cast<float>(i)) * 4;
  for (std::size_t i = 0; i < kCells; ++i) cell[i] = std::cos(static_cast<float>(i));
  const std::vector<float> before = cell;
  lstm_cells(gates.data(), kStride, cell.data(), h.data(), kCells);
  const auto sigmoid = [](float x) { return 1 / (1 + std::exp(-static_cast<double>(x))); };
  for (std::size_t i = 0; i < kCells; ++i) {
    const double now = sigmoid(gates[2 * kStride + i]) * before[i] +
                       sigmoid(gates[i]) * std::tanh(static_cast<double>(gates[3 * kStride + i]));
    EXPECT_NEAR(cell[i], now, 1e-6);
    EXPECT_NEAR(h[i], sigmoid(gates[kStride + i]) * std::tanh(now), 1e-6);
  }
}

}  // namespace
}  // namespace ingot::engine
