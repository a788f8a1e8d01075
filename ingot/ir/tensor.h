#pragma once
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/base/dtype.h"
#include "ingot/ir/type.h"

namespace ingot {

using Dims = std::vector<std::int64_t>;

/// Number of elements; throws when it does not fit or a dimension is negative.
std::int64_t tensor_size(std::span<const std::int64_t> dims);

/// What few tensors carry besides their values.
struct TensorNotes {
  std::string name;  // a name inside an attribute; an initializer's name is its Value's
  std::string doc_string;
  Metadata metadata;
  std::string unknown;
  friend bool operator==(const TensorNotes&, const TensorNotes&) = default;
};

/// Immutable typed bytes with a shape, as a file holds them: little-endian, sub-byte elements packed, at any
/// alignment, possibly inside a mapped file. Copying shares the bytes. Strings are a list of their own.
class Tensor {
 public:
  Tensor() = default;
  /// Throws unless `data` has exactly the bytes that type and shape need.
  Tensor(DType dtype, Dims dims, Bytes data);
  static Tensor of_strings(Dims dims, std::vector<std::string> values);
  template <class T> static Tensor of(Dims dims, std::span<const T> values) {
    return Tensor(dtype_of<T>, std::move(dims), Bytes::copy(std::as_bytes(values)));
  }
  template <class T> static Tensor of(Dims dims, std::initializer_list<T> values) {
    return of(std::move(dims), std::span<const T>(values.begin(), values.size()));
  }
  template <class T> static Tensor of(Dims dims, const std::vector<T>& values) {
    return of(std::move(dims), std::span<const T>(values));
  }
  template <class T> static Tensor scalar(T value) { return of<T>({}, std::span<const T>(&value, 1)); }
  static Tensor ints(const std::vector<std::int64_t>& values);
  /// A scalar of any numeric type from a double (rounded as a cast would).
  static Tensor scalar(double value, DType dtype);

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(dims_.size()); }
  std::int64_t size() const { return size_; }
  Type type() const;
  /// The same elements under other dimensions of the same number of elements.
  Tensor reshaped(Dims dims) const;
  const Bytes& bytes() const { return bytes_; }
  std::span<const std::string> strings() const;

  /// One element, at any alignment. T must be the tensor's own, byte-sized type.
  template <class T> T at(std::int64_t i) const {
    expect(dtype_of<T>, i);
    T value;
    std::memcpy(&value, bytes_.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    return value;
  }
  template <class T> std::vector<T> to_vector() const {
    std::vector<T> values(static_cast<std::size_t>(size_));
    if (size_) {
      expect(dtype_of<T>, size_ - 1);
      std::memcpy(values.data(), bytes_.data(), values.size() * sizeof(T));
    }
    return values;
  }
  /// The values of a tensor of any integer type or bool as int64; throws for other types.
  std::vector<std::int64_t> to_ints() const;
  /// The values of any numeric real type as double.
  std::vector<double> to_doubles() const;

  std::shared_ptr<const TensorNotes> notes;

  explicit operator bool() const { return dtype_ != DType::undefined; }
  friend bool operator==(const Tensor&, const Tensor&);

 private:
  void expect(DType wanted, std::int64_t index) const;

  DType dtype_ = DType::undefined;
  Dims dims_;
  std::int64_t size_ = 0;
  Bytes bytes_;
  std::shared_ptr<const std::vector<std::string>> strings_;
};

/// Coordinate form: values [NNZ], indices [NNZ] (linear) or [NNZ, rank].
struct SparseTensor {
  Tensor values, indices;
  Dims dims;
  std::string unknown;
  Type type() const;
  friend bool operator==(const SparseTensor&, const SparseTensor&) = default;
};

}  // namespace ingot
