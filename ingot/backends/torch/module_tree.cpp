// Dotted names as modules inside each other.
#include "ingot/backends/torch/module_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/torch/script.h"

namespace ingot::backends::torch {
namespace {

constexpr std::size_t kDeepest = 24;

/// Whether the language takes the name as it stands.
bool is_plain(const std::string& name) { return identifier(name) == name; }

std::string attribute(const std::string& of, const std::string& name) {
  return is_plain(name) ? of + "." + name : fmt::format("getattr({}, {})", of, quoted(name));
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name)
    if (c == '.' && !parts.back().empty() && parts.size() < kDeepest)
      parts.emplace_back();
    else
      parts.back() += c == '.' ? '_' : c;
  if (parts.back().empty()) parts.back() = "_";
  return parts;
}

template <class Pairs> auto find_named(Pairs& pairs, const std::string& name) {
  return std::ranges::find(pairs, name, [](const auto& pair) -> const std::string& { return pair.first; });
}

std::string listed_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += quoted(name) + ", ";
  return "[" + text + "]";
}

std::string declared(const std::string& name, const std::string& type) {
  if (is_plain(name)) return fmt::format("  {} : {}\n", name, type);
  return fmt::format("  __annotations__[{}] = {}\n", quoted(name), type);
}

}  // namespace

std::string ModuleTree::add(const std::string& name, formats::torch::StoredTensor tensor, bool is_buffer) {
  std::vector<std::string> parts = parts_of(name);
  Module* module = &root_;
  std::string path = "self", scope;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    while (find_named(module->tensors, parts[i]) != module->tensors.end()) parts[i] += "_";
    scope += (scope.empty() ? "" : "_") + parts[i];
    auto child = find_named(module->children, parts[i]);
    if (child == module->children.end()) {
      module->children.emplace_back(
          parts[i], Module{.type = type_for(scope), .tensors = {}, .parameters = {}, .buffers = {}, .children = {}});
      child = module->children.end() - 1;
    }
    path = attribute(path, parts[i]);
    module = &child->second;
  }
  std::string& last = parts.back();
  while (find_named(module->tensors, last) != module->tensors.end() ||
         find_named(module->children, last) != module->children.end() || last == "training")
    last += "_";
  (is_buffer ? module->buffers : module->parameters).push_back(last);
  module->tensors.emplace_back(last, std::move(tensor));
  return attribute(path, last);
}

std::string ModuleTree::type_for(const std::string& scope) {
  std::string type = identifier(scope);
  while (Script::is_function(type) || !types_.insert(type).second) type += "_";
  return type;
}

std::string ModuleTree::class_of(const Module& module, const std::string& forward) {
  std::string code = fmt::format("class {}(Module):\n  __parameters__ = {}\n  __buffers__ = {}\n  training : bool\n",
                                 module.type, listed_names(module.parameters), listed_names(module.buffers));
  for (const auto& [name, tensor] : module.tensors) code += declared(name, "Tensor");
  for (const auto& [name, child] : module.children) code += declared(name, "__torch__." + child.type);
  return code + forward;
}

void ModuleTree::write_classes(const Module& module, const std::string& forward, std::string& code) {
  for (const auto& [name, child] : module.children) write_classes(child, "", code);
  code += class_of(module, forward);
}

std::string ModuleTree::classes(const std::string& forward) const {
  std::string code;
  write_classes(root_, forward, code);
  return code;
}

formats::torch::StoredModule ModuleTree::stored(const Module& module) {
  formats::torch::StoredModule made{.type = "__torch__." + module.type, .tensors = module.tensors};
  for (const auto& [name, child] : module.children) made.children.emplace_back(name, stored(child));
  return made;
}

formats::torch::StoredModule ModuleTree::stored() const { return stored(root_); }

}  // namespace ingot::backends::torch
