#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/ir/array.h"

namespace ingot::driver {

/// A .npy file. `wanted` decides what raw bytes are (bfloat16 and others that NumPy lacks); other types stand in the
/// file. Data that is aligned stays in the mapped file.
Array load_npy(const std::string& path, DType wanted = DType::undefined, const LoadOptions& options = {});

/// The arrays of a .npz file by name; `wanted` tells the element type for a name, undefined if it does not matter.
std::vector<std::pair<std::string, Array>> load_npz(const std::string& path,
                                                    const std::function<DType(const std::string&)>& wanted,
                                                    const LoadOptions& options = {});

/// Writes a .npy file, whole or not at all. Types that NumPy lacks become raw bytes.
void save_npy(const Array& array, const std::string& path);
/// Writes a .npz file, whole or not at all.
void save_npz(const std::vector<std::pair<std::string, Array>>& arrays, const std::string& path);

}  // namespace ingot::driver
