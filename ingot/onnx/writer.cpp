// ModelProto on the way out: to memory, to one file, or to a file with its weights beside it.
#include "ingot/onnx/writer.h"

#include "ingot/base/file_set.h"
#include "ingot/base/mapped_file.h"
#include "ingot/onnx/fields.h"
#include "ingot/onnx/write_graph.h"

namespace ingot::onnx {
namespace {

void write_training(protobuf::Writer& w, const TrainingInfo& info, const ExternalLayout* layout) {
  if (info.initialization)
    w.message(TrainingField::initialization, [&] { write_graph(w, *info.initialization, layout); });
  if (info.algorithm) w.message(TrainingField::algorithm, [&] { write_graph(w, *info.algorithm, layout); });
  write_entries(w, TrainingField::initialization_binding, info.initialization_binding);
  write_entries(w, TrainingField::update_binding, info.update_binding);
  write_unknown(w, info.unknown);
}

void write_device(protobuf::Writer& w, const DeviceConfiguration& device) {
  write_text(w, DeviceField::name, device.name);
  if (device.device_count) w.int32(DeviceField::num_devices, device.device_count);
  for (const std::string& name : device.devices) w.string(DeviceField::device, name);
  write_unknown(w, device.unknown);
}

void write_model(protobuf::Writer& w, const Model& m, const ExternalLayout* layout) {
  if (m.ir_version) w.int64(ModelField::ir_version, m.ir_version);
  write_text(w, ModelField::producer_name, m.producer_name);
  write_text(w, ModelField::producer_version, m.producer_version);
  write_text(w, ModelField::domain, m.domain);
  if (m.model_version) w.int64(ModelField::model_version, m.model_version);
  write_text(w, ModelField::doc_string, m.doc_string);
  w.message(ModelField::graph, [&] { write_graph(w, *m.graph, layout); });
  write_opset_imports(w, ModelField::opset_import, m.opsets);
  write_entries(w, ModelField::metadata_props, m.metadata);
  for (const TrainingInfo& info : m.training)
    w.message(ModelField::training_info, [&] { write_training(w, info, layout); });
  for (const auto& f : m.functions) w.message(ModelField::functions, [&] { write_function(w, *f); });
  for (const DeviceConfiguration& device : m.device_configurations)
    w.message(ModelField::configuration, [&] { write_device(w, device); });
  write_unknown(w, m.unknown);
}

/// Writes the weights that go to the data file and says where they stand.
ExternalLayout write_data(const Model& model, FileSet& files, std::uint64_t threshold) {
  constexpr std::size_t kAlignment = 4096;
  ExternalLayout layout;
  for (const GraphPlace& place : all_graphs(model)) {
    for (const Value* v : place.graph->initializers()) {
      if (!v->initializer || v->initializer->bytes().empty() || v->initializer->bytes().size() < threshold) continue;
      files.data().align(kAlignment);
      layout.places[&*v->initializer] = {files.data().position(), v->initializer->bytes().size()};
      files.data().write(v->initializer->bytes().span());
    }
  }
  if (!layout.places.empty()) layout.file_name = files.finish_data();
  return layout;
}

}  // namespace

void write(const Model& model, const std::string& path, const WriteOptions& options) {
  FileSet files(path);
  const ExternalLayout layout =
      options.external_data ? write_data(model, files, options.external_threshold) : ExternalLayout();
  protobuf::write_message(files.model(), [&](protobuf::Writer& w) { write_model(w, model, &layout); });
  check_mapped_files();
  files.commit();
}

void write(const Model& model, Sink& sink) {
  protobuf::write_message(sink, [&](protobuf::Writer& w) { write_model(w, model, nullptr); });
}

std::string to_bytes(const Model& model) {
  StringSink sink;
  write(model, sink);
  return sink.take();
}

}  // namespace ingot::onnx
