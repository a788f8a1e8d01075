// Run-time tensors: memory, and the way from and to the tensors of files.
#include "ingot/ir/array.h"

#include <algorithm>
#include <complex>
#include <new>

#include "ingot/base/checked.h"
#include "ingot/base/elements.h"
#include "ingot/base/error.h"

namespace ingot {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t element_bytes(DType dtype) {
  if (dtype == DType::string) return sizeof(std::string);
  return std::max<std::size_t>(1, bits_of(dtype) / 8);
}

std::shared_ptr<std::byte> aligned_zeros(std::size_t bytes) {
  auto* memory =
      static_cast<std::byte*>(::operator new (std::max<std::size_t>(bytes, 1), std::align_val_t{kAlignment}));
  std::fill_n(memory, bytes, std::byte{0});
  return {memory, [](std::byte* p) { ::operator delete (p, std::align_val_t{kAlignment}); }};
}

using Packed = Types<UInt4, Int4, UInt2, Int2, Float4E2M1>;

using Whole = Types<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                    std::int64_t, std::uint64_t, Int4, UInt4, Int2, UInt2>;

template <class T, class Variant> const T* pointee(const Variant& value) {
  const auto* p = std::get_if<std::shared_ptr<const T>>(&value);
  return p ? p->get() : nullptr;
}

}  // namespace

Array::Array(DType dtype, Dims dims) : dtype_(dtype), dims_(std::move(dims)), size_(tensor_size(dims_)) {
  if (dtype == DType::undefined) throw Error(Code::bad_element_type, "an array needs an element type");
  const auto count = static_cast<std::size_t>(size_);
  if (dtype == DType::string) {
    if (count > std::vector<std::string>().max_size())
      throw Error(Code::bad_shape, "an array of type " + type().str() + " is too large");
    auto strings = std::make_shared<std::vector<std::string>>(count);
    data_ = reinterpret_cast<std::byte*>(strings->data());
    owner_ = std::move(strings);
    return;
  }
  const auto bytes = checked_mul(count, element_bytes(dtype));
  if (!bytes) throw Error(Code::bad_shape, "an array of type " + type().str() + " is too large");
  auto memory = aligned_zeros(*bytes);
  data_ = memory.get();
  owner_ = std::move(memory);
}

Array Array::view(DType dtype, Dims dims, void* data, std::shared_ptr<const void> owner) {
  Array a;
  a.dtype_ = dtype;
  a.dims_ = std::move(dims);
  a.size_ = tensor_size(a.dims_);
  if (!data && a.size_ > 0)
    throw Error(Code::bad_usage, std::to_string(a.size_) + " elements cannot be viewed at a null pointer");
  const std::size_t unit = std::min<std::size_t>(element_bytes(dtype), alignof(std::max_align_t));
  if (dtype == DType::undefined || reinterpret_cast<std::uintptr_t>(data) % unit != 0)
    throw Error(Code::bad_usage, "memory is viewed as elements that it is not aligned for, or that have no type")
        .hint("copy it: Array::of, or Tensor and Array::from");
  a.data_ = static_cast<std::byte*>(data);
  a.owner_ = std::move(owner);
  return a;
}

Array Array::from(const Tensor& tensor) {
  if (tensor.dtype() == DType::string) {
    Array a(DType::string, tensor.dims());
    std::ranges::copy(tensor.strings(), a.mutable_data<std::string>().begin());
    return a;
  }
  if (is_sub_byte(tensor.dtype())) {
    Array a(tensor.dtype(), tensor.dims());
    dispatch(tensor.dtype(), Packed{}, [&]<class T>() {
      const auto out = a.mutable_data<T>();
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = load_element<T>(tensor.bytes().data(), i);
    });
    return a;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.bytes().data());
  const std::size_t unit = std::min<std::size_t>(element_bytes(tensor.dtype()), alignof(std::max_align_t));
  // A bool may hold any byte in a file, but not in memory.
  if (address % unit == 0 && tensor.dtype() != DType::boolean) {
    auto keep = std::make_shared<const Bytes>(tensor.bytes());
    return view(tensor.dtype(), tensor.dims(), const_cast<std::byte*>(tensor.bytes().data()), std::move(keep));
  }
  Array a(tensor.dtype(), tensor.dims());
  if (tensor.dtype() == DType::boolean)
    std::transform(tensor.bytes().data(), tensor.bytes().data() + tensor.bytes().size(), a.data_,
                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
  else
    std::copy_n(tensor.bytes().data(), tensor.bytes().size(), a.data_);
  return a;
}

Tensor Array::to_tensor() const {
  if (dtype_ == DType::string) {
    const auto strings = data<std::string>();
    return Tensor::of_strings(dims_, {strings.begin(), strings.end()});
  }
  if (is_sub_byte(dtype_)) {
    std::vector<std::byte> packed(byte_count(dtype_, static_cast<std::uint64_t>(size_)).value_or(0));
    dispatch(dtype_, Packed{}, [&]<class T>() {
      const auto values = data<T>();
      for (std::size_t i = 0; i < values.size(); ++i) store_element<T>(packed.data(), i, values[i]);
    });
    return Tensor(dtype_, dims_, Bytes::own(std::move(packed)));
  }
  return Tensor(dtype_, dims_, Bytes(owner_, data_, byte_size()));
}

std::size_t Array::byte_size() const { return static_cast<std::size_t>(size_) * element_bytes(dtype_); }

Type Array::type() const { return Type::tensor(dtype_, Shape(dims_.begin(), dims_.end())); }

Array Array::reshaped(Dims dims) const {
  Array a = *this;
  if (tensor_size(dims) != size_) throw Error(Code::bad_shape, "a reshape must keep the number of elements");
  a.dims_ = std::move(dims);
  return a;
}

std::vector<std::int64_t> Array::to_ints() const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size_));
  dispatch(dtype_, Whole{}, [&]<class T>() {
    std::ranges::transform(data<T>(), values.begin(), [](T v) { return static_cast<std::int64_t>(v); });
  });
  return values;
}

std::vector<double> Array::to_doubles() const { return to_tensor().to_doubles(); }

void Array::expect_size(std::size_t count) const {
  if (count != static_cast<std::size_t>(size_))
    throw Error(Code::tensor_size_mismatch,
                "an array of type " + type().str() + " was given " + std::to_string(count) + " elements");
}

void Array::expect(DType wanted) const {
  if (wanted != dtype_)
    throw Error(Code::type_mismatch,
                "an array holds " + std::string(name_of(dtype_)) + ", not " + std::string(name_of(wanted)));
}

Datum::Datum() noexcept = default;
Datum::Datum(Array array) : value_(std::move(array)) {}
Datum::Datum(Sequence sequence) : value_(std::make_shared<const Sequence>(std::move(sequence))) {}
Datum::Datum(MapData map) : value_(std::make_shared<const MapData>(std::move(map))) {}
Datum::Datum(SparseArray sparse) : value_(std::make_shared<const SparseArray>(std::move(sparse))) {}
Datum::Datum(const Datum&) = default;
Datum::Datum(Datum&&) noexcept = default;
Datum& Datum::operator=(const Datum&) = default;
Datum& Datum::operator=(Datum&&) noexcept = default;
Datum::~Datum() = default;

const Array* Datum::array() const { return std::get_if<Array>(&value_); }
const Sequence* Datum::sequence() const { return pointee<Sequence>(value_); }
const MapData* Datum::map() const { return pointee<MapData>(value_); }
const SparseArray* Datum::sparse() const { return pointee<SparseArray>(value_); }

}  // namespace ingot
