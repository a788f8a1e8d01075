// Minimum cut by maximum flow (Dinic), with the edges of source and sink kept at their vertices.
#include "ingot/passes/layout/min_cut.h"

#include <algorithm>

namespace ingot::passes {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

int MinCut::add_vertex() {
  first_.push_back(-1);
  from_source_.push_back(0);
  to_sink_.push_back(0);
  return static_cast<int>(first_.size()) - 1;
}

void MinCut::add_edge(int from, int to, std::int64_t capacity) {
  if (from == to) return;
  edges_.push_back({to, first_[at(from)], std::min(capacity, kNever)});
  first_[at(from)] = static_cast<int>(edges_.size()) - 1;
  edges_.push_back({from, first_[at(to)], 0});
  first_[at(to)] = static_cast<int>(edges_.size()) - 1;
}

void MinCut::add_source_edge(int to, std::int64_t capacity) {
  from_source_[at(to)] = std::min(from_source_[at(to)] + capacity, kNever);
}

void MinCut::add_sink_edge(int from, std::int64_t capacity) {
  to_sink_[at(from)] = std::min(to_sink_[at(from)] + capacity, kNever);
}

std::vector<std::vector<int>> MinCut::components() const {
  std::vector<std::vector<int>> found;
  std::vector<bool> seen(first_.size());
  for (int root = 0; root < static_cast<int>(first_.size()); ++root) {
    if (seen[at(root)]) continue;
    seen[at(root)] = true;
    std::vector<int> members{root};
    for (std::size_t i = 0; i < members.size(); ++i)
      for (int e = first_[at(members[i])]; e >= 0; e = edges_[at(e)].next) {
        const int v = edges_[at(e)].to;
        if (seen[at(v)]) continue;
        seen[at(v)] = true;
        members.push_back(v);
      }
    found.push_back(std::move(members));
  }
  return found;
}

/// Distances from the source along edges with room; false: the sink is out of reach.
bool MinCut::find_levels(const std::vector<int>& component) {
  std::vector<int> queue;
  for (const int v : component) {
    level_[at(v)] = from_source_[at(v)] > 0 ? 0 : -1;
    current_[at(v)] = first_[at(v)];
    if (level_[at(v)] == 0) queue.push_back(v);
  }
  bool reached = false;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const int v = queue[i];
    reached |= to_sink_[at(v)] > 0;
    for (int e = first_[at(v)]; e >= 0; e = edges_[at(e)].next)
      if (edges_[at(e)].capacity > 0 && level_[at(edges_[at(e)].to)] < 0) {
        level_[at(edges_[at(e)].to)] = level_[at(v)] + 1;
        queue.push_back(edges_[at(e)].to);
      }
  }
  return reached;
}

/// Pushes along one path from the source through `root`; 0: there is none left.
std::int64_t MinCut::augment(int root) {
  std::vector<int> path;  // edges
  int v = root;
  while (true) {
    if (to_sink_[at(v)] > 0) {
      std::int64_t flow = std::min(from_source_[at(root)], to_sink_[at(v)]);
      for (const int e : path) flow = std::min(flow, edges_[at(e)].capacity);
      from_source_[at(root)] -= flow;
      to_sink_[at(v)] -= flow;
      for (const int e : path) {
        edges_[at(e)].capacity -= flow;
        edges_[at(e ^ 1)].capacity += flow;
      }
      return flow;
    }
    int& e = current_[at(v)];
    while (e >= 0 && (edges_[at(e)].capacity <= 0 || level_[at(edges_[at(e)].to)] != level_[at(v)] + 1))
      e = edges_[at(e)].next;
    if (e >= 0) {
      path.push_back(e);
      v = edges_[at(e)].to;
      continue;
    }
    if (path.empty()) return 0;
    v = edges_[at(path.back() ^ 1)].to;
    path.pop_back();
    current_[at(v)] = edges_[at(current_[at(v)])].next;
  }
}

std::int64_t MinCut::solve() {
  std::int64_t total = 0;
  level_.assign(first_.size(), -1);
  current_.assign(first_.size(), -1);
  side_.assign(first_.size(), Side::sink);
  for (const std::vector<int>& component : components()) {
    const bool is_tied =
        std::ranges::any_of(component, [&](int v) { return from_source_[at(v)] > 0 || to_sink_[at(v)] > 0; });
    while (find_levels(component)) {
      for (const int v : component)
        while (level_[at(v)] == 0 && from_source_[at(v)] > 0) {
          const std::int64_t flow = augment(v);
          if (flow == 0) break;
          total += flow;
        }
    }
    for (const int v : component) side_[at(v)] = !is_tied ? Side::free : level_[at(v)] >= 0 ? Side::source : Side::sink;
  }
  return total;
}

}  // namespace ingot::passes
