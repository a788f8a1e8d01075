// A model as the bytes of a file that is not written.
#include "ingot/api/save_memory.h"

#include "ingot/onnx/writer.h"

namespace ingot {

std::string save_memory(const Model& model) { return onnx::to_bytes(model); }

}  // namespace ingot
