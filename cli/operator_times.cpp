// Where the time of a run went.
#include "operator_times.h"

#include <algorithm>
#include <cstdio>

#include "ingot/base/atomic_file.h"
#include "terminal.h"

namespace ingot::cli {
namespace {

constexpr std::size_t kShown = 20;

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", v);
  return text;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", 100 * share);
  return text;
}

/// The middle of long names says least.
std::string shortened(const std::string& name) {
  constexpr std::size_t kMost = 48;
  if (name.size() <= kMost) return name;
  return name.substr(0, kMost / 2 - 1) + "..." + name.substr(name.size() - kMost / 2 + 2);
}

double sum_of(const std::vector<driver::NodeTime>& nodes) {
  double sum = 0;
  for (const auto& node : nodes) sum += node.microseconds;
  return std::max(sum, 1e-9);
}

void print_heading(const std::string& text) { std::fprintf(stderr, "%s\n", err_style(Style::bold, text).c_str()); }

}  // namespace

void write_trace(const engine::Profile& profile, const std::string& path) {
  AtomicFile file(path);
  file.write(driver::chrome_trace(profile));
  file.commit();
}

void print_profile(const std::vector<driver::NodeTime>& nodes, std::size_t runs, const std::string& what) {
  const double sum = sum_of(nodes), each = 1000 * static_cast<double>(std::max<std::size_t>(runs, 1));
  const auto calls = [&](std::size_t count) { return std::to_string(count / std::max<std::size_t>(runs, 1)); };
  print_heading("slowest nodes of " + number(sum / each) + " ms, " + what);
  Table by_node({false, false, false, false, true, true, true});
  by_node.add({"node", "operator", "kernel", "result", "calls", "ms", "%"});
  for (std::size_t i = 0; i < std::min(nodes.size(), kShown); ++i)
    by_node.add({shortened(nodes[i].node), nodes[i].op, nodes[i].kernel, shortened(nodes[i].outputs),
                 calls(nodes[i].calls), number(nodes[i].microseconds / each), percent(nodes[i].microseconds / sum)});
  std::fputs(by_node.str().c_str(), stderr);
  if (nodes.size() > kShown) std::fprintf(stderr, "  and %zu more\n", nodes.size() - kShown);
  print_heading("slowest operators");
  Table by_operator({false, false, true, true, true});
  by_operator.add({"operator", "kernel", "calls", "ms", "%"});
  const auto operators = driver::slowest_operators(nodes);
  for (std::size_t i = 0; i < std::min(operators.size(), kShown); ++i)
    by_operator.add({operators[i].op, operators[i].kernel, calls(operators[i].calls),
                     number(operators[i].microseconds / each), percent(operators[i].microseconds / sum)});
  std::fputs(by_operator.str().c_str(), stderr);
}

Json profile_json(const std::vector<driver::NodeTime>& nodes) {
  const double sum = sum_of(nodes);
  Json json{{"ms", sum / 1000}, {"nodes", Json::array()}, {"operators", Json::array()}};
  const auto times = [&](const auto& entry) {
    return Json{{"calls", entry.calls}, {"self_ms", entry.microseconds / 1000}, {"share", entry.microseconds / sum}};
  };
  for (const auto& node : nodes) {
    Json row{{"node", node.node}, {"op", node.op}, {"kernel", node.kernel}, {"outputs", node.outputs}};
    row.update(times(node));
    json["nodes"].push_back(row);
  }
  for (const auto& entry : driver::slowest_operators(nodes)) {
    Json row{{"op", entry.op}, {"kernel", entry.kernel}};
    row.update(times(entry));
    json["operators"].push_back(row);
  }
  return json;
}

}  // namespace ingot::cli
