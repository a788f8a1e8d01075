// Shapes that configurations state.
#include "ingot/frontends/keras/shapes.h"

namespace ingot::frontends::keras {
namespace {

std::optional<Ints> sizes_in(const Config& list) {
  if (list["items"].is_list()) return sizes_in(list["items"]);  // a tuple that says so
  if (!list.is_list()) return std::nullopt;
  Ints sizes;
  for (const Config& entry : list.entries()) {
    if (entry.is_list()) return std::nullopt;  // shapes of several inputs
    sizes.push_back(entry.as_int().value_or(-1));
  }
  return sizes;
}

}  // namespace

std::optional<Ints> shape_of_input(const Config& config) {
  for (const char* key : {"batch_shape", "batch_input_shape"})
    if (const auto sizes = sizes_in(config[key])) return sizes;
  for (const char* key : {"shape", "input_shape"})
    if (auto sizes = sizes_in(config[key])) {
      sizes->insert(sizes->begin(), -1);
      return sizes;
    }
  return std::nullopt;
}

std::optional<Ints> shape_of_first(const Config& config, const Config& entry, const Config& model) {
  if (const auto stated = shape_of_input(config)) return stated;
  if (const auto built = sizes_in(model["build_input_shape"])) return built;
  if (const auto built = sizes_in(entry["build_config"]["input_shape"])) return built;
  // Keras 1: a dimension alone.
  if (entry["class_name"].text() == "Embedding") return Ints{-1, config["input_length"].as_int().value_or(-1)};
  if (const auto size = config["input_dim"].as_int())
    return config["input_length"].exists() ? Ints{-1, config["input_length"].as_int().value_or(-1), *size}
                                           : Ints{-1, *size};
  return std::nullopt;
}

Shape named_shape(const Ints& sizes, const std::string& input) {
  Shape shape;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    shape.push_back(sizes[i] >= 0 ? Dim(sizes[i]) : Dim::symbol(i == 0 ? "batch" : input + "_" + std::to_string(i)));
  return shape;
}

}  // namespace ingot::frontends::keras
