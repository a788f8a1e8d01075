#pragma once
#include "ingot/frontends/keras/layer.h"

namespace ingot::frontends::keras {

/// An input of a model: its name and type.
struct NetworkInput {
  std::string name;
  Type type;
};

/// A Sequential or functional model: which layer is called with what.
class Network {
 public:
  /// `layer`: the model as a layer; its weights are those of the whole model.
  Network(Import& import, const Layer& layer);

  /// As the configuration states them; empty: a model that learns its shape when it is first called.
  const std::vector<NetworkInput>& inputs() const { return inputs_; }
  /// The values of the outputs for these inputs.
  std::vector<Flow> run(const std::vector<Flow>& inputs);
  /// The same, called as a layer is.
  std::vector<Flow> run(const std::vector<Argument>& args);
  /// Names of the layers that give the outputs, in their order.
  std::vector<std::string> output_names() const;
  /// All its layers stand where the layer does that wraps it.
  void set_place(std::size_t place);
  /// Other outputs than the model's own: the first of each of these layers.
  void choose_outputs(const std::vector<std::string>& layers);

 private:
  struct Reference {
    std::string layer;
    std::int64_t node = 0, tensor = 0;
  };
  struct Node {
    std::size_t layer = 0;
    std::int64_t index = 0;  // among the calls of its layer
    Config inbound;
  };
  void add_layer(const Config& entry);
  void read_sequential(const Config& config);
  void read_functional(const Config& config);
  NetworkInput input_of(const Layer& layer) const;
  std::vector<Reference> references_in(const Config& config) const;
  using Flows = std::map<std::string, std::vector<Flow>>;  // what each call gave, by layer and number of the call
  Argument argument_of(const Config& config, const Flows& flows) const;
  void find_first_nodes();
  std::vector<std::size_t> needed_calls() const;
  /// With the calls of its layer counted from 0.
  Reference as_call(Reference reference) const;
  static const Flow* find(const Flows& flows, const Reference& reference);
  void call(const Node& node, Flows& flows);
  [[noreturn]] void refuse_missing(const Flows& flows, const Reference& output) const;
  std::vector<Flow> run_sequential(const std::vector<Flow>& inputs);
  std::vector<Flow> run_functional(const std::vector<Flow>& inputs);

  Import& import_;
  Weights weights_;
  std::string scope_;
  bool is_trainable_ = true, is_sequential_ = false, takes_dictionary_ = false;
  std::vector<std::shared_ptr<Layer>> layers_;
  std::map<std::string, std::size_t> by_name_;
  std::map<std::string, std::size_t> of_class_;
  std::vector<Node> nodes_;
  std::vector<Reference> input_references_, outputs_;  // outputs: with calls counted from 0
  std::map<std::string, std::int64_t> first_node_;     // of models inside: the number of their first call
  std::vector<NetworkInput> inputs_;
};

bool is_network(std::string_view class_name);
bool is_network(const Layer& layer);
/// A class of the user's own, which may have the name of one of Keras's.
bool is_users_own(const Layer& layer);

}  // namespace ingot::frontends::keras
