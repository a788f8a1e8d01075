#pragma once
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/ops/builder.h"

namespace ingot::frontends {

/// Doubles of their own, or doubles or floats that lie in the file. Copying shares; what is written to becomes a copy of
/// its own first, so that data of hundreds of megabytes that only passes through is never copied.
class Numbers {
 public:
  Numbers() = default;
  Numbers(std::vector<double> own) : own_(std::make_shared<std::vector<double>>(std::move(own))) {}
  /// Little-endian numbers of type f64 or f32, at any address. `height`: of a matrix that lies column by column; its
  /// numbers are given row by row all the same. 0: they are in order.
  Numbers(Bytes in_file, DType elem, std::size_t height = 0)
      : in_file_(std::move(in_file)), are_floats_(elem == DType::f32), height_(height) {}

  std::size_t size() const { return own_ ? own_->size() : in_file_.size() / width(); }
  bool empty() const { return size() == 0; }
  bool are_floats() const { return are_floats_; }
  /// Throws beyond the end: files say how large their arrays are in more places than one.
  double operator[](std::size_t i) const {
    if (i >= size()) refuse_place();
    if (height_ != 0) i = i % (size() / height_) * height_ + i / (size() / height_);
    if (!are_floats_) return load<double>(i);
    return load<float>(i);
  }
  double& operator[](std::size_t i) {
    if (i >= size()) refuse_place();
    return own()[i];
  }
  /// To write to.
  std::vector<double>& own();
  std::vector<double> copy(std::size_t first, std::size_t count) const;
  operator std::vector<double>() const { return copy(0, size()); }
  /// All in order: this itself, or a copy of what is not.
  Numbers in_order() const;
  /// The same memory, which stays as it is: doubles, or floats if they are. Of what is in order.
  Bytes bytes() const { return own_ ? Bytes(own_, data(), size() * width()) : in_file_; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = double;
    using difference_type = std::ptrdiff_t;
    using pointer = const double*;
    using reference = double;
    Iterator(const Numbers& of, std::size_t at) : of_(&of), at_(at) {}
    double operator*() const { return (*of_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {*of_, at_++}; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Numbers* of_;
    std::size_t at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  [[noreturn]] static void refuse_place();
  std::size_t width() const { return are_floats_ ? sizeof(float) : sizeof(double); }
  const std::byte* data() const { return own_ ? reinterpret_cast<const std::byte*>(own_->data()) : in_file_.data(); }
  template <class T> T load(std::size_t i) const {
    T value;
    std::memcpy(&value, data() + i * sizeof value, sizeof value);
    return value;
  }

  std::shared_ptr<std::vector<double>> own_;
  Bytes in_file_;
  bool are_floats_ = false;
  std::size_t height_ = 0;

  friend Numbers turned(const Numbers& matrix, std::int64_t rows, std::int64_t columns);
};

/// [rows, columns] as [columns, rows], which costs nothing where it lies column by column. Gives back the memory of what lies in the file.
Numbers turned(const Numbers& matrix, std::int64_t rows, std::int64_t columns);

/// A constant of type f64 or f32. Many floats stay floats in the model, with a Cast behind them.
Value* constant_of(GraphBuilder& g, Dims dims, const Numbers& values, DType elem);

}  // namespace ingot::frontends
