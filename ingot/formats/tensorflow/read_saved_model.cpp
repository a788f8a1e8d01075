// SavedModel and MetaGraphDef: signatures, savers, assets, the object graph.
#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/read_messages.h"

namespace ingot::formats::tensorflow {
namespace {

TensorInfo read_tensor_info(protobuf::Reader r) {
  TensorInfo info;
  info.shape.unknown_rank = true;  // unless the field is there, be it empty: a scalar
  while (r.next()) {
    switch (r.field()) {
      case 1:
        info.name = r.string();
        break;
      case 2:
        info.dtype = data_type_of(r.int64());
        break;
      case 3:
        info.shape = read_shape(r.message());
        break;
      case 4:
        info.is_composite = true;
        for (protobuf::Reader s = r.message(); s.next();) {
          if (s.field() == 1) info.values_name = s.string();
          if (s.field() == 2) info.indices_name = s.string();
          if (s.field() == 3) info.dense_shape_name = s.string();
        }
        break;
      case 5:
        info.is_composite = true;
        break;
      default:
        r.skip();
    }
  }
  return info;
}

SaverDef read_saver(protobuf::Reader r) {
  SaverDef saver;
  while (r.next()) {
    if (r.field() == 1) saver.filename_tensor = r.string();
    if (r.field() == 2) saver.save_tensor = r.string();
    if (r.field() == 3) saver.restore_op = r.string();
  }
  return saver;
}

AssetFile read_asset(protobuf::Reader r) {
  AssetFile asset;
  while (r.next()) {
    if (r.field() == 1) asset.tensor_name = read_tensor_info(r.message()).name;
    if (r.field() == 2) asset.filename = r.string();
  }
  return asset;
}

void read_meta_info(protobuf::Reader r, MetaGraph& meta) {
  while (r.next()) {
    if (r.field() == 4) meta.tags.push_back(r.string());
    if (r.field() == 5) meta.tensorflow_version = r.string();
  }
}

/// Only lists of node names are kept: the others hold what training programs need.
void read_collection(std::string key, protobuf::Reader r, MetaGraph& meta) {
  while (r.next()) {
    if (r.field() != 1) continue;
    std::vector<std::string> names;
    for (protobuf::Reader list = r.message(); list.next();)
      if (list.field() == 1) names.push_back(list.string());
    meta.collections.emplace_back(key, std::move(names));
  }
}

SavedObject read_object(protobuf::Reader r) {
  SavedObject object;
  const auto named = [&](SavedObject::Kind kind, std::uint32_t field) {
    object.kind = kind;
    for (protobuf::Reader m = r.message(); m.next();)
      if (m.field() == field) object.name = m.string();
  };
  while (r.next()) {
    switch (r.field()) {
      case 1: {
        std::int32_t id = 0;
        std::string name;
        for (protobuf::Reader c = r.message(); c.next();) {
          if (c.field() == 1) id = c.int32();
          if (c.field() == 2) name = c.string();
        }
        object.children.emplace_back(std::move(name), id);
        break;
      }
      case 4:
        named(SavedObject::Kind::user_object, 1);
        break;
      case 5:
        object.kind = SavedObject::Kind::asset;
        for (protobuf::Reader m = r.message(); m.next();)
          if (m.field() == 1) object.asset_index = m.int32();
        break;
      case 6:
        named(SavedObject::Kind::function, 1);
        break;
      case 7:
        object.kind = SavedObject::Kind::variable;
        for (protobuf::Reader m = r.message(); m.next();) {
          if (m.field() == 1) object.dtype = data_type_of(m.int64());
          if (m.field() == 2) object.shape = read_shape(m.message());
          if (m.field() == 6) object.name = m.string();
        }
        break;
      case 8:
        named(SavedObject::Kind::concrete_function, 1);
        break;
      case 9:
        named(SavedObject::Kind::constant, 1);
        break;
      case 10:
        object.kind = SavedObject::Kind::resource;
        break;
      default:
        r.skip();
    }
  }
  return object;
}

}  // namespace

Signature read_signature(std::string key, protobuf::Reader r) {
  Signature signature;
  signature.key = std::move(key);
  while (r.next()) {
    const auto add = [&](auto& list) {
      read_map_entry(r.message(), [&](std::string name, protobuf::Reader value) {
        list.emplace_back(std::move(name), read_tensor_info(std::move(value)));
      });
    };
    if (r.field() == 1) add(signature.inputs);
    if (r.field() == 2) add(signature.outputs);
    if (r.field() == 3) signature.method = r.string();
  }
  const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::ranges::stable_sort(signature.inputs, by_name);
  std::ranges::stable_sort(signature.outputs, by_name);
  return signature;
}

ObjectGraph read_object_graph(protobuf::Reader r) {
  ObjectGraph graph;
  while (r.next()) {
    if (r.field() == 1) graph.objects.push_back(read_object(r.message()));
    if (r.field() != 2) continue;
    read_map_entry(r.message(), [&](std::string key, protobuf::Reader value) {
      ConcreteFunction function{std::move(key), {}};
      while (value.next())
        if (value.field() == 2) value.int32s(function.bound_inputs);
      graph.functions.push_back(std::move(function));
    });
  }
  std::ranges::sort(graph.functions, {}, &ConcreteFunction::name);
  return graph;
}

MetaGraph read_meta_graph(protobuf::Reader r, Budget& budget) {
  MetaGraph meta;
  while (r.next()) {
    switch (r.field()) {
      case 1:
        read_meta_info(r.message(), meta);
        break;
      case 2:
        meta.graph = read_graph(r.message(), budget);
        break;
      case 3:
        meta.saver = read_saver(r.message());
        break;
      case 4:
        read_map_entry(r.message(), [&](std::string key, protobuf::Reader value) {
          read_collection(std::move(key), std::move(value), meta);
        });
        break;
      case 5:
        read_map_entry(r.message(), [&](std::string key, protobuf::Reader value) {
          meta.signatures.push_back(read_signature(std::move(key), std::move(value)));
        });
        break;
      case 6:
        meta.assets.push_back(read_asset(r.message()));
        break;
      case 7:
        meta.objects = read_object_graph(r.message());
        break;
      default:
        r.skip();
    }
  }
  std::ranges::stable_sort(meta.signatures, {}, &Signature::key);
  std::ranges::stable_sort(meta.collections, {}, [](const auto& c) { return c.first; });
  return meta;
}

}  // namespace ingot::formats::tensorflow
