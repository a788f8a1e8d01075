// Operators of the source by the names that they have in the result.
#include "ingot/driver/operator_map.h"

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/json/document.h"
#include "ingot/ir/operator_pattern.h"

namespace ingot::driver {
namespace {

namespace json = formats::json;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Code::bad_field_value, "the mapping is not understood: " + why)
      .hint(R"(such as {"MyOp:my.domain": {"to": "YourOp:your.domain", "attributes": {"k": "count"}}})");
}

AttrValue value_of(const std::string& name, const json::Value& v) {
  if (v.is_text()) return std::string(v.text());
  if (v.is_bool() || v.is_integer()) return v.is_bool() ? std::int64_t{*v.as_bool()} : *v.as_int();
  if (v.is_number()) return static_cast<float>(*v.as_number());
  if (!v.is_list() || v.size() == 0) refuse("'" + name + "' is neither a number, a text nor a list of these");
  const auto entries = v.entries();
  std::vector<std::string> texts;
  std::vector<std::int64_t> whole;
  std::vector<float> numbers;
  for (const json::Value& entry : entries) {
    if (entry.is_text()) texts.emplace_back(entry.text());
    if (entry.is_integer()) whole.push_back(*entry.as_int());
    if (entry.is_number()) numbers.push_back(static_cast<float>(*entry.as_number()));
  }
  if (texts.size() == entries.size()) return texts;
  if (whole.size() == entries.size()) return whole;
  if (numbers.size() != entries.size()) refuse("the list '" + name + "' has entries of several kinds");
  return numbers;
}

/// Attributes are move-only, so each node has its own made from the text.
std::function<void(Attributes&)> setter_of(const json::Value& settings) {
  if (!settings.exists()) return {};
  if (!settings.is_object()) refuse("'set' is no object");
  for (const auto& [name, value] : settings.members()) value_of(std::string(name), value);
  return [settings](Attributes& attributes) {
    for (const auto& [name, value] : settings.members())
      attributes.set(Attribute(std::string(name), value_of(std::string(name), value)));
  };
}

void rename_attributes(Node& node, const std::map<std::string, std::optional<std::string>>& names) {
  for (const auto& [from, to] : names) {
    Attribute* attribute = node.attributes.find(from);
    if (!attribute) continue;
    if (to && from != *to && node.attributes.has(*to))
      throw Error(Code::bad_field_value, "the mapping gives it two attributes '" + *to + "'")
          .in_node(node.name, node.op, node.label());
    if (to)
      attribute->name = *to;
    else
      node.attributes.erase(from);
  }
}

/// A function has operator sets of its own.
OpsetImports& opsets_at(Model& model, const GraphPlace& place) {
  for (const auto& function : model.functions)
    if (function.get() == place.function) return function->opsets;
  return model.opsets;
}

}  // namespace

OperatorMap::OperatorMap(const std::string& file, Budget* budget) try {
  if (file.empty()) return;
  const Bytes bytes = map_file(file);
  const json::Value all = json::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, budget);
  if (!all.is_object()) refuse("it is no object");
  for (const auto& [from, entry] : all.members()) {
    const auto to = OperatorPattern::parse(entry.is_text() ? entry.text() : entry["to"].text());
    if (from.empty() || to.op.empty()) refuse("'" + std::string(from) + "' has no name to go by");
    Row row{.from = std::string(from), .op = std::string(to.op), .domain = std::string(to.domain.value_or(""))};
    if (entry.is_object()) {
      for (const auto& [key, value] : entry.members())
        if (key != "to" && key != "version" && key != "attributes" && key != "set")
          refuse("nothing is known of '" + std::string(key) + "'");
      row.version = entry["version"].as_int().value_or(1);
      for (const auto& [name, value] : entry["attributes"].members())
        row.attributes[std::string(name)] = value.is_null() ? std::nullopt : std::optional(std::string(value.text()));
      row.set = setter_of(entry["set"]);
    }
    rows_.push_back(std::move(row));
  }
} catch (Error& error) {
  error.in_file(file);
  throw;
}

void OperatorMap::allow(std::vector<std::string>& custom) const {
  for (const Row& row : rows_) custom.push_back(row.from);
}

std::vector<std::string> OperatorMap::names_after() const {
  std::vector<std::string> names;
  for (const Row& row : rows_) names.push_back(row.op + ":" + row.domain);
  return names;
}

std::vector<std::string> OperatorMap::apply(Model& model) const {
  std::vector<std::size_t> counts(rows_.size(), 0);
  for (const GraphPlace& place : all_graphs(model))
    for (Node& node : place.graph->nodes()) {
      std::size_t i = 0;
      while (i < rows_.size() && !OperatorPattern::parse(rows_[i].from).matches(node.op, node.domain)) ++i;
      if (i == rows_.size() || model.find_function(node.domain, node.op)) continue;
      const Row& row = rows_[i];
      ++counts[i];
      rename_attributes(node, row.attributes);
      if (row.set) row.set(node.attributes);
      node.op = row.op;
      node.domain = row.domain;
      OpsetImports& opsets = opsets_at(model, place);
      if (!opsets.version(row.domain)) opsets.set(row.domain, row.version);
    }
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    notes.push_back("map-ops: " + rows_[i].from + " -> " + rows_[i].op +
                    (rows_[i].domain.empty() ? "" : ":" + rows_[i].domain) + ", " + std::to_string(counts[i]) +
                    " nodes");
  return notes;
}

}  // namespace ingot::driver
