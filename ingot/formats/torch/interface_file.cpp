// Shapes, types and names beside the code of an archive.
#include "ingot/formats/torch/interface_file.h"

#include "ingot/base/error.h"
#include "ingot/base/json.h"
#include "ingot/formats/json/document.h"
#include "ingot/formats/torch/archive.h"
#include "ingot/formats/torch/scalar_type.h"

namespace ingot::formats::torch {
namespace {

constexpr std::size_t kMostAxes = 64;

std::optional<std::vector<InterfaceFile::Size>> shape_of(const json::Value& shape) {
  if (!shape.is_list() || shape.size() > kMostAxes) return std::nullopt;
  std::vector<InterfaceFile::Size> sizes;
  for (const json::Value& size : shape.entries()) {
    const auto number = size.as_int();
    if (number && *number < 0) return std::nullopt;
    sizes.push_back({.number = number.value_or(-1), .name = std::string(size.text())});
  }
  return sizes;
}

}  // namespace

std::string text_of(const InterfaceFile& file) {
  Json inputs = Json::array(), outputs = Json::array();
  for (const InterfaceFile::Input& input : file.inputs) {
    Json one = Json::object();
    one["name"] = input.name;
    one["type"] = type_name(input.dtype);
    if (input.shape) {
      Json shape = Json::array();
      for (const InterfaceFile::Size& size : *input.shape)
        shape.push_back(size.number >= 0 ? Json(size.number) : size.name.empty() ? Json() : Json(size.name));
      one["shape"] = std::move(shape);
    }
    inputs.push_back(std::move(one));
  }
  for (const std::string& name : file.outputs) outputs.push_back(name);
  Json whole = Json::object();
  whole["inputs"] = std::move(inputs);
  whole["outputs"] = std::move(outputs);
  return whole.dump(1) + "\n";
}

std::optional<InterfaceFile> interface_of(const Archive& archive) {
  if (!archive.has(kInterfaceFile)) return std::nullopt;
  json::Value whole;
  try {
    whole = json::parse(archive.read(kInterfaceFile).text());
  } catch (const Error&) {
    return std::nullopt;
  }
  InterfaceFile file;
  for (const json::Value& input : whole["inputs"].entries())
    file.inputs.push_back({.name = std::string(input["name"].text()),
                           .dtype = dtype_of_name(input["type"].text()),
                           .shape = shape_of(input["shape"])});
  for (const json::Value& output : whole["outputs"].entries()) file.outputs.emplace_back(output.text());
  return file;
}

}  // namespace ingot::formats::torch
