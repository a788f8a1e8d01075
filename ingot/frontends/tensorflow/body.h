#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingot/formats/tensorflow/graph_def.h"

namespace ingot::frontends::tensorflow {

namespace tf = formats::tensorflow;

/// Where an input comes from: output `port` of a node, or argument `port` of the function.
struct Source {
  static constexpr std::int32_t kArgument = -1;
  std::int32_t node = kArgument;
  std::int32_t port = 0;
  friend bool operator==(const Source&, const Source&) = default;
};

/// In which branch of a Switch a node is alive: the condition and its value.
struct Guard {
  Source condition;
  bool branch = false;
  friend bool operator==(const Guard&, const Guard&) = default;
};

/// A loop of the old control flow: what belongs to one frame.
struct LoopFrame {
  std::string name;
  std::int32_t parent = -1;  // the frame around it
  std::vector<std::int32_t> enters, merges, exits;
  std::int32_t condition = -1;  // the LoopCond
};

/// A graph or the body of a function with its edges resolved.
class Body {
 public:
  using FindFunction = std::function<const tf::FunctionDef*(std::string_view)>;
  Body(std::span<const tf::NodeDef> nodes, const tf::FunctionDef* function, const FindFunction& find_function);

  std::size_t size() const { return nodes_.size(); }
  const tf::NodeDef& node(std::int32_t i) const { return nodes_[static_cast<std::size_t>(i)]; }
  const tf::FunctionDef* function() const { return function_; }
  /// The node's number; -1: there is none of that name.
  std::int32_t find(std::string_view name) const;
  /// The data inputs.
  std::span<const Source> inputs(std::int32_t i) const { return inputs_[static_cast<std::size_t>(i)]; }
  std::span<const std::int32_t> controls(std::int32_t i) const { return controls_[static_cast<std::size_t>(i)]; }
  /// How many outputs of the node others read, as far as the highest.
  std::size_t output_count(std::int32_t i) const;
  /// What a reference such as "node:1" or "node:output:0" means; refuses names that nothing defines.
  Source resolve(std::string_view reference) const;
  /// The source behind Identity nodes.
  Source behind_identities(Source source) const;

  // The old control flow.
  std::int32_t frame(std::int32_t i) const { return flow_ ? frames_of_[static_cast<std::size_t>(i)] : -1; }
  std::span<const Guard> guards(std::int32_t i) const;
  bool has_guard(Source source, const Guard& guard) const;
  const LoopFrame& loop(std::int32_t frame) const { return frames_[static_cast<std::size_t>(frame)]; }
  bool is_inside(std::int32_t frame, std::int32_t outer) const;

 private:
  void find_flow();
  void place(std::int32_t i);
  std::int32_t enter(std::int32_t i, std::int32_t parent);

  std::span<const tf::NodeDef> nodes_;
  const tf::FunctionDef* function_;
  const FindFunction& find_function_;
  std::unordered_map<std::string_view, std::int32_t> by_name_, arguments_;
  std::vector<std::vector<Source>> inputs_;
  std::vector<std::vector<std::int32_t>> controls_;
  bool flow_ = false;
  std::vector<std::int32_t> frames_of_;
  std::vector<std::vector<Guard>> guards_;
  std::vector<LoopFrame> frames_;
};

/// The number of the first tensor of an operator's output by its name, for references inside functions; 0 for
/// operators with one output or list.
std::int32_t output_position(std::string_view op, std::string_view output);

}  // namespace ingot::frontends::tensorflow
