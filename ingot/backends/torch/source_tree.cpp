// Dotted names as statements of a module's constructor.
#include "ingot/backends/torch/source_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/torch/carriers.h"
#include "ingot/backends/torch/script.h"
#include "ingot/formats/torch/scalar_type.h"

namespace ingot::backends::torch {
namespace {

/// Attributes that every module has.
constexpr std::string_view kTaken[] = {"T_destination",
                                       "add_module",
                                       "apply",
                                       "bfloat16",
                                       "buffers",
                                       "call_super_init",
                                       "children",
                                       "compile",
                                       "cpu",
                                       "cuda",
                                       "double",
                                       "dump_patches",
                                       "eval",
                                       "extra_repr",
                                       "float",
                                       "get_buffer",
                                       "get_extra_state",
                                       "get_parameter",
                                       "get_submodule",
                                       "half",
                                       "ipu",
                                       "items",
                                       "keys",
                                       "load_state_dict",
                                       "modules",
                                       "mtia",
                                       "named_buffers",
                                       "named_children",
                                       "named_modules",
                                       "named_parameters",
                                       "parameters",
                                       "pop",
                                       "register_buffer",
                                       "register_module",
                                       "register_parameter",
                                       "requires_grad_",
                                       "set_extra_state",
                                       "set_submodule",
                                       "share_memory",
                                       "state_dict",
                                       "to",
                                       "to_empty",
                                       "train",
                                       "type",
                                       "update",
                                       "values",
                                       "xpu",
                                       "zero_grad"};

bool is_number(std::string_view name) {
  return !name.empty() && name.size() < 9 && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }) &&
         (name.size() == 1 || name[0] != '0');
}

std::string attribute_name(const std::string& name) {
  const std::string made = identifier(name);
  return std::ranges::find(kTaken, made) == std::end(kTaken) ? made : made + "_";
}

}  // namespace

bool SourceTree::Branch::has_numbers() const {
  return std::ranges::any_of(children, [](const auto& child) { return !child->is_tensor && is_number(child->name); });
}

bool SourceTree::Branch::is_list() const {
  std::size_t next = 0;
  for (const auto& child : children)
    if (child->name != std::to_string(next++)) return false;
  return true;
}

bool SourceTree::Branch::is_empty() const {
  return made.empty() && std::ranges::all_of(children, [](const auto& child) { return child->is_empty(); });
}

std::vector<std::string> SourceTree::parts_of(const std::string& path, bool is_layer) {
  constexpr std::size_t kDeepest = 24;
  std::vector<std::string> parts(1);
  for (const char c : path)
    if ((c == '.' || c == '/') && parts.size() < kDeepest) {
      if (!parts.back().empty()) parts.emplace_back();
    } else {
      parts.back() += c;
    }
  if (parts.back().empty() && parts.size() > 1) parts.pop_back();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // The root and the tensors of a module are attributes: no number is a name.
    const bool is_place = is_number(parts[i]) && i > 0 && (is_layer || i + 1 < parts.size());
    if (!is_place) parts[i] = attribute_name(parts[i]);
  }
  return parts;
}

std::string SourceTree::state_name(const std::string& path) {
  std::string made;
  for (const std::string& part : parts_of(path, false)) made += (made.empty() ? "" : ".") + part;
  return made;
}

SourceTree::Branch& SourceTree::branch_at(const std::string& path, bool is_layer) {
  Branch* at = &root_;
  for (const std::string& part : parts_of(path, is_layer)) {
    Branch*& child = at->by_name[part];
    if (!child) {
      const auto place = [](const std::string& name) { return is_number(name) ? std::stoll(name) : -1; };
      const auto before = std::ranges::upper_bound(at->children, place(part), {},
                                                   [&](const auto& other) { return place(other->name); });
      child = at->children.insert(before, std::make_unique<Branch>())->get();
      child->name = part;
    }
    at = child;
  }
  return *at;
}

void SourceTree::reserve(const std::string& path) { branch_at(path, false); }

void SourceTree::add_layer(const std::string& path, const std::string& made) { branch_at(path, true).made = made; }

void SourceTree::add_tensor(const std::string& path, const Tensor& tensor, bool is_parameter) {
  Branch& branch = branch_at(path, false);
  const std::string type(formats::torch::type_name(carrier_of(tensor.dtype())));
  branch.is_tensor = true;
  branch.is_parameter = is_parameter;
  branch.made =
      fmt::format("torch.empty({}{})", text_of(tensor.dims()), type == "float32" ? "" : ", dtype=torch." + type);
}

std::string SourceTree::step(const std::string& of, const Branch& holder, const std::string& name) {
  if (!holder.has_numbers()) return of + "." + name;
  return of + (holder.is_list() ? "[" + name + "]" : "[\"" + name + "\"]");
}

std::string SourceTree::expression(const std::string& path, bool is_layer) const {
  std::string made = "self";
  const Branch* at = &root_;
  for (const std::string& part : parts_of(path, is_layer)) {
    const auto found = at->by_name.find(part);
    if (found == at->by_name.end()) return made + "." + part;
    made = found->second->is_tensor ? made + "." + part : step(made, *at, part);
    at = found->second;
  }
  return made;
}

void SourceTree::write_child(const Branch& holder, const Branch& child, const std::string& path,
                             std::vector<std::string>& lines) {
  if (child.is_tensor && child.is_parameter)
    return lines.push_back(fmt::format("{}.{} = nn.Parameter({})", path, child.name, child.made));
  if (child.is_tensor)
    return lines.push_back(fmt::format("{}.register_buffer(\"{}\", {})", path, child.name, child.made));
  const bool is_holder = child.made.empty();
  std::string made = child.made;
  if (is_holder) made = !child.has_numbers() ? "nn.Module()" : child.is_list() ? "nn.ModuleList()" : "nn.ModuleDict()";
  const bool is_in_list = holder.has_numbers() && holder.is_list();
  lines.push_back(is_in_list ? fmt::format("{}.append({})", path, made)
                             : fmt::format("{} = {}", step(path, holder, child.name), made));
  write(child, step(path, holder, child.name), lines);
}

void SourceTree::write(const Branch& branch, const std::string& path, std::vector<std::string>& lines) {
  const bool keeps_places = branch.has_numbers() && branch.is_list();
  for (const auto& child : branch.children)
    if (keeps_places || !child->is_empty()) write_child(branch, *child, path, lines);
}

std::vector<std::string> SourceTree::statements() const {
  std::vector<std::string> lines;
  write(root_, "self", lines);
  return lines;
}

}  // namespace ingot::backends::torch
