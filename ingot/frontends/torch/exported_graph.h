#pragma once
#include <map>
#include <string>
#include <vector>

#include "ingot/formats/torch/exported.h"
#include "ingot/frontends/torch/translation.h"

namespace ingot::frontends::torch {

/// Follows the nodes of a graph of torch.export, and the graphs that its higher-order operators take.
class ExportedGraph {
 public:
  explicit ExportedGraph(Translation& translation) : t_(translation) {}

  void set(const std::string& name, Item item) { values_.insert_or_assign(name, std::move(item)); }
  Item item(const formats::torch::Argument& argument) const;
  void run(const formats::torch::ExportedGraph& graph);

 private:
  using Argument = formats::torch::Argument;
  using Node = formats::torch::ExportedNode;

  void translate(const Node& node);
  void assign(const std::vector<Argument>& outputs, const Item& result);
  /// What an inner graph makes of its inputs; it sees nothing of this one.
  std::vector<Item> inner(const formats::torch::ExportedGraph& graph, const std::vector<Item>& inputs);
  Item higher_order(std::string_view name, const Node& node);
  Item cond(const Node& node);
  Item while_loop(const Node& node);
  Item map(const Node& node);
  Item scan(const Node& node);
  std::vector<Item> operands(const Node& node, std::size_t from) const;

  Translation& t_;
  std::map<std::string, Item> values_;
  int depth_ = 0;
};

}  // namespace ingot::frontends::torch
