#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/base/dtype.h"

namespace ingot {
class Sink;
}

namespace ingot::formats::torch {

struct NamedTensor {
  std::string name;
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims{};
  Bytes data{};  // row-major, little-endian; it lies in the file
};

struct Safetensors {
  std::vector<NamedTensor> tensors{};  // as they lie in the file
  std::map<std::string, std::string> metadata{};
};

bool looks_like_safetensors(const Bytes& file);
/// Refuses headers that are no JSON of the form, element types Ingot has none for, overlaps, holes and what leaves the
/// file.
Safetensors read_safetensors(const Bytes& file);
/// Tensors in the order of the format's own writer: wide elements first, then by name.
void write_safetensors(const Safetensors& content, Sink& sink);

}  // namespace ingot::formats::torch
