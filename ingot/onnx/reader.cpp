// ModelProto: from a file or from bytes to a Model.
#include "ingot/onnx/reader.h"

#include <fmt/format.h>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/onnx/fields.h"
#include "ingot/onnx/read_graph.h"

namespace ingot::onnx {
namespace {

DeviceConfiguration read_device(protobuf::Reader message) {
  DeviceConfiguration device;
  while (message.next()) {
    if (message.field() == DeviceField::name)
      device.name = message.string();
    else if (message.field() == DeviceField::num_devices)
      device.device_count = message.int32();
    else if (message.field() == DeviceField::device)
      device.devices.push_back(message.string());
    else
      keep(message, device.unknown);
  }
  return device;
}

TrainingInfo read_training(protobuf::Reader message, Graph& main, GraphReader& graphs) {
  TrainingInfo info;
  std::vector<protobuf::Reader> initialization, algorithm;
  while (message.next()) {
    switch (message.field()) {
      case TrainingField::initialization:
        initialization.push_back(message.message());
        break;
      case TrainingField::algorithm:
        algorithm.push_back(message.message());
        break;
      case TrainingField::initialization_binding:
        read_entry(message, info.initialization_binding, info.unknown);
        break;
      case TrainingField::update_binding:
        read_entry(message, info.update_binding, info.unknown);
        break;
      default:
        keep(message, info.unknown);
    }
  }
  if (!initialization.empty()) {
    info.initialization = std::make_unique<Graph>();
    graphs.read(*info.initialization, std::move(initialization));
  }
  if (!algorithm.empty()) {
    info.algorithm = std::make_unique<Graph>(&main);
    graphs.read(*info.algorithm, std::move(algorithm));
  }
  return info;
}

/// Whether the first fields are those of a graph.
bool looks_like_graph(protobuf::Reader message) {
  constexpr int kFieldsToSee = 8;
  for (int i = 0; i < kFieldsToSee && message.next(); ++i) {
    const std::uint32_t field = message.field();
    const bool known = field == GraphField::node || field == GraphField::name || field == GraphField::initializer ||
                       (field >= GraphField::doc_string && field <= GraphField::metadata_props);
    if (!known || message.type() != protobuf::WireType::length) return false;
  }
  return true;
}

Model read_model(protobuf::Reader message, ReadContext& context) {
  Model model;
  GraphReader graphs(context);
  std::vector<protobuf::Reader> graph_parts, training;
  while (message.next()) {
    switch (message.field()) {
      case ModelField::ir_version:
        model.ir_version = message.int64();
        break;
      case ModelField::producer_name:
        model.producer_name = message.string();
        break;
      case ModelField::producer_version:
        model.producer_version = message.string();
        break;
      case ModelField::domain:
        model.domain = message.string();
        break;
      case ModelField::model_version:
        model.model_version = message.int64();
        break;
      case ModelField::doc_string:
        model.doc_string = message.string();
        break;
      case ModelField::graph:
        graph_parts.push_back(message.message());
        break;
      case ModelField::opset_import:
        model.opsets.push_back(read_opset_import(message.message()));
        break;
      case ModelField::metadata_props:
        read_entry(message, model.metadata, model.unknown);
        break;
      case ModelField::training_info:
        training.push_back(message.message());
        break;
      case ModelField::functions:
        context.count_object();
        model.functions.push_back(std::make_unique<Function>());
        graphs.read_function(*model.functions.back(), message.message());
        break;
      case ModelField::configuration:
        model.device_configurations.push_back(read_device(message.message()));
        break;
      default:
        keep(message, model.unknown);
    }
  }
  graphs.read(*model.graph, std::move(graph_parts));
  // Training algorithms read values of the main graph, which is complete now.
  for (const protobuf::Reader& info : training) model.training.push_back(read_training(info, *model.graph, graphs));
  return model;
}

}  // namespace

bool looks_like_onnx(const Bytes& file) {
  // Old writers leave out ir_version and nobody fixes the order of fields, but the graph is always there.
  bool seen_graph = false;
  try {
    for (protobuf::Reader r(file); r.next();) {
      const bool is_number = r.field() == ModelField::ir_version || r.field() == ModelField::model_version;
      if (is_number != (r.type() == protobuf::WireType::varint)) return false;
      if (r.field() > ModelField::configuration) return false;
      if (r.field() == ModelField::graph) seen_graph |= looks_like_graph(r.message());
    }
  } catch (const Error&) {
    return false;
  }
  return seen_graph;
}

Model read(const Bytes& bytes, const std::string& directory, const ReadOptions& options) {
  ReadContext context(directory, options);
  Model model = read_model(protobuf::Reader(bytes), context);
  context.tell();
  return model;
}

Model read(const std::string& path, const ReadOptions& options) {
  try {
    Model model = read(map_file(path), split_path(path).directory, options);
    check_mapped_files();
    return model;
  } catch (Error& error) {
    error.in_file(path);
    throw;
  }
}

}  // namespace ingot::onnx
