// Shared libraries of others: what they bring is looked at before it is believed.
#include "ingot/driver/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <set>

#include "ingot/base/error.h"
#include "ingot/driver/other_programs.h"
#include "ingot/driver/plugin_parts.h"
#include "ingot/driver/targets.h"
#include "ingot/ingot_plugin.h"
#include "ingot/onnx/text.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/infer.h"

namespace ingot::driver {
namespace {

struct Brought {
  std::map<std::pair<std::string, std::string>, std::string> texts;  // by domain and name
  std::map<std::string, std::string> targets;
  std::vector<PluginOperator> operators;
};

Brought& brought() {
  static Brought all;
  return all;
}

[[noreturn]] void refuse(const std::string& plugin, const std::string& why) {
  throw Error(Code::bad_usage, "plug-in '" + plugin + "': " + why);
}

template <class T> void check_table(const std::string& plugin, const T* rows, std::size_t count, const char* what) {
  constexpr std::size_t kMost = 4096;
  if (count > kMost || (count && !rows)) refuse(plugin, std::string("its list of ") + what + " is no list");
  for (std::size_t i = 0; i < count; ++i)
    if (rows[i].size < sizeof(T))
      refuse(plugin, std::string("an entry of its ") + what + " is shorter than it must be");
}

/// The text of a model that has the operator as a function: the body is one, or functions alone.
std::string text_of_body(const std::string& plugin, const OperatorSchema& schema, const char* body) {
  const std::string alone = std::string("<ir_version: 10> unused () => () {}\n") + body;
  for (const std::string& text : {alone, std::string(body)}) {
    try {
      if (onnx::parse_text(text).find_function(schema.domain, schema.name)) return text;
    } catch (const Error& error) {
      if (text != alone) refuse(plugin, "the body of " + schema.name + " is not understood: " + error.message());
    }
  }
  refuse(plugin,
         "the body of " + schema.name + " holds no function of that name in the domain '" + schema.domain + "'");
}

void add_operators(const ingot_plugin& plugin, const std::string& name) {
  check_table(name, plugin.operators, plugin.operator_count, "operators");
  for (std::size_t i = 0; i < plugin.operator_count; ++i) {
    const ingot_operator& op = plugin.operators[i];
    if (!op.schema) refuse(name, "an operator has no schema");
    OperatorSchema schema = parse_schema(op.schema, name);
    if (schema.domain == "ai.onnx") refuse(name, schema.name + " is in ONNX's own domain, which is not added to");
    if (ops::newest_schema(schema.domain, schema.name) || ops::find(schema.domain, schema.name) ||
        brought().texts.contains({schema.domain, schema.name}))
      throw Error(Code::duplicate_name,
                  "plug-in '" + name + "': there is an operator '" + schema.domain + "." + schema.name + "' already");
    if (op.body) {
      std::string text = text_of_body(name, schema, op.body);
      brought().texts[{schema.domain, schema.name}] = std::move(text);
    }
    if (op.run && !op.infer) refuse(name, schema.name + " has a kernel and nothing that tells what it gives");
    if (!op.run && !op.body) refuse(name, schema.name + " has neither a kernel nor a body");
    brought().operators.push_back({schema.domain, schema.name, op.run != nullptr, op.body != nullptr});
    if (op.run) add_plugin_operator(name, std::move(schema), op);
  }
}

void add_targets(const ingot_plugin& plugin, const std::string& name) {
  check_table(name, plugin.targets, plugin.target_count, "targets");
  for (std::size_t i = 0; i < plugin.target_count; ++i) {
    if (!plugin.targets[i].json) refuse(name, "a target has no text");
    std::string target;
    try {
      target = parse_target(plugin.targets[i].json, nullptr).name;
    } catch (const Error& error) {
      refuse(name, error.message());
    }
    const std::vector<std::string> known = known_targets();
    if (target == "cpu" || std::ranges::find(known, target) != known.end())
      throw Error(Code::duplicate_name, "plug-in '" + name + "': there is a target '" + target + "' already");
    brought().targets[target] = plugin.targets[i].json;
  }
}

}  // namespace

void register_plugin(const ingot_plugin* plugin, const std::string& file) {
  if (!plugin) refuse(file, "its entry gives nothing");
  if (plugin->size < sizeof(ingot_plugin) || plugin->version != INGOT_PLUGIN_VERSION)
    throw Error(Code::bad_usage, "plug-in '" + file + "' was made for version " + std::to_string(plugin->version) +
                                     " of the interface, and this is version " + std::to_string(INGOT_PLUGIN_VERSION))
        .hint("compile it with the ingot_plugin.h of this Ingot");
  if (!plugin->name || !*plugin->name) refuse(file, "it has no name");
  const std::string name = plugin->name;
  check_table(name, plugin->formats, plugin->format_count, "formats");
  add_operators(*plugin, name);
  add_targets(*plugin, name);
  for (std::size_t i = 0; i < plugin->format_count; ++i) add_plugin_format(name, plugin->formats[i]);
}

void load_plugin(const std::string& path) {
  void* const library = open_library(path);
  using Entry = const ingot_plugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "ingot_plugin_entry"));
  if (!entry) throw Error(Code::bad_usage, "the library is no plug-in: it has no ingot_plugin_entry").in_file(path);
  const ingot_plugin* plugin = nullptr;
  try {
    plugin = entry();
  } catch (...) {
    throw Error(Code::bad_usage, "plug-in '" + path + "': its entry throws");
  }
  register_plugin(plugin, path);
}

void add_plugin_functions(Model& model) {
  if (brought().texts.empty()) return;
  std::set<std::pair<std::string, std::string>> wanted;
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes())
      if (brought().texts.contains({node.domain, node.op}) && !model.find_function(node.domain, node.op))
        wanted.emplace(node.domain, node.op);
  for (const auto& key : wanted) {
    Model source = onnx::parse_text(brought().texts.at(key));
    for (auto& function : source.functions)
      if (!model.find_function(function->domain, function->name)) {
        if (!model.opsets.version(function->domain)) model.opsets.set(function->domain, 1);
        model.functions.push_back(std::move(function));
      }
  }
  if (wanted.empty()) return;
  passes::InferOptions tolerant;
  tolerant.tolerate_errors = true;
  passes::infer(model, tolerant);
}

const std::vector<PluginOperator>& plugin_operators() { return brought().operators; }

std::string plugin_target(const std::string& name) {
  const auto it = brought().targets.find(name);
  return it == brought().targets.end() ? std::string() : it->second;
}

std::vector<std::string> plugin_targets() {
  std::vector<std::string> names;
  for (const auto& [name, text] : brought().targets) names.push_back(name);
  return names;
}

}  // namespace ingot::driver
