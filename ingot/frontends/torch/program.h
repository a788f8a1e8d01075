#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "ingot/formats/torch/archive.h"
#include "ingot/formats/torch/interface_file.h"
#include "ingot/frontends/torch/script/syntax.h"

namespace ingot::frontends::torch {

/// The code of an archive: classes and functions by their full names ("__torch__.torch.nn.modules.conv.Conv2d").
class Program {
 public:
  /// Files are parsed when something of them is asked for.
  explicit Program(const formats::torch::Archive& archive) : archive_(archive) {}

  /// Whether Ingot wrote the archive.
  bool is_own() const { return archive_.has(formats::torch::kInterfaceFile); }
  /// Null: there is none.
  const script::Class* find_class(const std::string& name);
  const script::Function* find_function(const std::string& name);

 private:
  const script::Module* module_of(const std::string& name);

  const formats::torch::Archive& archive_;
  std::map<std::string, std::unique_ptr<const script::Module>> modules_;  // null: there is no such file
};

const script::Function* find_method(const script::Class& type, std::string_view name);

}  // namespace ingot::frontends::torch
