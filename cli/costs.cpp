// What a model's nodes cost, as a table and as JSON.
#include "costs.h"

#include <cstdio>

#include "terminal.h"

namespace ingot::cli {
namespace {

std::string human_operations(double n) {
  const char* units[] = {"", " k", " M", " G", " T", " P"};
  std::size_t unit = 0;
  while (n >= 1000 && unit + 1 < std::size(units)) {
    n /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit ? "%.1f%s" : "%.0f%s", n, units[unit]);
  return text;
}

}  // namespace

void print_costs(const driver::Costs& costs, bool shows_operations, bool shows_memory) {
  std::vector<bool> right = {false, false, false};
  std::vector<std::string> head = {"node", "operator", "output"};
  const auto add = [&](const char* title) {
    right.push_back(true);
    head.emplace_back(title);
  };
  if (shows_operations) add("operations");
  if (shows_memory) {
    add("weights");
    add("outputs");
  }
  Table table(right);
  table.add(head);
  for (const driver::NodeCost& n : costs.nodes) {
    std::vector<std::string> row = {n.node, n.op, n.output};
    if (shows_operations) row.push_back(n.operations ? human_operations(*n.operations) : "?");
    if (shows_memory) {
      row.push_back(n.weights ? human_bytes(n.weights) : "");
      row.push_back(n.activations ? human_bytes(*n.activations) : "?");
    }
    table.add(row);
  }
  std::printf("%s\n%s", out_style(Style::bold, "costs").c_str(), table.str().c_str());
  if (shows_operations) std::printf("  operations: %s\n", human_operations(costs.operations).c_str());
  if (shows_memory)
    std::printf("  weights: %s; outputs of all nodes: %s; alive at once: %s%s\n", human_bytes(costs.weights).c_str(),
                human_bytes(costs.activations).c_str(), human_bytes(costs.peak).c_str(),
                costs.peak_node.empty() ? "" : (", at " + costs.peak_node).c_str());
  if (costs.unknown)
    std::printf("  of %s nodes something is not known: --input-shape gives sizes\n", grouped(costs.unknown).c_str());
}

Json costs_json(const driver::Costs& costs) {
  Json json{{"operations", costs.operations},   {"weights", costs.weights},
            {"activations", costs.activations}, {"peak", {{"bytes", costs.peak}, {"node", costs.peak_node}}},
            {"unknown", costs.unknown},         {"nodes", Json::array()}};
  for (const driver::NodeCost& n : costs.nodes) {
    json["nodes"].push_back({{"node", n.node}, {"op", n.op}, {"output", n.output}, {"weights", n.weights}});
    json["nodes"].back()["operations"] = n.operations ? Json(*n.operations) : Json();
    json["nodes"].back()["activations"] = n.activations ? Json(*n.activations) : Json();
  }
  return json;
}

}  // namespace ingot::cli
