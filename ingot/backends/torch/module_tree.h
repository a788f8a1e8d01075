#pragma once
#include <set>
#include <string>
#include <vector>

#include "ingot/formats/torch/script_archive.h"

namespace ingot::backends::torch {

/// Modules inside each other as dotted names tell: "layer1.0.weight" is the tensor `weight` of `0` of `layer1`.
class ModuleTree {
 public:
  /// Adds a tensor and returns how the code of the root names it. `name` must not be that of another one; where it
  /// would be a tensor and a module at once it gets another.
  std::string add(const std::string& name, formats::torch::StoredTensor tensor, bool is_buffer);

  /// The classes, the innermost first; `forward` stands in the root's.
  std::string classes(const std::string& forward) const;
  formats::torch::StoredModule stored() const;

 private:
  struct Module {
    std::string type;
    std::vector<std::pair<std::string, formats::torch::StoredTensor>> tensors;
    std::vector<std::string> parameters, buffers;
    std::vector<std::pair<std::string, Module>> children;
  };
  /// A name for the class of what stands at this path.
  std::string type_for(const std::string& scope);
  static std::string class_of(const Module& module, const std::string& forward);
  static void write_classes(const Module& module, const std::string& forward, std::string& code);
  static formats::torch::StoredModule stored(const Module& module);

  Module root_{.type = "Model", .tensors = {}, .parameters = {}, .buffers = {}, .children = {}};
  std::set<std::string> types_{"Model"};
};

}  // namespace ingot::backends::torch
