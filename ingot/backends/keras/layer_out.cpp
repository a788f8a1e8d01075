// Layers and their weights, as a functional model describes them.
#include "ingot/backends/keras/layer_out.h"

#include <fmt/format.h>

#include "ingot/base/error.h"
#include "ingot/formats/json/document.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::keras {
namespace {

namespace json = formats::json;

std::string_view type_word(DType type) {
  switch (type) {
    case DType::f32:
      return "float32";
    case DType::i32:
    case DType::i64:
      return "int32";
    case DType::boolean:
      return "bool";
    default:
      return "float32";
  }
}

std::string nodes_of(const std::vector<std::string>& inputs) {
  std::string text;
  for (const std::string& input : inputs)
    text += (text.empty() ? "" : ",") + fmt::format("[{},0,0,{{}}]", json::quoted(input));
  return "[[" + text + "]]";
}

std::string references(const std::vector<std::string>& layers) {
  std::string text;
  for (const std::string& layer : layers)
    text += (text.empty() ? "" : ",") + fmt::format("[{},0,0]", json::quoted(layer));
  return "[" + text + "]";
}

}  // namespace

std::string list_of(const Ints& numbers) { return fmt::format("[{}]", fmt::join(numbers, ",")); }

std::string Layers::unique(const std::string& wanted) {
  std::string base = wanted.empty() ? "layer" : wanted, made = base;
  for (int i = 1; !names_.insert(made).second; ++i) made = fmt::format("{}_{}", base, i);
  return made;
}

void Layers::add_input(const Value& value) {
  const std::string name = unique(value.name());
  std::string dims = "null";
  for (std::size_t i = 1; i < value.type.shape->size(); ++i) {
    const auto size = (*value.type.shape)[i].as_int();
    dims += size ? fmt::format(",{}", *size) : ",null";
  }
  entries_.push_back(fmt::format(
      R"({{"class_name":"InputLayer","config":{{"batch_input_shape":[{}],"dtype":"{}","sparse":false,"name":{}}},"name":{},"inbound_nodes":[]}})",
      dims, type_word(value.type.elem), json::quoted(name), json::quoted(name)));
  inputs_.push_back(name);
  bind(&value, name);
}

std::string Layers::add(std::string_view class_name, const std::string& config, const std::vector<std::string>& inputs,
                        const std::string& wanted, const std::vector<std::pair<std::string, Tensor>>& own) {
  std::string plain;
  for (const char c : wanted) plain += c == '/' || c == ':' ? '_' : c;  // slashes divide the names of weights
  const std::string name = unique(plain);
  entries_.push_back(fmt::format(
      R"({{"class_name":"{}","config":{{"name":{},"trainable":true{}{}}},"name":{},"inbound_nodes":{}}})", class_name,
      json::quoted(name), config.empty() ? "" : ",", config, json::quoted(name), nodes_of(inputs)));
  for (const auto& [key, tensor] : own) weights.emplace_back(name + "/" + key, tensor);
  return name;
}

const std::string& Layers::layer_of(const Value* value) const {
  const auto found = layers_.find(value);
  if (found == layers_.end())
    throw Error(Code::unsupported_feature, "'" + value->name() + "' is a constant, which no layer gives");
  return found->second;
}

std::string Layers::named(const std::string& layer, const std::string& name) {
  if (layer == name) return layer;
  return add("Activation", R"("activation":"linear")", {layer}, name);
}

std::string Layers::config(const std::string& name, const std::vector<std::string>& outputs) const {
  return fmt::format(
      R"({{"class_name":"Functional","config":{{"name":{},"trainable":true,"layers":[{}],"input_layers":{},"output_layers":{}}}}})",
      json::quoted(name.empty() ? "model" : name), fmt::join(entries_, ","), references(inputs_), references(outputs));
}

const Tensor* LayerOut::constant(std::size_t i) const {
  return i < node.input_count() && node.input(i) ? ops::constant_of(node.input(i)) : nullptr;
}

void LayerOut::set(std::string_view class_name, const std::string& config,
                   const std::vector<std::pair<std::string, Tensor>>& weights, const std::vector<std::string>& inputs) {
  const std::vector<std::string> from = inputs.empty() ? std::vector<std::string>{in()} : inputs;
  model.bind(node.output(0), model.add(class_name, config, from, node.output(0)->name(), weights));
}

std::string LayerOut::before(std::string_view class_name, const std::string& config, const std::string& input) {
  return model.add(class_name, config, {input}, node.output(0)->name() + "_before");
}

}  // namespace ingot::backends::keras
