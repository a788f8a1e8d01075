#pragma once
#include <cstdint>
#include <string_view>

#include "ingot/base/dtype.h"

namespace ingot::formats::torch {

// PyTorch's element types by each of the names it has for them; DType::undefined where Ingot has none of the kind.

/// The number that TorchScript's code has for it (c10::ScalarType); -1: PyTorch has none.
DType dtype_of_number(std::int64_t number);
std::int64_t number_of(DType dtype);
/// The number in the graphs of torch.export.
DType dtype_of_export_number(std::int64_t number);
/// "float32", "half", "long" ...: as in torch.float32.
DType dtype_of_name(std::string_view name);
/// "float32"; empty: PyTorch has no such type.
std::string_view type_name(DType dtype);
/// "FloatStorage", "LongStorage" ...; an UntypedStorage counts bytes.
DType dtype_of_storage(std::string_view name);
/// Empty: PyTorch 1.8 has no such storage.
std::string_view storage_name(DType dtype);
/// safetensors: "F32", "BF16" ...; empty: there is no such.
DType dtype_of_safetensors(std::string_view name);
std::string_view safetensors_name(DType dtype);

}  // namespace ingot::formats::torch
