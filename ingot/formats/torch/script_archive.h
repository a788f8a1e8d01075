#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/base/dtype.h"
#include "ingot/formats/torch/interface_file.h"

namespace ingot {
class Sink;
}

/// TorchScript archives as torch.jit.load reads them, written.
namespace ingot::formats::torch {

struct StoredTensor {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims{};
  Bytes data{};  // row-major, little-endian
  bool requires_grad = false;
};

/// A module with all that its class declares beside `training`.
struct StoredModule {
  std::string type;  // "__torch__.Model"
  bool is_training = false;
  std::vector<std::pair<std::string, StoredTensor>> tensors{};
  std::vector<std::pair<std::string, StoredModule>> children{};
};

struct ScriptArchive {
  std::string name;  // of the directory that all members stand in
  std::string code;  // of the namespace __torch__: classes and functions
  StoredModule root;
  std::vector<StoredTensor> constants{};  // CONSTANTS.c0 ...
  InterfaceFile interface {};
};

/// The oldest form that PyTorch 1.8 and all later ones read alike. Tensors of the same bytes share a storage. Refuses
/// element types that PyTorch has none for.
void write_script(const ScriptArchive& archive, Sink& sink);

}  // namespace ingot::formats::torch
