// Tensors of other libraries, through the structs of DLPack: numpy's reader knows fewer types.
#include "dlpack.h"

#include <algorithm>
#include <cstring>

#include "lock.h"

namespace ingot::python {
namespace {

// As dlpack.h 0.x lays them out, which __dlpack__ gives unless it is asked for more.
struct DlTensor {
  void* data;
  std::int32_t device_type, device_id;
  std::int32_t rank;
  std::uint8_t type_code, bits;
  std::uint16_t lanes;
  std::int64_t *shape, *strides;  // in elements; null: row by row
  std::uint64_t byte_offset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor*);
};

constexpr std::int32_t kCpu = 1, kPinned = 3;
constexpr std::int32_t kMostAxes = 64;  // as numpy has it

bool is_in_memory(std::int32_t device) { return device == kCpu || device == kPinned; }

/// What can be known of a tensor without touching its memory: its producer may be wrong.
bool is_plausible(const DlTensor& t) {
  if (!is_in_memory(t.device_type) || t.rank < 0 || t.rank > kMostAxes || (t.rank > 0 && !t.shape)) return false;
  return std::all_of(t.shape, t.shape + t.rank, [](std::int64_t size) { return size >= 0; });
}

DType dtype_of(const DlTensor& t) {
  struct Row {
    std::uint8_t code, bits;
    DType dtype;
  };
  constexpr std::uint8_t kInt = 0, kUint = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6;
  constexpr Row kRows[] = {{kInt, 8, DType::i8},       {kInt, 16, DType::i16},       {kInt, 32, DType::i32},
                           {kInt, 64, DType::i64},     {kUint, 8, DType::u8},        {kUint, 16, DType::u16},
                           {kUint, 32, DType::u32},    {kUint, 64, DType::u64},      {kFloat, 16, DType::f16},
                           {kFloat, 32, DType::f32},   {kFloat, 64, DType::f64},     {kBfloat, 16, DType::bf16},
                           {kComplex, 64, DType::c64}, {kComplex, 128, DType::c128}, {kBool, 8, DType::boolean}};
  if (t.lanes != 1) return DType::undefined;
  for (const Row& row : kRows)
    if (row.code == t.type_code && row.bits == t.bits) return row.dtype;
  return DType::undefined;
}

bool is_row_by_row(const DlTensor& t) {
  if (!t.strides) return true;
  std::int64_t step = 1;
  for (std::int32_t axis = t.rank; axis-- > 0;) {
    if (t.shape[axis] != 1 && t.strides[axis] != step) return false;
    if (__builtin_mul_overflow(step, t.shape[axis], &step)) return false;
  }
  return true;
}

/// The elements one after the other.
Array gathered(const DlTensor& t, DType dtype, const Dims& dims, const std::byte* data) {
  Array array(dtype, dims);
  const std::size_t size = t.bits / 8u;
  std::byte* to = array.bytes();
  std::vector<std::int64_t> at(dims.size(), 0);
  for (std::int64_t i = 0; i < array.size(); ++i, to += size) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) offset += at[axis] * t.strides[axis];
    std::memcpy(to, data + offset * static_cast<std::int64_t>(size), size);
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      if (++at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
  }
  return array;
}

}  // namespace

std::optional<Array> from_dlpack(const py::handle& value) {
  if (!py::hasattr(value, "__dlpack__") || !py::hasattr(value, "__dlpack_device__")) return std::nullopt;
  const auto device = value.attr("__dlpack_device__")().cast<py::tuple>()[0].cast<std::int32_t>();
  if (!is_in_memory(device)) return std::nullopt;
  const py::object capsule = value.attr("__dlpack__")();
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (!managed) throw py::error_already_set();
  const DlTensor& t = managed->tensor;
  const DType dtype = dtype_of(t);
  if (dtype == DType::undefined || !is_plausible(t)) return std::nullopt;  // the capsule frees it
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");                       // from now on it is ours to free
  const std::shared_ptr<const void> owner(managed, [managed](const void*) {
    if (!Py_IsInitialized()) return;
    const WithLock lock(true);
    if (managed->deleter) managed->deleter(managed);
  });
  const Dims dims(t.shape, t.shape + t.rank);
  std::byte* data = static_cast<std::byte*>(t.data) + t.byte_offset;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(data) % (t.bits / 8u) == 0;
  if (is_row_by_row(t) && is_aligned) return Array::view(dtype, dims, data, owner);
  return gathered(t, dtype, dims, data);
}

}  // namespace ingot::python
