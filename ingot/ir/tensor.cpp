// Tensors as files hold them: checked construction and access by value.
#include "ingot/ir/tensor.h"

#include <utility>

#include "ingot/base/checked.h"
#include "ingot/base/elements.h"
#include "ingot/base/error.h"

namespace ingot {

std::int64_t tensor_size(std::span<const std::int64_t> dims) {
  const auto count = element_count(dims);
  if (!count || !std::in_range<std::int64_t>(*count))
    throw Error(Code::bad_shape, "a dimension of a tensor is negative, or their product overflows 64 bits");
  return static_cast<std::int64_t>(*count);
}

Tensor::Tensor(DType dtype, Dims dims, Bytes data)
    : dtype_(dtype), dims_(std::move(dims)), size_(tensor_size(dims_)), bytes_(std::move(data)) {
  const auto needed = byte_count(dtype, static_cast<std::uint64_t>(size_));
  if (dtype == DType::string || dtype == DType::undefined)
    throw Error(Code::bad_element_type, "a tensor of type " + std::string(name_of(dtype)) + " cannot hold raw bytes");
  if (!needed || *needed != bytes_.size())
    throw Error(Code::tensor_size_mismatch, "a tensor of type " + type().str() + " needs " +
                                                (needed ? std::to_string(*needed) : "too many") + " bytes, but has " +
                                                std::to_string(bytes_.size()));
}

Tensor Tensor::of_strings(Dims dims, std::vector<std::string> values) {
  Tensor t;
  t.dtype_ = DType::string;
  t.dims_ = std::move(dims);
  t.size_ = tensor_size(t.dims_);
  if (static_cast<std::uint64_t>(t.size_) != values.size())
    throw Error(Code::tensor_size_mismatch, "a tensor of type " + t.type().str() + " needs " + std::to_string(t.size_) +
                                                " strings, but has " + std::to_string(values.size()));
  t.strings_ = std::make_shared<const std::vector<std::string>>(std::move(values));
  return t;
}

Type Tensor::type() const { return Type::tensor(dtype_, Shape(dims_.begin(), dims_.end())); }

Tensor Tensor::reshaped(Dims dims) const {
  Tensor t = *this;
  if (tensor_size(dims) != size_) throw Error(Code::bad_shape, "a reshape must keep the number of elements");
  t.dims_ = std::move(dims);
  return t;
}

std::span<const std::string> Tensor::strings() const {
  return strings_ ? std::span<const std::string>(*strings_) : std::span<const std::string>();
}

void Tensor::expect(DType wanted, std::int64_t index) const {
  if (wanted != dtype_)
    throw Error(Code::type_mismatch,
                "a tensor holds " + std::string(name_of(dtype_)) + ", not " + std::string(name_of(wanted)));
  if (index < 0 || index >= size_)
    throw Error(Code::out_of_bounds, "element " + std::to_string(index) + " of a tensor of " + std::to_string(size_));
}

namespace {

using WholeTypes = Types<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                         std::int64_t, std::uint64_t, Int4, UInt4, Int2, UInt2>;
using RealTypes = Types<float, double, Float16, BFloat16, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ,
                        Float8E8M0, Float4E2M1>;

}  // namespace

std::vector<std::int64_t> Tensor::to_ints() const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size_));
  dispatch(dtype_, WholeTypes{}, [&]<class T>() {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::int64_t>(load_element<T>(bytes_.data(), i));
  });
  return values;
}

std::vector<double> Tensor::to_doubles() const {
  std::vector<double> values(static_cast<std::size_t>(size_));
  const auto fill = [&]<class T>() {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>)
        values[i] = static_cast<double>(load_element<T>(bytes_.data(), i));
      else if constexpr (is_integer(dtype_of<T>))
        values[i] = static_cast<double>(static_cast<std::int64_t>(load_element<T>(bytes_.data(), i)));
      else
        values[i] = static_cast<double>(static_cast<float>(load_element<T>(bytes_.data(), i)));
    }
  };
  if (is_float(dtype_))
    dispatch(dtype_, RealTypes{}, fill);
  else
    dispatch(dtype_, WholeTypes{}, fill);
  return values;
}

Tensor Tensor::ints(const std::vector<std::int64_t>& values) {
  return of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

Tensor Tensor::scalar(double value, DType dtype) {
  std::vector<std::byte> bytes(byte_count(dtype, 1).value_or(0));
  const auto store = [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>)
      store_element<T>(bytes.data(), 0, value != 0);
    else
      store_element<T>(bytes.data(), 0, T(value));
  };
  if (is_float(dtype))
    dispatch(dtype, RealTypes{}, store);
  else
    dispatch(dtype, WholeTypes{}, store);
  return Tensor(dtype, {}, Bytes::own(std::move(bytes)));
}

bool operator==(const Tensor& a, const Tensor& b) {
  const auto equal_notes = a.notes == b.notes || (a.notes && b.notes && *a.notes == *b.notes);
  if (a.dtype_ != b.dtype_ || a.dims_ != b.dims_ || !equal_notes || a.bytes_.size() != b.bytes_.size()) return false;
  if (a.dtype_ == DType::string) {
    const auto x = a.strings(), y = b.strings();
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }
  return a.bytes_.data() == b.bytes_.data() || a.bytes_.size() == 0 ||
         std::memcmp(a.bytes_.data(), b.bytes_.data(), a.bytes_.size()) == 0;
}

Type SparseTensor::type() const { return Type::sparse_tensor(values.dtype(), Shape(dims.begin(), dims.end())); }

}  // namespace ingot
