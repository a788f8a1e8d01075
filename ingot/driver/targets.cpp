// Targets by name or file.
#include "ingot/driver/targets.h"

#include <algorithm>
#include <map>
#include <memory>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/driver/format.h"
#include "ingot/driver/load.h"
#include "ingot/driver/plugin.h"
#include "ingot/formats/json/document.h"

namespace ingot::driver {
namespace {

using formats::json::Value;

struct Shipped {
  std::string_view name, text;
};
constexpr Shipped kShipped[] = {
#include "ingot/driver/targets_data.inc"
};

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Code::bad_field_value, "the target file is not understood: " + why)
      .hint("docs/partition.md has its form");
}

DType type_by_name(std::string_view name) {
  const std::string wanted(name == "float32" ? "float" : name == "float64" ? "double" : name);
  if (const auto found = dtype_from_name(wanted)) return *found;
  refuse("'" + std::string(name) + "' is no element type");
}

std::vector<DType> types_of(const Value& list) {
  std::vector<DType> types;
  if (list.exists() && !list.is_list()) refuse("types are a list of names");
  for (const Value& v : list.entries()) types.push_back(type_by_name(v.text()));
  return types;
}

void read_pair(const Value& pair, std::int64_t& first, std::int64_t& last) {
  if (!pair.exists()) return;
  if (pair.size() != 2 || !pair[0].as_int() || !pair[1].as_int())
    refuse("a range has two whole numbers, 0 where it is open");
  first = *pair[0].as_int();
  last = *pair[1].as_int();
  if (first < 0 || last < 0 || (last != 0 && last < first)) refuse("a range goes up, from 0 on");
}

/// A whole number from 0 on, or nothing where there is none.
std::int64_t count_of(const Value& v, const std::string& what) {
  if (!v.exists()) return 0;
  const auto count = v.as_int();
  if (!count || *count < 0) refuse(what + " is a whole number, 0 or more");
  return *count;
}

std::string plain_text(const Value& v) { return v.is_text() ? std::string(v.text()) : v.dump(); }

passes::OperatorRule rule_of(const Value& json) {
  static constexpr std::string_view kKeys[] = {"attributes", "constant_inputs", "inputs", "note",    "opset",
                                               "outputs",    "ranks",           "types",  "versions"};
  passes::OperatorRule rule;
  if (!json.is_object()) refuse("a rule is an object");
  for (const auto& [key, value] : json.members())
    if (std::ranges::find(kKeys, key) == std::end(kKeys)) refuse("nothing is known of '" + std::string(key) + "'");
  read_pair(json["versions"], rule.first_version, rule.last_version);
  read_pair(json["opset"], rule.first_opset, rule.last_opset);
  read_pair(json["ranks"], rule.least_rank, rule.most_rank);
  rule.types = types_of(json["types"]);
  for (const Value& v : json["inputs"].entries()) rule.inputs.push_back(types_of(v));
  for (const Value& v : json["outputs"].entries()) rule.outputs.push_back(types_of(v));
  for (const Value& v : json["constant_inputs"].entries())
    rule.constant_inputs.push_back(static_cast<std::size_t>(count_of(v, "the place of a stored input")));
  for (const auto& [name, allowed] : json["attributes"].members()) {
    if (!allowed.is_list() || allowed.size() == 0)
      refuse("attribute '" + std::string(name) + "' has no list of values");
    for (const Value& v : allowed.entries()) rule.attributes[std::string(name)].push_back(plain_text(v));
  }
  rule.note = std::string(json["note"].text());
  return rule;
}

std::string target_name(const Format& format) {
  const bool has_own = format.operators && !format.operators->target.empty();
  return std::string(has_own ? format.operators->target : format.name);
}

/// What stands between the quotes of "node 'conv1'" and "the node that makes 'y'".
std::string quoted(const std::string& where) {
  const std::size_t first = where.find('\''), last = where.rfind('\'');
  return first < last && last != where.npos ? where.substr(first + 1, last - first - 1) : std::string();
}

/// The node that an obstacle is about, by its label. What a node was decomposed into is named after it.
std::string label_of(const std::string& where, const std::map<std::string, std::string>& labels) {
  for (std::string name = quoted(where); !name.empty();) {
    if (const auto it = labels.find(name); it != labels.end()) return it->second;
    const std::size_t slash = name.rfind('/');
    name.resize(slash == name.npos ? 0 : slash);
  }
  return where;
}

/// What a format's writer says of each node of a model.
PartitionTarget target_of(const Format& format, const Model& model) {
  PartitionTarget target{.name = target_name(format), .title = std::string(format.title)};
  auto refusals = std::make_shared<std::map<std::string, Fallback>>();
  static const std::map<std::string_view, const char*> kCodes = {
      {"unknown_operator", "UNSUPPORTED_NODE"},     {"element_type", "UNSUPPORTED_NODE_DATATYPE"},
      {"unknown_size", "UNSUPPORTED_NODE_DYNAMIC"}, {"dimensions", "UNSUPPORTED_NODE_SHAPE"},
      {"attribute_value", "UNSUPPORTED_NODE_ATTR"}, {"not_constant", "UNSUPPORTED_NODE_INPUT"},
      {"not_a_tensor", "UNSUPPORTED_NODE_INPUT"},
  };
  std::map<std::string, std::string> labels;
  for (const Node& node : model.graph->nodes()) labels.emplace(quoted(node.label()), node.label());
  for (const ExportObstacle& o : format.operators->obstacles(model, {})) {
    const auto code = kCodes.find(o.kind);
    refusals->emplace(label_of(o.where, labels),
                      Fallback{code == kCodes.end() ? "UNSUPPORTED_NODE" : code->second, o.reason, o.remedy});
  }
  target.answer = [refusals](const Node& node) -> std::optional<Fallback> {
    const auto it = refusals->find(node.label());
    return it == refusals->end() ? std::nullopt : std::optional(it->second);
  };
  return target;
}

bool answers(const Format& format) { return format.operators && format.operators->obstacles && format.save; }

}  // namespace

std::vector<std::string> known_targets() {
  std::vector<std::string> names{"ingot"};
  for (const Shipped& s : kShipped) names.emplace_back(s.name);
  for (std::string& name : plugin_targets()) names.push_back(std::move(name));
  for (const Format* format : all_formats())
    if (answers(*format)) names.push_back(target_name(*format));
  std::ranges::sort(names);
  return names;
}

PartitionTarget parse_target(const std::string& text, Budget* budget) {
  const Value json = formats::json::parse(text, budget);
  if (!json.is_object() || !json["operators"].is_object()) refuse("it is no object with 'operators'");
  PartitionTarget target{.name = std::string(json["name"].text()), .title = std::string(json["title"].text())};
  if (target.name.empty()) refuse("it has no name");
  read_pair(json["opset"], target.first_opset, target.last_opset);
  target.needs_static_shapes = json["static_shapes"].as_bool().value_or(false);
  target.most_bytes = static_cast<std::uint64_t>(count_of(json["max_weight_bytes"], "'max_weight_bytes'"));
  static constexpr std::string_view kKeys[] = {"max_weight_bytes", "name",          "operators", "opset",
                                               "source",           "static_shapes", "notes",     "title"};
  for (const auto& [key, value] : json.members())
    if (std::ranges::find(kKeys, key) == std::end(kKeys)) refuse("nothing is known of '" + std::string(key) + "'");
  for (const auto& [op, rules] : json["operators"].members()) {
    auto& list = target.operators[std::string(op)];
    if (rules.is_list())
      for (const Value& v : rules.entries()) list.push_back(rule_of(v));
    else
      list.push_back(rule_of(rules));
  }
  return target;
}

PartitionTarget find_target(const std::string& name, const Model& model, Budget* budget) {
  if (name == "ingot" || name == "cpu") return {.name = "ingot", .title = "Ingot", .takes_all = true};
  for (const Shipped& s : kShipped)
    if (s.name == name) return parse_target(std::string(s.text), budget);
  if (const std::string text = plugin_target(name); !text.empty()) return parse_target(text, budget);
  for (const Format* format : all_formats())
    if (target_name(*format) == name && answers(*format)) return target_of(*format, model);
  if (!name.ends_with(".json")) {
    std::string list;
    for (const std::string& known : known_targets()) list += (list.empty() ? "" : ", ") + known;
    throw Error(Code::unknown_name, "there is no target '" + name + "'").hint("a .json file, or one of " + list);
  }
  try {
    const Bytes bytes = map_file(name);
    return parse_target(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), budget);
  } catch (Error& error) {
    error.in_file(name);
    throw;
  }
}

}  // namespace ingot::driver
