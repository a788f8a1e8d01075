#pragma once
#include <cstdint>
#include <limits>
#include <vector>

namespace ingot::passes {

/// The cheapest way to put every vertex on the source's or on the sink's side, where an edge whose tail is on the
/// source's side and whose head is on the sink's costs its capacity. Dinic's algorithm, component by component.
class MinCut {
 public:
  static constexpr std::int64_t kNever = std::int64_t{1} << 60;  ///< an edge that must not be cut

  int add_vertex();
  void add_edge(int from, int to, std::int64_t capacity);
  void add_source_edge(int to, std::int64_t capacity);
  void add_sink_edge(int from, std::int64_t capacity);

  /// The cost of the cut. A vertex that it leaves open goes to the sink's side, unless nothing ties it to either.
  std::int64_t solve();
  bool on_source_side(int v) const { return side_[static_cast<std::size_t>(v)] == Side::source; }
  /// Nothing ties the vertex to either side, not even through others.
  bool is_free(int v) const { return side_[static_cast<std::size_t>(v)] == Side::free; }

 private:
  enum class Side : std::uint8_t { sink, source, free };
  struct Edge {
    int to;
    int next;  // in the list of the tail's edges
    std::int64_t capacity;
  };

  bool find_levels(const std::vector<int>& component);
  std::int64_t augment(int root);
  std::vector<std::vector<int>> components() const;

  std::vector<Edge> edges_;  // an edge and its reverse side by side
  std::vector<int> first_, current_, level_;
  std::vector<std::int64_t> from_source_, to_sink_;
  std::vector<Side> side_;
};

}  // namespace ingot::passes
