#pragma once
#include <cstdint>
#include <string>

#include "ingot/ir/model.h"

namespace ingot {
class Sink;
}

namespace ingot::onnx {

struct WriteOptions {
  /// Weights of at least `external_threshold` bytes go to one data file beside the model, each at a multiple of 4096
  /// bytes. Weights are the initializers of all graphs; tensors in attributes stay where they are.
  bool external_data = false;
  std::uint64_t external_threshold = 1024;
};

/// Writes a .onnx file, whole or not at all. The bytes depend on the model alone: fields in the order of their numbers,
/// data as raw_data, what a newer ONNX may have added last. Weights are written from where they are; `path` may be the
/// file that they were read from. The data file is named <name>-<hash of its content>.data; those of earlier versions
/// of the same model are removed once the new model is in place.
void write(const Model& model, const std::string& path, const WriteOptions& options = {});

/// The same bytes as one file, without external data.
void write(const Model& model, Sink& sink);
std::string to_bytes(const Model& model);

}  // namespace ingot::onnx
