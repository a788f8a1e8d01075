#pragma once
#include <cstdint>

#include "ingot/engine/kernels/gemm.h"

namespace ingot::engine {

/// A matrix of floats wherever it is: element (row, column) is the one at row * row_stride + column * column_stride.
struct MatrixView {
  const float* data = nullptr;
  std::int64_t row_stride = 0, column_stride = 1;

  MatrixView from(std::int64_t row, std::int64_t column) const {
    return {data + row * row_stride + column * column_stride, row_stride, column_stride};
  }
};

/// Rows of a piece that stay in the second-level cache, the columns beside them, and the part of the inner dimension
/// for which they do.
inline constexpr std::int64_t kPieceRows = 288, kPieceColumns = 128, kPieceDepth = 256;

/// Panels of as many columns as the machine's kernel wants, one after the other, each row by row.
void pack_panels(const MatrixView& b, std::int64_t depth, std::int64_t columns, float* panels);
/// Six rows after the other, interleaved.
void interleave_rows(const MatrixView& a, std::int64_t rows, std::int64_t depth, float* to);

/// One part of a piece: rows in order or interleaved, times panels.
struct PiecePart {
  const float* a = nullptr;
  std::int64_t a_stride = 0;  // from row to row; 0: they are interleaved
  const float* panels = nullptr;
  std::int64_t panel_stride = 0;  // from panel to panel; 0: they follow each other
  std::int64_t rows = 0, depth = 0, columns = 0;
  float* c = nullptr;
  std::int64_t c_stride = 0;
  bool is_first = true, is_last = true;  // of the parts whose sum is c
  Epilogue epilogue;                     // of the last one; its pointers are at the piece's first element
};
void multiply_part(const PiecePart& part);

/// How a matrix of results is cut into pieces: by its sizes alone.
struct Cut {
  std::int64_t block_rows = 0, block_columns = 0, row_blocks = 0, column_blocks = 0;

  struct Limits {
    std::int64_t columns = kPieceColumns;  // of a piece, at most
    bool keeps_columns = false;            // pieces are not made narrower
    std::int64_t enough = 8;               // pieces for all threads to have work until the end
  };
  /// Pieces of at most kPieceRows rows, smaller ones where there would not be enough.
  Cut(std::int64_t rows, std::int64_t columns, Limits limits);
  Cut(std::int64_t rows, std::int64_t columns) : Cut(rows, columns, Limits()) {}
  std::int64_t pieces() const { return row_blocks * column_blocks; }
};

/// A product of two matrices that are used once, as they lie: what is not in order is packed piece by piece, in the
/// cache. It is cut into pieces whose results do not depend on each other; their number depends on the sizes alone.
class DenseProduct {
 public:
  /// One of `count` products of these sizes.
  DenseProduct(std::int64_t rows, std::int64_t depth, std::int64_t columns, std::int64_t count = 1);

  std::int64_t pieces() const { return cut_.pieces(); }
  /// Multiplications of a piece, nearly.
  double work() const;
  /// Both operands in the order of the kernel, part of the inner dimension after part; what is null is not.
  struct Shared {
    const float *interleaved = nullptr, *panels = nullptr;
  };
  /// One piece of c = a * b, whose rows are `c_stride` apart. Polls the budget.
  void run(std::int64_t piece, const MatrixView& a, const MatrixView& b, float* c, std::int64_t c_stride,
           const Epilogue& epilogue, const Budget& budget, const Shared& shared) const;
  /// All pieces.
  void run(const MatrixView& a, const MatrixView& b, float* c, std::int64_t c_stride, const Epilogue& epilogue,
           ThreadPool& pool, const Budget& budget) const;

 private:
  /// As many as whole tiles and whole panels have.
  std::int64_t whole_rows() const;
  std::int64_t whole_columns() const;

  std::int64_t rows_, depth_, columns_;
  Cut cut_;
};

}  // namespace ingot::engine
