// SavedModels as protobuf messages.
#include <algorithm>

#include "ingot/formats/tensorflow/write_messages.h"
#include "ingot/formats/tensorflow/writer.h"

namespace ingot::formats::tensorflow {
namespace {

using protobuf::Writer;
using Ports = std::vector<std::pair<std::string, TensorInfo>>;

template <class Fill> void write_entry(Writer& w, std::uint32_t field, const std::string& key, Fill&& fill) {
  w.message(field, [&] {
    w.string(1, key);
    w.message(2, fill);
  });
}

void write_ports(Writer& w, std::uint32_t field, const Ports& ports) {
  for (const auto& port : ports)
    write_entry(w, field, port.first, [&] {
      w.string(1, port.second.name);
      if (port.second.dtype != DataType::invalid) w.int32(2, static_cast<std::int32_t>(port.second.dtype));
      w.message(3, [&] { write_shape(w, port.second.shape); });
    });
}

void write_signature(Writer& w, const Signature& signature) {
  write_ports(w, 1, signature.inputs);
  write_ports(w, 2, signature.outputs);
  if (!signature.method.empty()) w.string(3, signature.method);
}

/// A dictionary of what tensors a function takes or gives.
void write_specs(Writer& w, const Ports& ports) {
  w.message(53, [&] {
    for (const auto& port : ports)
      write_entry(w, 1, port.first, [&] {
        w.message(33, [&] {
          w.string(1, port.first);
          w.message(2, [&] { write_shape(w, port.second.shape); });
          w.int32(3, static_cast<std::int32_t>(port.second.dtype));
        });
      });
  });
}

void write_references(Writer& w, const std::vector<std::pair<std::string, std::int32_t>>& children) {
  for (const auto& child : children)
    w.message(1, [&] {
      w.int32(1, child.second);
      w.string(2, child.first);
    });
}

/// The description of a Python function that takes nothing.
void write_no_arguments(Writer& w) {
  const auto field = [&](const char* name, std::uint32_t kind) {
    w.message(2, [&] {
      w.string(1, name);
      w.message(2, [&] { w.message(kind, [] {}); });
    });
  };
  constexpr std::uint32_t kNone = 1, kList = 51, kDictionary = 53, kNamedTuple = 54;
  w.message(1, [&] {
    w.message(kNamedTuple, [&] {
      w.string(1, "FullArgSpec");
      field("args", kList);
      field("varargs", kNone);
      field("varkw", kNone);
      field("defaults", kNone);
      field("kwonlyargs", kList);
      field("kwonlydefaults", kNone);
      field("annotations", kDictionary);
    });
  });
  w.message(5, [&] { w.message(kNone, [] {}); });
}

/// What a function of no signature takes, nothing, and gives.
void write_plain_function(Writer& w, const MetaGraph& meta, const std::string& name) {
  const auto function = std::ranges::find(meta.graph.functions, name, &FunctionDef::name);
  if (function == meta.graph.functions.end() || function->outputs.size() != 1) return;
  w.message(3, [&] {
    w.message(52, [&] {
      w.message(1, [&] { w.message(52, [] {}); });
      w.message(1, [&] { w.message(53, [] {}); });
    });
  });
  w.message(4, [&] {
    w.message(33, [&] {
      w.string(1, function->outputs.front().name);
      w.message(2, [] {});
      w.int32(3, static_cast<std::int32_t>(function->outputs.front().type));
    });
  });
}

/// The signature whose function an object is, by the name that it has among the signatures; null: of none.
const Signature* signature_of(const MetaGraph& meta, std::int32_t object) {
  for (const SavedObject& parent : meta.objects.objects)
    for (const auto& [name, child] : parent.children)
      if (child == object)
        for (const Signature& signature : meta.signatures)
          if (signature.key == name) return &signature;
  return nullptr;
}

void write_object(Writer& w, const MetaGraph& meta, std::int32_t number) {
  const SavedObject& object = meta.objects.objects[static_cast<std::size_t>(number)];
  write_references(w, object.children);
  if (object.kind == SavedObject::Kind::user_object)
    w.message(4, [&] {
      w.string(1, object.name);
      w.message(2, [&] {
        w.int32(1, 1);
        w.int32(2, 1);
      });
    });
  if (object.kind == SavedObject::Kind::asset) w.message(5, [&] { w.int32(1, object.asset_index); });
  if (object.kind == SavedObject::Kind::function)
    w.message(6, [&] {
      w.string(1, object.name);
      w.message(2, [&] { write_no_arguments(w); });
    });
  if (object.kind == SavedObject::Kind::resource) w.message(10, [] {});
  if (object.kind == SavedObject::Kind::variable)
    w.message(7, [&] {
      w.int32(1, static_cast<std::int32_t>(object.dtype));
      w.message(2, [&] { write_shape(w, object.shape); });
      w.boolean(3, true);
      w.string(6, object.name);
    });
  if (object.kind == SavedObject::Kind::concrete_function)
    w.message(8, [&] {
      w.string(1, object.name);
      if (const Signature* signature = signature_of(meta, number))
        for (const auto& input : signature->inputs) w.string(2, input.first);
    });
}

void write_objects(Writer& w, const MetaGraph& meta) {
  const ObjectGraph& graph = meta.objects;
  for (std::size_t i = 0; i < graph.objects.size(); ++i)
    w.message(1, [&] { write_object(w, meta, static_cast<std::int32_t>(i)); });
  for (const ConcreteFunction& function : graph.functions)
    write_entry(w, 2, function.name, [&] {
      if (!function.bound_inputs.empty()) w.packed(2, std::span<const std::int32_t>(function.bound_inputs));
      const auto object = std::ranges::find(graph.objects, function.name, &SavedObject::name);
      const Signature* signature =
          signature_of(meta, static_cast<std::int32_t>(std::distance(graph.objects.begin(), object)));
      if (!signature) return write_plain_function(w, meta, function.name);
      // Arguments by place, of which there are none, and by name.
      w.message(3, [&] {
        w.message(52, [&] {
          w.message(1, [&] { w.message(52, [] {}); });
          w.message(1, [&] { write_specs(w, signature->inputs); });
        });
      });
      w.message(4, [&] { write_specs(w, signature->outputs); });
    });
}

void write_meta_graph(Writer& w, const MetaGraph& meta) {
  w.message(1, [&] {
    for (const std::string& tag : meta.tags) w.string(4, tag);
    if (!meta.tensorflow_version.empty()) w.string(5, meta.tensorflow_version);
    w.boolean(7, true);
  });
  w.message(2, [&] { write_graph(w, meta.graph); });
  if (meta.saver)
    w.message(3, [&] {
      w.string(1, meta.saver->filename_tensor);
      w.string(2, meta.saver->save_tensor);
      w.string(3, meta.saver->restore_op);
      w.int32(7, 2);
    });
  for (const Signature& signature : meta.signatures)
    write_entry(w, 5, signature.key, [&] { write_signature(w, signature); });
  for (const AssetFile& asset : meta.assets)
    w.message(6, [&] {
      w.message(1, [&] { w.string(1, asset.tensor_name); });
      w.string(2, asset.filename);
    });
  w.message(7, [&] { write_objects(w, meta); });
}

}  // namespace

std::string object_graph_text(const std::vector<CheckpointObject>& objects) {
  return protobuf::serialize([&](Writer& w) {
    for (const CheckpointObject& object : objects)
      w.message(1, [&] {
        write_references(w, object.children);
        if (object.key.empty()) return;
        w.message(2, [&] {
          w.string(1, "VARIABLE_VALUE");
          w.string(2, object.full_name);
          w.string(3, object.key);
        });
        w.message(5, [&] { w.boolean(1, true); });
      });
  });
}

void write_saved_model(const SavedModel& model, Sink& sink) {
  const auto fill = [&](Writer& w) {
    w.int64(1, model.schema_version);
    for (const MetaGraph& meta : model.meta_graphs) w.message(2, [&] { write_meta_graph(w, meta); });
  };
  require_readable_size(protobuf::message_size(fill));
  protobuf::write_message(sink, fill);
}

}  // namespace ingot::formats::tensorflow
