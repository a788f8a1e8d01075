#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingot/frontends/custom_operators.h"
#include "ingot/frontends/keras/import.h"
#include "ingot/frontends/keras/weights.h"
#include "ingot/frontends/notes.h"
#include "ingot/frontends/problems.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::keras {

using formats::json::Value;
using Config = formats::json::Value;
using Ints = std::vector<std::int64_t>;
using IrValue = ingot::Value;

/// What flows from layer to layer: a tensor, and which of its steps count (null: all).
struct Flow {
  IrValue* value = nullptr;
  IrValue* mask = nullptr;  // bool [batch, steps]
};

/// An argument of a call: a tensor, something written in the configuration, or a list of arguments.
struct Argument {
  std::optional<Flow> tensor{};
  Config literal{};
  std::vector<Argument> list{};     // of a dictionary: its values, sorted by their keys, as Keras does
  std::vector<std::string> keys{};  // of a dictionary
  bool is_list = false;
};
/// All tensors in it, in order.
void collect(const Argument& argument, std::vector<Flow>& tensors);

/// One translation: what all layers share.
struct Import {
  const formats::keras::ModelFile& source;
  const ImportOptions& options;
  Graph& graph;
  GraphBuilder b;
  CustomOperators custom;
  int version = 2;  // Keras's, the first number
  Problems problems{};
  Notes notes{};
  std::vector<Parameter> parameters{};
  std::size_t layer_count = 0;                            // read so far
  std::vector<std::pair<IrValue*, Config>> activities{};  // with regularizers
  std::optional<bool> training{};  // what the calls around state, whatever is done with the model
  Budget& budget;
};

class Network;

/// A layer as the model describes it; its calls share it.
struct Layer {
  std::string class_name, name, scope;  // scope: the names of the models around it and its own
  std::string module, registered;
  Config entry, config;
  Weights weights{};
  bool is_trainable = true;
  std::size_t number = 0;                                 // among the layers of its class
  std::size_t place = 0;                                  // among all layers, in the order of the file
  std::map<std::string, IrValue*> parameters{};           // made so far, by name
  std::shared_ptr<Network> network{};                     // of a model inside the model
  std::map<std::string, std::shared_ptr<Layer>> inner{};  // layers that it wraps
};

/// A description as configurations hold it: {"class_name": ..., "config": ...}, or {"module": ..., ...}.
Layer layer_of(const Config& entry, const std::string& scope_around, bool is_trainable);

/// One call of a layer while it is translated.
class Call {
 public:
  Call(Import& in, Layer& what, std::vector<Argument> with, std::map<std::string, Argument> named = {});

  Import& import;
  GraphBuilder& b;
  Layer& layer;
  std::vector<Argument> args;
  std::map<std::string, Argument> kwargs;
  std::vector<Flow> inputs;  // all tensors among the arguments
  std::vector<Flow> outputs;

  // The configuration. Keras 1's names of settings are looked for too.
  Config at(std::string_view key) const;
  bool flag(std::string_view key, bool otherwise) const;
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  std::int64_t integer(std::string_view key) const;
  double number(std::string_view key, double otherwise) const;
  std::string text(std::string_view key, std::string_view otherwise = {}) const;
  /// A number for each of `count` axes, or one for all.
  Ints ints(std::string_view key, std::size_t count, std::int64_t otherwise) const;
  bool is_channels_first() const;

  /// An argument of the call by its place or its name: as it is in the file.
  const Argument* argument(std::size_t i, std::string_view name) const;

  IrValue* in(std::size_t i = 0) const;
  /// An input in the type that the layer computes in, whole numbers too.
  IrValue* real(std::size_t i = 0) const;
  IrValue* mask(std::size_t i = 0) const { return i < inputs.size() ? inputs[i].mask : nullptr; }
  /// As the call states it ("mask"), else as it comes with the input.
  IrValue* stated_mask(std::size_t i = 0) const;
  std::int64_t rank(std::size_t i = 0) const;
  /// The size of an axis of an input; refuses if it is not known.
  std::int64_t size(std::size_t i, std::int64_t axis) const;
  DType elem() const;  // that the layer computes in

  /// The next stored weight as a parameter of the model, in the type that the layer computes in. `is_trained`: off for
  /// statistics.
  IrValue* weight(const std::string& name, bool is_trained = true);
  /// `sizes`: what the configuration says of its shape, -1 where it says nothing; another shape is refused.
  IrValue* weight(const std::string& name, const Dims& sizes, bool is_trained = true);
  void require_sizes(const std::string& name, const Dims& stored, const Dims& sizes) const;
  bool has_weight() const { return next_ < layer.weights.values().size(); }
  std::size_t weight_count() const { return layer.weights.values().size(); }
  std::size_t weights_used() const { return next_; }
  /// The stored weight itself, for those that are settings rather than parameters.
  Tensor stored(std::size_t i) const;
  /// A parameter made of a stored tensor that had to be changed.
  IrValue* parameter(const std::string& name, const Tensor& tensor, bool is_trained = true);

  /// Whether what is random while training is so while running too: training=True in the call.
  bool is_live() const { return import.training.value_or(false); }
  /// Whether the layer does something else while the model trains.
  bool learns() const { return import.options.is_training && import.training.value_or(true); }

  void set(IrValue* value) { outputs = {{value, nullptr}}; }
  void set(IrValue* value, IrValue* mask) { outputs = {{value, mask}}; }

  /// Calls another layer that this one wraps, by its key: "layer", "cell". `weights`: of the wrapped one.
  std::vector<Flow> call(const std::string& key, const Config& entry, const Weights& weights,
                         std::vector<Argument> with, std::map<std::string, Argument> named = {});

  void require(bool condition, const std::string& what) const;
  [[noreturn]] void refuse(const std::string& what, const std::string& remedy = {}) const;

 private:
  std::size_t next_ = 0;
};

/// Translates one call; what the layer has no translation for goes to the problems, and the outputs are null.
std::vector<Flow> translate(Import& import, Layer& layer, std::vector<Argument> args,
                            std::map<std::string, Argument> kwargs = {});

/// The element type of a policy ("mixed_float16"), a type's name, or an object that holds one.
DType compute_type(const Config& dtype);
/// Whether a type or policy is stated that Keras has, or none.
bool is_known_type(const Config& dtype);
Tensor to_tensor(const formats::hdf5::Array& array);

}  // namespace ingot::frontends::keras
