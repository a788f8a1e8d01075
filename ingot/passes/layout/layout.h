#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ingot {
class Graph;
class Node;
}  // namespace ingot

namespace ingot::passes {

/// Where a tensor of 3 to 5 dimensions has its channels: behind the batch (NCHW) or at the end (NHWC).
enum class Layout : std::uint8_t { channels_first, channels_last };

/// An operator of this domain means what the ONNX operator of the same name means, except that its data (input 0,
/// output 0) have their channels last; weights and attributes are ONNX's. Only backends see such nodes.
inline constexpr std::string_view kChannelsLastDomain = "ingot.channels_last";

struct LayoutOptions {
  /// In which layout a spatial operator (Conv, MaxPool, ...) is wanted. Empty: channels first, as ONNX has it.
  /// A node wanted with channels last is moved to kChannelsLastDomain.
  std::function<Layout(const Node&)> wanted;
  /// What an operator costs, in bytes moved, when its data are permuted (new axis j was axis perm[j]). Empty: nothing.
  std::function<std::int64_t(const Node&, std::span<const std::int64_t> perm)> penalty;
  /// What sizes that are not numbers are taken for: the first dimension, and each other.
  std::int64_t assumed_batch = 1, assumed_size = 64;
};

struct LayoutReport {
  std::size_t transposes_before = 0, transposes_after = 0;
  std::uint64_t bytes_before = 0, bytes_after = 0;  // moved by them in one run, with the assumed sizes
  std::int64_t cost = 0;                            // of the minimum cut: bytes of new transposes, and penalties
};

/// Decides for every value of the graph and its subgraphs which layout it has, so that the bytes moved by Transposes
/// are minimal: a minimum cut. Inputs and outputs of the graph keep theirs. The graph must be of the newest operator
/// set with types inferred; types stay right, and names of inputs and outputs too.
LayoutReport choose_layout(Graph& graph, const LayoutOptions& options = {});

/// Which layouts the inputs and outputs of a graph have; nothing where no spatial operator or transpose tells.
struct PortLayouts {
  std::vector<std::optional<Layout>> inputs, outputs;
};
PortLayouts port_layouts(Graph& graph);

/// Gives an input or an output of the graph another layout, with a Transpose inside that choose_layout may move.
/// Nothing happens to values that do not have 3 to 5 dimensions; returns whether something did.
bool set_input_layout(Graph& graph, std::size_t index, Layout from, Layout to);
bool set_output_layout(Graph& graph, std::size_t index, Layout from, Layout to);

/// "nchw", "nhwc", also "ncw", "ncdhw" ...: what --inputs-as takes.
std::optional<Layout> layout_by_name(std::string_view name);

}  // namespace ingot::passes
