// Tensors from and to NumPy's files.
#include "ingot/driver/array_file.h"

#include <algorithm>

#include "ingot/base/atomic_file.h"
#include "ingot/base/elements.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/npy/npy.h"

namespace ingot::driver {
namespace {

using formats::npy::NpyArray;

std::uint64_t bytes_of_element(DType dtype) { return std::max(1u, bits_of(dtype) / 8); }

/// 4- and 2-bit types have a byte for each element, whose high bits mean nothing.
Array unpacked(const NpyArray& file, DType dtype) {
  Array array(dtype, file.dims);
  dispatch(dtype, Types<UInt4, Int4, UInt2, Int2, Float4E2M1>{}, [&]<class T>() {
    const auto values = array.mutable_data<T>();
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = T::from_bits(static_cast<std::uint32_t>(file.data.data()[i]) & ((1u << T::kBits) - 1));
  });
  return array;
}

Array array_of(NpyArray file, DType wanted) {
  if (file.dtype == DType::string) {
    Array array(DType::string, file.dims);
    std::ranges::move(file.strings, array.mutable_data<std::string>().begin());
    return array;
  }
  DType dtype = file.dtype;
  if (dtype == DType::undefined) {
    const bool fits =
        wanted != DType::undefined && wanted != DType::string && bytes_of_element(wanted) == file.item_bytes;
    if (!fits)
      throw Error(Code::bad_array_file, "the array holds raw bytes, " + std::to_string(file.item_bytes) +
                                            " for each element, and nothing says what they mean");
    dtype = wanted;
  }
  if (is_sub_byte(dtype)) return unpacked(file, dtype);
  return Array::from(Tensor(dtype, file.dims, file.data));
}

}  // namespace

Array load_npy(const std::string& path, DType wanted, const LoadOptions& options) try {
  Array array = array_of(formats::npy::read(map_file(path), options.budget), wanted);
  check_mapped_files();
  return array;
} catch (Error& error) {
  error.in_file(path);
  throw;
}

std::vector<std::pair<std::string, Array>> load_npz(const std::string& path,
                                                    const std::function<DType(const std::string&)>& wanted,
                                                    const LoadOptions& options) try {
  std::vector<std::pair<std::string, Array>> arrays;
  for (auto& [name, file] : formats::npy::read_npz(map_file(path), options.budget))
    arrays.emplace_back(name, array_of(std::move(file), wanted(name)));
  check_mapped_files();
  return arrays;
} catch (Error& error) {
  error.in_file(path);
  throw;
}

namespace {

/// Keeps the array's memory, which must outlive it.
NpyArray file_of(const Array& array) {
  NpyArray file;
  file.dtype = array.dtype();
  file.dims = array.dims();
  if (array.dtype() == DType::string) {
    const auto strings = array.data<std::string>();
    file.strings.assign(strings.begin(), strings.end());
  } else {
    file.item_bytes = bytes_of_element(array.dtype());
    file.data = Bytes(nullptr, array.bytes(), array.byte_size());
  }
  return file;
}

}  // namespace

void save_npy(const Array& array, const std::string& path) try {
  AtomicFile out(path);
  formats::npy::write(file_of(array), out);
  out.commit();
} catch (Error& error) {
  error.in_file(path);
  throw;
}

void save_npz(const std::vector<std::pair<std::string, Array>>& arrays, const std::string& path) try {
  std::vector<std::pair<std::string, NpyArray>> files;
  for (const auto& [name, array] : arrays) files.emplace_back(name, file_of(array));
  AtomicFile out(path);
  formats::npy::write_npz(files, out);
  out.commit();
} catch (Error& error) {
  error.in_file(path);
  throw;
}

}  // namespace ingot::driver
