// Hash tables of SavedModels: functions, assets and objects.
#include "ingot/backends/tensorflow/saved_tables.h"

#include <fmt/format.h>

#include "ingot/backends/tensorflow/emitter.h"
#include "ingot/backends/tensorflow/saver.h"

namespace ingot::backends::tensorflow {
namespace {

tf::NodeDef constant_node(const std::string& name, const Tensor& value) {
  tf::NodeDef made = node_of(name, "Const", {}, {{"dtype", word_for(value.dtype())}});
  made.attrs.push_back({"value", std::make_shared<const tf::TensorProto>(proto_of(value))});
  return made;
}

tf::FunctionDef function_named(const char* what, std::size_t number) {
  tf::FunctionDef f;
  f.name = fmt::format("__inference__{}_{}", what, number);
  f.attrs.push_back({"_construction_context", std::string("kEagerRuntime")});
  return f;
}

/// What a function gives that only acts: a number, once its work is done.
void give_number(tf::FunctionDef& f, const std::string& after) {
  f.nodes.push_back(constant_node("Const", Tensor::scalar<std::int32_t>(1)));
  std::vector<std::string> inputs{"Const:output:0"};
  if (!after.empty()) inputs.push_back("^" + after);
  f.nodes.push_back(node_of("Identity", "Identity", inputs, {{"T", tf::DataType::i32}}));
  f.outputs.push_back({"identity", tf::DataType::i32, {}, {}, {}});
  f.returns.emplace_back("identity", "Identity:output:0");
}

tf::NodeDef table_node(const std::string& name, const std::string& shared_name, const Table& table) {
  return node_of(name, "HashTableV2", {},
                 {{"container", ""},
                  {"shared_name", shared_name},
                  {"use_node_name_sharing", true},
                  {"key_dtype", table.keys.dtype()},
                  {"value_dtype", table.values.dtype()}});
}

}  // namespace

SavedTable::SavedTable(const Table& table, std::string name, std::size_t number) : node(std::move(name)) {
  create = function_named("creator", number);
  create.nodes.push_back(table_node("hash_table", node, table));
  create.outputs.push_back({"hash_table", tf::DataType::resource, {}, {}, {}});
  create.returns.emplace_back("hash_table", "hash_table:table_handle:0");

  fill = function_named("initializer", number);
  fill.inputs.push_back({"table_handle", tf::DataType::resource, {}, {}, {}});
  if (const auto lines = text_of(table)) {
    filename = fmt::format("vocabulary_{}.txt", number);
    text = lines->text;
    asset = fmt::format("asset_path_{}", number);
    nodes.push_back(constant_node(asset, Tensor::of_strings({}, {filename})));
    fill.inputs.push_back({"filename", tf::DataType::string, {}, {}, {}});
    fill.nodes.push_back(node_of("Initialize", "InitializeTableFromTextFileV2", {"table_handle", "filename"},
                                 {{"key_index", lines->key_index},
                                  {"value_index", lines->value_index},
                                  {"vocab_size", -1},
                                  {"delimiter", "\t"}}));
  } else {
    fill.nodes.push_back(constant_node("keys", table.keys));
    fill.nodes.push_back(constant_node("values", table.values));
    fill.nodes.push_back(node_of("Initialize", "InitializeTableV2",
                                 {"table_handle", "keys:output:0", "values:output:0"},
                                 {{"Tkey", table.keys.dtype()}, {"Tval", table.values.dtype()}}));
  }
  give_number(fill, "Initialize");
  destroy = function_named("destroyer", number);
  give_number(destroy, "");
  nodes.push_back(table_node(node, node, table));
}

std::int32_t SavedTable::add_objects(tf::MetaGraph& meta) const {
  auto& all = meta.objects.objects;
  const auto first = static_cast<std::int32_t>(all.size());
  const auto add = [&](tf::SavedObject::Kind kind, std::string name) -> tf::SavedObject& {
    all.push_back({});
    all.back().kind = kind;
    all.back().name = std::move(name);
    return all.back();
  };
  add(tf::SavedObject::Kind::resource, "").children = {
      {"_create_resource", first + 1}, {"_initialize", first + 2}, {"_destroy_resource", first + 3}};
  for (const tf::FunctionDef* f : {&create, &fill, &destroy}) add(tf::SavedObject::Kind::function, f->name);
  std::vector<std::int32_t> filled{first};
  if (!asset.empty()) {
    all[static_cast<std::size_t>(first)].children.emplace_back("_initializer", first + 4);
    add(tf::SavedObject::Kind::user_object, "_generic_user_object").children = {{"_filename", first + 5}};
    add(tf::SavedObject::Kind::asset, "").asset_index = static_cast<std::int32_t>(meta.assets.size());
    meta.assets.push_back({asset + ":0", filename});
    filled.push_back(first + 5);
  }
  meta.objects.functions.push_back({create.name, {}});
  meta.objects.functions.push_back({fill.name, filled});
  meta.objects.functions.push_back({destroy.name, {}});
  return first;
}

}  // namespace ingot::backends::tensorflow
