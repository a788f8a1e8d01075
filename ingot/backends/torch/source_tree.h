#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/ir/tensor.h"

namespace ingot::backends::torch {

/// Modules inside each other as Python builds them: names without numbers are attributes, numbers are places of a
/// ModuleList, or of a ModuleDict where some are missing.
class SourceTree {
 public:
  /// Says that there may be a tensor of this name, before any expression is asked for: it decides what holds it.
  void reserve(const std::string& path);
  /// A layer of torch.nn: "nn.Conv2d(3, 8, 3)".
  void add_layer(const std::string& path, const std::string& made);
  void add_tensor(const std::string& path, const Tensor& tensor, bool is_parameter);
  /// How the code of the root names what stands there: "self.layer1[0].conv".
  std::string expression(const std::string& path, bool is_layer = false) const;
  /// The name of a tensor in a state dictionary.
  static std::string state_name(const std::string& path);

  /// The statements of the root's constructor, a line each.
  std::vector<std::string> statements() const;

 private:
  struct Branch {
    std::string name;
    std::string made;  // empty: it only holds others, or nothing
    bool is_tensor = false, is_parameter = false;
    std::vector<std::unique_ptr<Branch>> children{};  // names first, then places in their order
    std::unordered_map<std::string, Branch*> by_name{};

    bool has_numbers() const;
    bool is_list() const;
    bool is_empty() const;
  };
  static std::vector<std::string> parts_of(const std::string& path, bool is_layer);
  static std::string step(const std::string& of, const Branch& holder, const std::string& name);
  static void write(const Branch& branch, const std::string& path, std::vector<std::string>& lines);
  static void write_child(const Branch& holder, const Branch& child, const std::string& path,
                          std::vector<std::string>& lines);
  Branch& branch_at(const std::string& path, bool is_layer);

  Branch root_;
};

}  // namespace ingot::backends::torch
