#pragma once
#include "ingot/onnx/read_context.h"

namespace ingot::onnx {

/// The part of another file that `entries` (TensorProto.external_data) describe; it must have `needed` bytes.
Bytes read_external_data(const Metadata& entries, std::uint64_t needed, ReadContext& context);

}  // namespace ingot::onnx
