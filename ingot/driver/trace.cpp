// What a run's profile says.
#include "ingot/driver/trace.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ingot/base/json.h"

namespace ingot::driver {

std::string chrome_trace(const engine::Profile& profile) {
  Json events = Json::array();
  for (const engine::NodeEvent& e : profile.events)
    events.push_back({{"name", e.op},
                      {"cat", "node"},
                      {"ph", "X"},
                      {"ts", e.start},
                      {"dur", e.duration},
                      {"pid", 1},
                      {"tid", 1},
                      {"args", {{"node", e.node}, {"kernel", e.kernel}, {"outputs", e.outputs}}}});
  const Json trace{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return trace.dump(1) + "\n";
}

std::vector<NodeTime> node_times(const engine::Profile& profile) {
  std::map<std::tuple<std::string, std::string, std::string>, NodeTime> sums;
  std::vector<double> inner(1, 0);  // by depth: time of nodes that ended since the last one a level up
  for (const engine::NodeEvent& e : profile.events) {
    const auto depth = static_cast<std::size_t>(e.depth);
    if (inner.size() < depth + 2) inner.resize(depth + 2, 0);
    NodeTime& sum = sums[{e.node, e.op, e.kernel}];
    sum.node = e.node;
    sum.op = e.op;
    sum.kernel = e.kernel;
    sum.outputs = e.outputs;
    ++sum.calls;
    sum.microseconds += e.duration - inner[depth + 1];
    inner[depth + 1] = 0;
    inner[depth] += e.duration;
  }
  std::vector<NodeTime> times;
  for (auto& [key, sum] : sums) times.push_back(std::move(sum));
  std::ranges::stable_sort(times, std::greater{}, &NodeTime::microseconds);
  return times;
}

std::vector<OperatorTime> slowest_operators(const std::vector<NodeTime>& nodes) {
  std::map<std::pair<std::string, std::string>, OperatorTime> sums;
  for (const NodeTime& node : nodes) {
    OperatorTime& sum = sums[{node.op, node.kernel}];
    sum.op = node.op;
    sum.kernel = node.kernel;
    sum.calls += node.calls;
    sum.microseconds += node.microseconds;
  }
  std::vector<OperatorTime> times;
  for (auto& [key, sum] : sums) times.push_back(std::move(sum));
  std::ranges::stable_sort(times, std::greater{}, &OperatorTime::microseconds);
  return times;
}

}  // namespace ingot::driver
