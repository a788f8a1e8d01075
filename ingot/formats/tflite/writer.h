#pragma once
#include <cstdint>
#include <string>

#include "ingot/base/sink.h"
#include "ingot/formats/tflite/model.h"

namespace ingot::formats::tflite {

struct WriteOptions {
  /// A file that would be larger keeps its buffers behind the flatbuffer, which older runtimes cannot read: only for
  /// what a flatbuffer cannot hold.
  std::uint64_t largest_flatbuffer = (std::uint64_t{1} << 31) - (std::uint64_t{1} << 20);
};

/// Writes the model; the same model gives the same bytes. Constants go from their views straight to the sink.
/// Throws Error if the model does not pass check() or holds what the format cannot.
void write(const Model& model, Sink& sink, const WriteOptions& options = {});

/// The whole file in memory.
std::string to_bytes(const Model& model, const WriteOptions& options = {});

}  // namespace ingot::formats::tflite
