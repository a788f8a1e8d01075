// What a conversion did, as JSON.
#include "convert_report.h"

#include <map>

#include "half_report.h"
#include "ingot/driver/summary.h"
#include "ingot/ir/model.h"
#include "ingot/ir/source_notes.h"
#include "verdict.h"

namespace ingot::cli {
namespace {

Json ports(const std::vector<driver::Summary::Port>& list, const Metadata& metadata) {
  Json json = Json::array();
  for (const auto& port : list) {
    json.push_back({{"name", port.name}, {"type", port.type}});
    const std::string layout(note_of(metadata, "ingot.layout." + port.name));
    if (!layout.empty()) json.back()["layout"] = layout;
  }
  return json;
}

/// Operators of the source by what is left of them: nodes remember where they come from.
Json sources(const Model& model) {
  std::map<std::string, std::map<std::string, std::size_t>> by_source;
  for (const GraphPlace& place : all_graphs(model))
    for (const Node& node : place.graph->nodes())
      if (const std::string source(note_of(node.metadata, kSourceOp)); !source.empty()) ++by_source[source][node.op];
  Json json = Json::object();
  for (const auto& [source, nodes] : by_source) json[source] = nodes;
  return json;
}

}  // namespace

Json to_json(const Conversion& c) {
  const driver::Summary summary = driver::summarise(c.report.model);
  Json json{{"input", c.input},
            {"output", c.output},
            {"input_format", c.report.from->title},
            {"output_format", c.report.to->title},
            {"ir_version", c.report.model.ir_version},
            {"nodes_changed", c.report.nodes_changed},
            {"nodes_added", c.report.nodes_added},
            {"notes", c.report.notes}};
  json["opsets"] = Json::object();
  for (const auto& [domain, version] : summary.opsets) json["opsets"][domain] = version;
  json["inputs"] = ports(summary.inputs, summary.metadata);
  json["outputs"] = ports(summary.outputs, summary.metadata);
  json["nodes"] = summary.nodes;
  json["parameters"] = summary.parameter_elements;
  json["parameter_bytes"] = summary.parameter_bytes;
  json["operators"] = summary.operators;
  json["source_operators"] = sources(c.report.model);
  const auto count = [&](const char* op) {
    const auto it = summary.operators.find(op);
    return it == summary.operators.end() ? std::size_t{0} : it->second;
  };
  json["casts"] = {{"count", count("Cast")}, {"notes", Json::array()}};
  for (const std::string& note : c.report.notes)
    if (note.find("cast") != std::string::npos || note.find(" as float") != std::string::npos)
      json["casts"]["notes"].push_back(note);
  json["transposes"] = {{"count", count("Transpose")}, {"notes", Json::array()}};
  for (const std::string& note : c.report.notes)
    if (note.find("transpose") != std::string::npos || note.find("layout") != std::string::npos)
      json["transposes"]["notes"].push_back(note);
  if (c.report.half) json["half"] = to_json(*c.report.half);
  if (c.verdict)
    json["verification"] = to_json(*c.verdict);
  else
    json["verification"] = {{"answer", "none"}, {"why", c.report.not_verified}};
  json["seconds"] = {
      {"load", c.report.load_seconds}, {"convert", c.report.convert_seconds}, {"write", c.report.write_seconds}};
  if (c.verdict) json["seconds"]["verify"] = c.verdict->seconds;
  return json;
}

}  // namespace ingot::cli
