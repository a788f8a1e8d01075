#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/base/dtype.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::torch {

/// How integers stand for real numbers: one scale and zero point, or one for each index of an axis.
struct Quantizer {
  std::vector<double> scales;
  std::vector<std::int64_t> zero_points;
  std::optional<std::int64_t> axis;
};

/// A tensor as PyTorch keeps it: a window into a storage that several tensors may share.
struct Tensor {
  DType dtype = DType::undefined;
  Bytes storage{};
  std::int64_t offset = 0;  // in elements
  std::vector<std::int64_t> sizes{}, strides{};
  bool requires_grad = false;
  std::optional<Quantizer> quantizer{};

  /// The elements in row-major order: a part of the storage where they lie so, else a copy that is charged. Refuses a
  /// window that leaves its storage.
  Bytes contiguous(Budget* budget = nullptr) const;
};

/// Row-major strides of these sizes.
std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes);

}  // namespace ingot::formats::torch
