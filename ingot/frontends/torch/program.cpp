// Which file of an archive holds what.
#include "ingot/frontends/torch/program.h"

#include <algorithm>

#include "ingot/base/error.h"

namespace ingot::frontends::torch {

const script::Module* Program::module_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  const std::string path = name.substr(0, dot == std::string::npos ? 0 : dot);
  const auto [found, is_new] = modules_.try_emplace(path);
  if (is_new) {
    std::string file = "code/" + path + ".py";
    std::replace(file.begin() + 5, file.end() - 3, '.', '/');
    if (archive_.has(file))
      found->second = std::make_unique<const script::Module>(script::parse(archive_.read(file).text()));
  }
  return found->second.get();
}

const script::Class* Program::find_class(const std::string& name) {
  const script::Module* module = module_of(name);
  const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
  for (std::size_t i = 0; module && i < module->classes.size(); ++i)
    if (module->classes[i].name == last) return &module->classes[i];
  return nullptr;
}

const script::Function* Program::find_function(const std::string& name) {
  const script::Module* module = module_of(name);
  const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
  for (std::size_t i = 0; module && i < module->functions.size(); ++i)
    if (module->functions[i].name == last) return &module->functions[i];
  return nullptr;
}

const script::Function* find_method(const script::Class& type, std::string_view name) {
  const auto found = std::ranges::find(type.methods, name, &script::Function::name);
  return found == type.methods.end() ? nullptr : &*found;
}

}  // namespace ingot::frontends::torch
