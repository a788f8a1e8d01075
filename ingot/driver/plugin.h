#pragma once
#include <string>
#include <vector>

#include "ingot/ir/opaque_model.h"

struct ingot_plugin;

// What shared libraries of others add: ingot/ingot_plugin.h is what they see.

namespace ingot::driver {

/// Loads a shared library and registers what it brings. It stays until the process ends. Refuses one that was made for
/// another version, lacks the entry or has something that makes no sense; errors name it.
void load_plugin(const std::string& path);

/// The same of a table that is already here; `file` is for messages.
void register_plugin(const ingot_plugin* plugin, const std::string& file);

/// Bodies that plug-ins give to operators of this model become functions of it.
void add_plugin_functions(Model& model);

/// What plug-ins brought, in their order.
struct PluginOperator {
  std::string domain, name;
  bool has_kernel = false, has_body = false;
};
const std::vector<PluginOperator>& plugin_operators();

/// The text of a target that a plug-in brings; empty: there is none of that name.
std::string plugin_target(const std::string& name);
std::vector<std::string> plugin_targets();

}  // namespace ingot::driver
