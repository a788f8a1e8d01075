// Graphs of TensorFlow in TF.js's wrapping.
#include "ingot/formats/tfjs/graph_model_writer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ingot/base/budget.h"
#include "ingot/formats/tfjs/stored_weight.h"

namespace ingot::formats::tfjs {
namespace {

namespace tf = tensorflow;
using Json = nlohmann::ordered_json;

std::string to_base64(std::string_view text) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < text.size() ? static_cast<unsigned char>(text[i + j]) : 0);
    for (std::size_t j = 0; j < 4; ++j) out += i + j <= text.size() ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

Json to_json(const tf::TensorShape& shape) {
  if (shape.unknown_rank) return {{"unknownRank", true}};
  Json dims = Json::array();
  for (const std::int64_t d : shape.dims) dims.push_back({{"size", std::to_string(d)}});
  return {{"dim", std::move(dims)}};
}

Json to_json(tf::DataType type) { return std::string(tf::name_of(type)); }

/// Numbers that JSON has none of are words.
Json to_json(float number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
}

Json to_json(const tf::AttrList& list) {
  Json json = Json::object();
  for (const std::string& s : list.strings) json["s"].push_back(to_base64(s));
  for (const std::int64_t i : list.ints) json["i"].push_back(std::to_string(i));
  for (const float f : list.floats) json["f"].push_back(to_json(f));
  for (const bool b : list.bools) json["b"].push_back(b);
  for (const tf::DataType t : list.types) json["type"].push_back(to_json(t));
  for (const tf::TensorShape& s : list.shapes) json["shape"].push_back(to_json(s));
  for (const auto& f : list.functions) json["func"].push_back({{"name", f->name}});
  return json;
}

Json to_json(const tf::AttrValue& value) {
  if (const auto* s = std::get_if<std::string>(&value)) return {{"s", to_base64(*s)}};
  if (const auto* i = std::get_if<std::int64_t>(&value)) return {{"i", std::to_string(*i)}};
  if (const auto* f = std::get_if<float>(&value)) return {{"f", to_json(*f)}};
  if (const auto* b = std::get_if<bool>(&value)) return {{"b", *b}};
  if (const auto* t = std::get_if<tf::DataType>(&value)) return {{"type", to_json(*t)}};
  if (const auto* s = std::get_if<tf::TensorShape>(&value)) return {{"shape", to_json(*s)}};
  if (const auto* l = std::get_if<std::shared_ptr<const tf::AttrList>>(&value)) return {{"list", to_json(**l)}};
  if (const auto* f = std::get_if<std::shared_ptr<const tf::FunctionName>>(&value))
    return {{"func", {{"name", (*f)->name}}}};
  return Json::object();  // tensors are weights; placeholders mean nothing outside of their function's definition
}

struct OmittedAttr {
  std::string_view op, attr;
  std::vector<std::int64_t> ints;  // empty: the text
  std::string_view text;
};

/// SavedModels leave out attributes that have their default; TF.js wants some of them all the same.
const std::vector<OmittedAttr>& omitted_attrs() {
  static const std::vector<OmittedAttr> all = [] {
    std::vector<OmittedAttr> list;
    for (const std::string_view op :
         {"Conv2D", "_FusedConv2D", "DepthwiseConv2dNative", "FusedDepthwiseConv2dNative", "Conv2DBackpropInput"}) {
      list.push_back({op, "dilations", {1, 1, 1, 1}, {}});
      list.push_back({op, "data_format", {}, "NHWC"});
    }
    for (const std::string_view op : {"MaxPool", "AvgPool", "BiasAdd", "FusedBatchNorm", "FusedBatchNormV2",
                                      "FusedBatchNormV3", "DepthToSpace", "SpaceToDepth"})
      list.push_back({op, "data_format", {}, "NHWC"});
    list.push_back({"Conv3D", "dilations", {1, 1, 1, 1, 1}, {}});
    for (const std::string_view op : {"Conv3D", "MaxPool3D", "AvgPool3D"})
      list.push_back({op, "data_format", {}, "NDHWC"});
    return list;
  }();
  return all;
}

/// The nearest type that TF.js has a word for.
tf::DataType known_type(tf::DataType type) {
  switch (type) {
    case tf::DataType::i16:
    case tf::DataType::u16:
    case tf::DataType::u32:
      return tf::DataType::i32;
    case tf::DataType::u64:
      return tf::DataType::i64;
    case tf::DataType::bf16:
      return tf::DataType::f32;
    default:
      return type;
  }
}

tf::AttrValue with_known_types(const tf::AttrValue& value) {
  if (const auto* type = std::get_if<tf::DataType>(&value)) return known_type(*type);
  const auto* list = std::get_if<std::shared_ptr<const tf::AttrList>>(&value);
  if (!list || (*list)->types.empty()) return value;
  auto known = std::make_shared<tf::AttrList>(**list);
  for (tf::DataType& type : known->types) type = known_type(type);
  return std::shared_ptr<const tf::AttrList>(std::move(known));
}

class Writer {
 public:
  Writer(Budget& budget, StoredWeights stored, bool knows_types)
      : budget_(budget), stored_(stored), knows_types_(knows_types) {}

  Json node(const tf::NodeDef& def) {
    Json json{{"name", def.name}, {"op", def.op}};
    if (!def.inputs.empty()) json["input"] = def.inputs;
    json["attr"] = Json::object();
    for (const tf::Attr& attr : def.attrs) {
      const auto* tensor = std::get_if<std::shared_ptr<const tf::TensorProto>>(&attr.value);
      if (tensor && def.op == "Const" && attr.name == "value")
        json["attr"]["value"] = {
            {"tensor", {{"dtype", add_weight(def.name, *tensor)}, {"tensorShape", to_json((*tensor)->shape)}}}};
      else if (!tensor && attr.name != "_output_shapes")
        json["attr"][attr.name] = to_json(knows_types_ ? with_known_types(attr.value) : attr.value);
    }
    for (const OmittedAttr& omitted : omitted_attrs()) {
      if (omitted.op != def.op || json["attr"].contains(omitted.attr)) continue;
      tf::AttrList list;
      list.ints = omitted.ints;
      json["attr"][std::string(omitted.attr)] =
          omitted.ints.empty() ? Json{{"s", to_base64(omitted.text)}} : Json{{"list", to_json(list)}};
    }
    return json;
  }

  Json function(const tf::FunctionDef& def) {
    const auto arguments = [&](const std::vector<tf::ArgDef>& args) {
      Json json = Json::array();
      for (const tf::ArgDef& a : args)
        json.push_back({{"name", a.name}, {"type", to_json(knows_types_ ? known_type(a.type) : a.type)}});
      return json;
    };
    Json json{{"signature",
               {{"name", def.name}, {"inputArg", arguments(def.inputs)}, {"outputArg", arguments(def.outputs)}}}};
    json["nodeDef"] = Json::array();
    for (const tf::NodeDef& n : def.nodes) json["nodeDef"].push_back(node(n));
    json["ret"] = Json::object();
    for (const auto& [output, value] : def.returns) json["ret"][output] = value;
    return json;
  }

  Json topology(const tf::GraphDef& graph) {
    Json json{{"node", Json::array()}};
    for (const tf::NodeDef& n : graph.nodes) json["node"].push_back(node(n));
    if (!graph.functions.empty()) {
      json["library"]["function"] = Json::array();
      for (const tf::FunctionDef& f : graph.functions) json["library"]["function"].push_back(function(f));
    }
    json["versions"] = {{"producer", graph.producer}};
    return json;
  }

  std::uint64_t size() const {
    std::uint64_t all = 0;
    for (const Weight& weight : weights_) all += weight.size();
    return all;
  }

  /// Hands over the bytes of all weights, one after the other.
  template <class Take> void for_each_bytes(Take&& take) const {
    for (const Weight& weight : weights_) take(weight.bytes());
  }

  Json manifest = Json::array();

 private:
  /// Returns the type that it is held in.
  const char* add_weight(const std::string& name, const std::shared_ptr<const tf::TensorProto>& tensor) {
    Json json{{"name", name}, {"shape", tensor->shape.dims}};
    Weight weight(name, *tensor, stored_, budget_);
    json["dtype"] = weight.held().name;
    if (const Weight::Quantization& q = weight.quantization(); q.dtype) {
      json["quantization"] = {{"dtype", q.dtype}, {"original_dtype", "float32"}};
      if (q.has_range) json["quantization"].update({{"min", q.min}, {"scale", q.scale}});
    }
    manifest.push_back(std::move(json));
    weights_.push_back(std::move(weight));
    return weights_.back().held().tensorflow;
  }

  Budget& budget_;
  StoredWeights stored_;
  bool knows_types_;
  std::vector<Weight> weights_;
};

Json to_json(const std::vector<std::pair<std::string, tf::TensorInfo>>& ports) {
  Json json = Json::object();
  for (const auto& [name, info] : ports)
    json[name] = {
        {"name", info.name}, {"dtype", to_json(known_type(info.dtype))}, {"tensorShape", to_json(info.shape)}};
  return json;
}

std::string text_of(const Json& model) { return model.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// All bytes in order, cut into files of one size.
void write_shards(const Writer& writer, std::uint64_t shard_size, const Json& paths, const FileWriter& file) {
  std::vector<Bytes> pieces;  // of the shard at hand
  std::uint64_t filled = 0;
  std::size_t shard = 0;
  const auto end_shard = [&] {
    file(paths.at(shard++).get<std::string>(), [&](Sink& sink) {
      for (const Bytes& piece : pieces) sink.write(piece.span());
    });
    pieces.clear();
    filled = 0;
  };
  writer.for_each_bytes([&](const Bytes& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size() - at, shard_size - filled));
      pieces.push_back(bytes.slice(at, size));
      at += size;
      filled += size;
      if (filled == shard_size) end_shard();
    }
  });
  if (filled) end_shard();
}

}  // namespace

GraphModelFiles to_graph_model(const tf::GraphDef& graph, Budget& budget) {
  Writer writer(budget, StoredWeights::as_is, false);
  Json topology = writer.topology(graph);
  const Json model{{"format", "graph-model"},
                   {"modelTopology", std::move(topology)},
                   {"weightsManifest",
                    Json::array({{{"paths", Json::array({"weights.bin"})}, {"weights", std::move(writer.manifest)}}})}};
  GraphModelFiles files{text_of(model), {}};
  writer.for_each_bytes([&](const Bytes& bytes) { files.weights += bytes.text(); });
  return files;
}

void write_graph_model(const tf::GraphDef& graph, const GraphModelOptions& options, Budget& budget,
                       const FileWriter& file) {
  Writer writer(budget, options.weights, true);
  Json topology = writer.topology(graph);
  const std::uint64_t total = writer.size(), shards = (total + options.shard_size - 1) / options.shard_size;
  Json paths = Json::array();
  for (std::uint64_t i = 1; i <= shards; ++i)
    paths.push_back("group1-shard" + std::to_string(i) + "of" + std::to_string(shards) + ".bin");
  write_shards(writer, options.shard_size, paths, file);
  Json model{{"format", "graph-model"}, {"generatedBy", "Ingot"}, {"convertedBy", nullptr}};
  if (options.signature)
    model["signature"] = {{"inputs", to_json(options.signature->inputs)},
                          {"outputs", to_json(options.signature->outputs)}};
  model["modelTopology"] = std::move(topology);
  model["weightsManifest"] = Json::array({{{"paths", std::move(paths)}, {"weights", std::move(writer.manifest)}}});
  file("model.json", [&](Sink& sink) { sink.write(bytes_of(text_of(model))); });
}

}  // namespace ingot::formats::tfjs
