#pragma once
#include <cstdint>

namespace ingot {
class Budget;
class ThreadPool;
}  // namespace ingot

namespace ingot::engine {

/// A matrix of doubles: element (row, column) stands at row * row_stride + column * column_stride.
struct DoubleMatrix {
  const double* data = nullptr;
  std::int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 1;
};

/// c = a * b, rows of b.columns after each other. The bits do not depend on the number of threads.
void multiply(const DoubleMatrix& a, const DoubleMatrix& b, double* c, ThreadPool& pool, const Budget& budget);

}  // namespace ingot::engine
