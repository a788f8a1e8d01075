#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ingot/ir/graph.h"
#include "ingot/passes/legalize/refusal.h"

namespace ingot::backends::keras {

using Ints = std::vector<std::int64_t>;
using Refused = std::optional<passes::legalize::Refusal>;
using Kind = passes::legalize::Refusal::Kind;

/// The model that is being made.
class Layers {
 public:
  void add_input(const Value& value);
  /// A layer on these values. `config`: its settings as JSON, `"units":3`. Returns its name.
  std::string add(std::string_view class_name, const std::string& config, const std::vector<std::string>& inputs,
                  const std::string& wanted, const std::vector<std::pair<std::string, Tensor>>& weights = {});
  void bind(const Value* value, std::string layer) { layers_[value] = std::move(layer); }
  /// Refuses what no layer makes: constants.
  const std::string& layer_of(const Value* value) const;
  bool has(const Value* value) const { return layers_.contains(value); }
  /// The layer under this very name, behind one that does nothing if need be.
  std::string named(const std::string& layer, const std::string& name);
  std::string config(const std::string& name, const std::vector<std::string>& outputs) const;

  std::vector<std::pair<std::string, Tensor>> weights;

 private:
  std::string unique(const std::string& wanted);

  std::vector<std::string> entries_, inputs_;
  std::map<const Value*, std::string> layers_;
  std::set<std::string> names_;
};

/// One node on its way. Data of spatial operators have channels last by now.
struct LayerOut {
  Layers& model;
  const Node& node;

  const Shape& shape(std::size_t i = 0) const { return *node.input(i)->type.shape; }
  const Shape& out_shape() const { return *node.output(0)->type.shape; }
  const Tensor* constant(std::size_t i) const;
  /// Makes a layer of the node's first input, or of `inputs`, for its output.
  void set(std::string_view class_name, const std::string& config,
           const std::vector<std::pair<std::string, Tensor>>& weights = {},
           const std::vector<std::string>& inputs = {});
  /// A layer on the way to it.
  std::string before(std::string_view class_name, const std::string& config, const std::string& input);
  const std::string& in(std::size_t i = 0) const { return model.layer_of(node.input(i)); }
};

struct Row {
  std::string_view op;
  Refused (*refuses)(const Node&);
  void (*emit)(LayerOut&);
};
const std::vector<Row>& all_rows();
const Row* row_of(const Node& node);

/// [1,2,3] as JSON.
std::string list_of(const Ints& numbers);

// Of windows: convolutions and pools.
Refused refuse_conv(const Node& node);
void emit_conv(LayerOut& n);
Refused refuse_pool(const Node& node);
void emit_pool(LayerOut& n);
Refused refuse_conv_transpose(const Node& node);
void emit_conv_transpose(LayerOut& n);
Refused refuse_resize(const Node& node);
void emit_resize(LayerOut& n);

// Of recurrent operators.
Refused refuse_recurrent(const Node& node);
void emit_recurrent(LayerOut& n);

}  // namespace ingot::backends::keras
