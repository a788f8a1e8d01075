// Layers, their settings and weights, and what a call of one is given.
#include "ingot/frontends/keras/layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/network.h"

namespace ingot::frontends::keras {
namespace {

struct Alias {
  std::string_view now, before;
};
/// What Keras 1 called the settings.
constexpr Alias kAliases[] = {
    {"units", "output_dim"},
    {"filters", "nb_filter"},
    {"strides", "subsample"},
    {"strides", "stride"},
    {"strides", "subsample_length"},
    {"padding", "border_mode"},
    {"use_bias", "bias"},
    {"data_format", "dim_ordering"},
    {"recurrent_activation", "inner_activation"},
    {"rate", "p"},
    {"pool_size", "pool_length"},
    {"dilation_rate", "atrous_rate"},
    {"size", "length"},
    {"kernel_size", "filter_length"},
    {"axes", "dot_axes"},
    {"negative_slope", "alpha"},
    {"axis", "concat_axis"},
};

std::string_view text_of_type(const Config& dtype) {
  if (dtype.is_text()) return dtype.text();
  if (dtype["config"].is_object()) {
    const Config inner = dtype["config"];
    if (inner["default_policy"].exists()) return text_of_type(inner["default_policy"]);  // a policy for each part
    if (inner["name"].is_text()) return inner["name"].text();
    if (inner["source_name"].is_text()) return inner["source_name"].text();
  }
  return {};
}

DType compute_type_named(std::string_view name) {
  if (name == "float16") return DType::f16;
  if (name == "bfloat16") return DType::bf16;
  if (name == "float32") return DType::f32;
  if (name == "float64") return DType::f64;
  if (name == "bool") return DType::boolean;
  return dtype_from_name(name).value_or(DType::undefined);
}

/// What a layer states of a weight: "recurrent_kernel" has a "recurrent_regularizer"; Keras 1 wrote W, U and b.
Config rule_of(const Config& config, std::string_view weight, std::string_view kind) {
  const auto stated = [&](std::string_view of) { return config[std::string(of) + "_" + std::string(kind)]; };
  if (const std::size_t gate = weight.find_last_of('_');
      gate != weight.npos && gate + 2 == weight.size() && weight.back() >= '0' && weight.back() <= '9')
    weight = weight.substr(0, gate);  // Keras 1 has one for each gate
  constexpr std::string_view kKernel = "_kernel";
  if (weight.ends_with(kKernel)) weight.remove_suffix(kKernel.size());
  std::vector<std::string_view> names{weight};
  if (weight == "kernel") names.insert(names.end(), {"depthwise", "W"});
  if (weight == "embeddings") names.push_back("W");
  if (weight == "recurrent") names.push_back("U");
  if (weight == "bias") names.push_back("b");
  for (const std::string_view name : names)
    if (Config found = stated(name); !found.is_null()) return found;
  return {};
}

}  // namespace

void collect(const Argument& argument, std::vector<Flow>& tensors) {
  if (argument.tensor) tensors.push_back(*argument.tensor);
  for (const Argument& inner : argument.list) collect(inner, tensors);
}

DType compute_type(const Config& dtype) {
  std::string_view name = text_of_type(dtype);
  if (const std::size_t from = name.find("_from_"); from != name.npos) name.remove_prefix(from + 6);
  if (name.starts_with("mixed_")) name.remove_prefix(6);
  return compute_type_named(name);
}

bool is_known_type(const Config& dtype) {
  const std::string_view name = text_of_type(dtype);
  // Early versions of tf.keras infer the type from the inputs.
  return name.empty() || name.find("infer") != name.npos || compute_type(dtype) != DType::undefined;
}

Tensor to_tensor(const formats::hdf5::Array& array) {
  if (array.dtype == DType::string) return Tensor::of_strings(array.dims, array.strings);
  if (array.dtype == DType::undefined) throw Error(Code::bad_element_type, "a weight is of a type that is not known");
  return Tensor(array.dtype, array.dims, array.data);
}

Layer layer_of(const Config& entry, const std::string& scope_around, bool is_trainable) {
  Layer layer;
  layer.entry = entry;
  layer.class_name = entry["class_name"].text();
  layer.module = entry["module"].text();
  layer.registered = entry["registered_name"].text();
  layer.config = entry["config"];
  layer.name = entry["name"].text();
  if (layer.name.empty()) layer.name = layer.config["name"].text();
  if (layer.name.empty()) layer.name = snake_case(layer.class_name);
  layer.scope = scope_around.empty() ? layer.name : scope_around + "/" + layer.name;
  layer.is_trainable = is_trainable && layer.config["trainable"].as_bool().value_or(true);
  if (layer.class_name.empty()) throw Error(Code::bad_json, "a layer does not say of which class it is");
  return layer;
}

Call::Call(Import& in, Layer& what, std::vector<Argument> with, std::map<std::string, Argument> named)
    : import(in), b(in.b), layer(what), args(std::move(with)), kwargs(std::move(named)) {
  for (const Argument& argument : args) collect(argument, inputs);
}

Config Call::at(std::string_view key) const {
  Config found = layer.config[key];
  if (found.exists()) return found;
  for (const Alias& alias : kAliases)
    if (alias.now == key)
      if (Config old = layer.config[alias.before]; old.exists()) return old;
  return {};
}

bool Call::flag(std::string_view key, bool otherwise) const { return at(key).as_bool().value_or(otherwise); }

std::int64_t Call::integer(std::string_view key, std::int64_t otherwise) const {
  const Config found = at(key);
  if (found.is_null()) return otherwise;
  if (found.is_list() && found.size() == 1) return found[0].as_int().value_or(otherwise);
  const auto value = found.as_int();
  require(value.has_value(), fmt::format("'{}' is no whole number", key));
  return *value;
}

std::int64_t Call::integer(std::string_view key) const {
  require(!at(key).is_null(), fmt::format("'{}' is missing", key));
  return integer(key, 0);
}

double Call::number(std::string_view key, double otherwise) const { return at(key).as_number().value_or(otherwise); }

std::string Call::text(std::string_view key, std::string_view otherwise) const {
  const Config found = at(key);
  return std::string(found.is_text() ? found.text() : otherwise);
}

Ints Call::ints(std::string_view key, std::size_t count, std::int64_t otherwise) const {
  const Config found = at(key);
  if (found.is_null()) return Ints(count, otherwise);
  if (const auto one = found.as_int()) return Ints(count, *one);
  Ints values;
  for (const Config& entry : found.entries()) {
    require(entry.as_int().has_value(), fmt::format("'{}' holds what is no whole number", key));
    values.push_back(*entry.as_int());
  }
  if (values.size() == 1 && count > 1) values.assign(count, values[0]);
  require(values.size() == count, fmt::format("'{}' does not have {} numbers", key, count));
  return values;
}

bool Call::is_channels_first() const {
  const std::string format = text("data_format");
  return format == "channels_first" || format == "th";
}

const Argument* Call::argument(std::size_t i, std::string_view name) const {
  if (i < args.size()) return &args[i];
  const auto found = kwargs.find(std::string(name));
  return found == kwargs.end() ? nullptr : &found->second;
}

IrValue* Call::in(std::size_t i) const {
  require(i < inputs.size() && inputs[i].value, fmt::format("it is called without its input {}", i));
  return inputs[i].value;
}

IrValue* Call::real(std::size_t i) const { return is_float(in(i)->type.elem) ? in(i) : b.cast(in(i), elem()); }

IrValue* Call::stated_mask(std::size_t i) const {
  std::vector<Flow> stated;
  if (const auto found = kwargs.find("mask"); found != kwargs.end()) {
    const bool is_list = found->second.is_list;
    for (const Argument& each : is_list ? found->second.list : std::vector<Argument>{found->second})
      stated.push_back(each.tensor.value_or(Flow()));
  }
  if (i >= stated.size() || !stated[i].value) return mask(i);
  return b.cast(stated[i].value, DType::boolean);
}

std::int64_t Call::rank(std::size_t i) const {
  const auto rank = rank_of(in(i));
  require(rank.has_value(), "the rank of an input is not known");
  return *rank;
}

std::int64_t Call::size(std::size_t i, std::int64_t axis) const {
  const auto size = dim_of(in(i), axis);
  if (!size)
    throw Error(Code::shape_needed, fmt::format("the size of axis {} of its input must be known", axis))
        .hint("fix it with --input-shape");
  return *size;
}

DType Call::elem() const {
  const DType type = compute_type(layer.config["dtype"]);
  return type == DType::undefined ? DType::f32 : type;
}

Tensor Call::stored(std::size_t i) const {
  if (!layer.weights.has_any())
    throw Error(Code::bad_source_graph, "the file holds no weights")
        .hint("--weights-from names the file that does (model.save_weights)");
  if (i >= layer.weights.values().size())
    throw Error(Code::bad_source_graph,
                fmt::format("its weight {} is not in the file, which has {} of it", i, layer.weights.values().size()));
  return to_tensor(layer.weights.values()[i]->value);
}

IrValue* Call::parameter(const std::string& name, const Tensor& tensor, bool is_trained) {
  IrValue*& made = layer.parameters[name];
  if (!made) {
    made = import.graph.add_initializer(import.graph.fresh_name(layer.scope + "/" + name), tensor);
    const bool is_penalized = layer.is_trainable || import.version < 3;  // Keras 2 counts what is frozen too
    if (is_trained && is_float(tensor.dtype()))
      import.parameters.push_back({made->name(), layer.is_trainable,
                                   is_penalized ? rule_of(layer.config, name, "regularizer") : Config(),
                                   rule_of(layer.config, name, "constraint"), layer.place});
  }
  return is_float(tensor.dtype()) ? b.cast(made, elem()) : made;
}

void Call::require_sizes(const std::string& name, const Dims& stored, const Dims& sizes) const {
  const bool fits =
      std::ranges::equal(stored, sizes, [](std::int64_t has, std::int64_t asked) { return asked < 0 || has == asked; });
  if (fits) return;
  std::string asked;
  for (const std::int64_t size : sizes)
    asked += (asked.empty() ? "" : ",") + (size < 0 ? std::string("?") : std::to_string(size));
  require(false, fmt::format("its weight '{}' is [{}] in the file, but [{}] by its configuration", name,
                             fmt::join(stored, ","), asked));
}

IrValue* Call::weight(const std::string& name, const Dims& sizes, bool is_trained) {
  if (!layer.parameters.contains(name)) require_sizes(name, stored(next_).dims(), sizes);
  return weight(name, is_trained);
}

IrValue* Call::weight(const std::string& name, bool is_trained) {
  const std::size_t i = next_++;
  if (const auto made = layer.parameters.find(name); made != layer.parameters.end())
    return is_float(made->second->type.elem) ? b.cast(made->second, elem()) : made->second;
  return parameter(name, stored(i), is_trained);
}

std::vector<Flow> Call::call(const std::string& key, const Config& entry, const Weights& weights,
                             std::vector<Argument> with, std::map<std::string, Argument> named) {
  std::shared_ptr<Layer>& inner = layer.inner[key];
  if (!inner) {
    inner = std::make_shared<Layer>(layer_of(entry, layer.scope, layer.is_trainable));
    inner->weights = weights;
    inner->place = layer.place;
    // Two of one name are told apart.
    if (key == "forward" || key == "backward") inner->scope = layer.scope + "/" + key + "_" + inner->name;
    if (is_network(*inner)) {
      inner->network = std::make_shared<Network>(import, *inner);
      inner->network->set_place(layer.place);
    }
  }
  std::vector<Flow> results = translate(import, *inner, std::move(with), std::move(named));
  b.name_after(layer.scope);
  if (results.empty()) refuse("the layer inside has no translation");
  for (const Flow& flow : results)
    if (!flow.value) refuse("the layer inside has no translation");
  return results;
}

void Call::require(bool condition, const std::string& what) const {
  if (!condition) throw Error(Code::bad_source_graph, what);
}

void Call::refuse(const std::string& what, const std::string& remedy) const {
  Error error(Code::unsupported_setting, what);
  if (!remedy.empty()) error.hint(remedy);
  throw error;
}

}  // namespace ingot::frontends::keras
