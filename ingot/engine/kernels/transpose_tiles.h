#pragma once
#include <cstdint>

namespace ingot::engine {

/// y[r * y_stride + k] = x[k * x_stride + r] for r < rows and k < columns.
void transpose_words(const std::uint8_t* x, std::int64_t x_stride, std::uint8_t* y, std::int64_t y_stride,
                     std::int64_t rows, std::int64_t columns);
void transpose_words(const std::uint16_t* x, std::int64_t x_stride, std::uint16_t* y, std::int64_t y_stride,
                     std::int64_t rows, std::int64_t columns);
void transpose_words(const std::uint32_t* x, std::int64_t x_stride, std::uint32_t* y, std::int64_t y_stride,
                     std::int64_t rows, std::int64_t columns);
void transpose_words(const std::uint64_t* x, std::int64_t x_stride, std::uint64_t* y, std::int64_t y_stride,
                     std::int64_t rows, std::int64_t columns);

}  // namespace ingot::engine
