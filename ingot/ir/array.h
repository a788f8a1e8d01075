#pragma once
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ingot/ir/tensor.h"

namespace ingot {

/// A tensor at run time: aligned, and written only by the kernel that makes it. Unlike a Tensor of a file, every
/// element has at least a byte of its own (4- and 2-bit types are unpacked). Copying shares the memory.
class Array {
 public:
  Array() = default;
  /// Zeroed memory of its own, aligned to 64 bytes; empty strings for strings.
  Array(DType dtype, Dims dims);
  /// Memory of somebody else, who must outlive the array and keep to the element type's alignment.
  static Array view(DType dtype, Dims dims, void* data, std::shared_ptr<const void> owner = nullptr);
  template <class T> static Array of(Dims dims, const std::vector<T>& values) {
    Array a(dtype_of<T>, std::move(dims));
    a.expect(dtype_of<T>);
    a.expect_size(values.size());
    std::copy(values.begin(), values.end(), a.mutable_data<T>().begin());
    return a;
  }
  template <class T> static Array scalar(T value) { return of<T>({}, std::vector<T>{value}); }
  /// Shares the bytes where alignment and packing allow it, else copies them.
  static Array from(const Tensor& tensor);
  Tensor to_tensor() const;

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(dims_.size()); }
  std::int64_t size() const { return size_; }
  std::size_t byte_size() const;
  Type type() const;

  template <class T> std::span<const T> data() const {
    expect(dtype_of<T>);
    return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(size_)};
  }
  /// Only for the kernel that made the array.
  template <class T> std::span<T> mutable_data() {
    expect(dtype_of<T>);
    return {reinterpret_cast<T*>(data_), static_cast<std::size_t>(size_)};
  }
  std::byte* bytes() { return data_; }
  const std::byte* bytes() const { return data_; }

  /// The same memory under other dimensions of the same size.
  Array reshaped(Dims dims) const;
  std::vector<std::int64_t> to_ints() const;
  std::vector<double> to_doubles() const;

  explicit operator bool() const { return dtype_ != DType::undefined; }

 private:
  void expect(DType wanted) const;
  void expect_size(std::size_t count) const;

  DType dtype_ = DType::undefined;
  Dims dims_;
  std::int64_t size_ = 0;
  std::byte* data_ = nullptr;  // strings: an array of std::string
  std::shared_ptr<const void> owner_;
};

class Datum;
using Sequence = std::vector<Datum>;

/// Keys in ascending order; int64 or string keys, one of the lists is empty.
struct MapData {
  std::vector<std::int64_t> int_keys;
  std::vector<std::string> string_keys;
  Array values;
};

struct SparseArray {
  Array values, indices;
  Dims dims;
};

/// Any value at run time. Nothing at all is an absent input or an empty optional.
class Datum {
 public:
  Datum() noexcept;
  Datum(Array array);
  Datum(Sequence sequence);
  Datum(MapData map);
  Datum(SparseArray sparse);
  Datum(const Datum&);
  Datum(Datum&&) noexcept;
  Datum& operator=(const Datum&);
  Datum& operator=(Datum&&) noexcept;
  ~Datum();

  explicit operator bool() const { return value_.index() != 0; }
  const Array* array() const;
  const Sequence* sequence() const;
  const MapData* map() const;
  const SparseArray* sparse() const;

 private:
  std::variant<std::monostate, Array, std::shared_ptr<const Sequence>, std::shared_ptr<const MapData>,
               std::shared_ptr<const SparseArray>>
      value_;
};

}  // namespace ingot
