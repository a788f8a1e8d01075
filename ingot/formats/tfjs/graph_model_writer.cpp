// Graphs of TensorFlow in TF.js's wrapping.
#include "ingot/formats/tfjs/graph_model_writer.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/base/elements.h"
#include "ingot/base/error.h"

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

Json to_json(const tf::AttrList& list) {
  Json json = Json::object();
  for (const std::string& s : list.strings) json["s"].push_back(to_base64(s));
  for (const std::int64_t i : list.ints) json["i"].push_back(std::to_string(i));
  for (const float f : list.floats) json["f"].push_back(f);
  for (const bool b : list.bools) json["b"].push_back(b);
  for (const tf::DataType t : list.types) json["type"].push_back(to_json(t));
  for (const tf::TensorShape& s : list.shapes) json["shape"].push_back(to_json(s));
  for (const auto& f : list.functions) json["func"].push_back({{"name", f->name}});
  return json;
}

Json to_json(const tf::AttrValue& value) {
  if (const auto* s = std::get_if<std::string>(&value)) return {{"s", to_base64(*s)}};
  if (const auto* i = std::get_if<std::int64_t>(&value)) return {{"i", std::to_string(*i)}};
  if (const auto* f = std::get_if<float>(&value)) return {{"f", *f}};
  if (const auto* b = std::get_if<bool>(&value)) return {{"b", *b}};
  if (const auto* t = std::get_if<tf::DataType>(&value)) return {{"type", to_json(*t)}};
  if (const auto* s = std::get_if<tf::TensorShape>(&value)) return {{"shape", to_json(*s)}};
  if (const auto* l = std::get_if<std::shared_ptr<const tf::AttrList>>(&value)) return {{"list", to_json(**l)}};
  if (const auto* f = std::get_if<std::shared_ptr<const tf::FunctionName>>(&value))
    return {{"func", {{"name", (*f)->name}}}};
  return Json::object();  // tensors are weights; placeholders mean nothing outside of their function's definition
}

void append_text(std::string& out, const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size);
  out += text;
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

class Writer {
 public:
  explicit Writer(Budget& budget) : budget_(budget) {}

  Json node(const tf::NodeDef& def) {
    Json json{{"name", def.name}, {"op", def.op}};
    if (!def.inputs.empty()) json["input"] = def.inputs;
    json["attr"] = Json::object();
    for (const tf::Attr& attr : def.attrs) {
      const auto* tensor = std::get_if<std::shared_ptr<const tf::TensorProto>>(&attr.value);
      if (tensor && def.op == "Const" && attr.name == "value")
        json["attr"]["value"] = {
            {"tensor", {{"dtype", add_weight(def.name, **tensor)}, {"tensorShape", to_json((*tensor)->shape)}}}};
      else if (!tensor && attr.name != "_output_shapes")
        json["attr"][attr.name] = to_json(attr.value);
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
    const auto arguments = [](const std::vector<tf::ArgDef>& args) {
      Json json = Json::array();
      for (const tf::ArgDef& a : args) json.push_back({{"name", a.name}, {"type", to_json(a.type)}});
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

  Json weights = Json::array();
  std::string bytes;

 private:
  /// Returns the type that it is held in.
  const char* add_weight(const std::string& name, const tf::TensorProto& tensor) {
    Json json{{"name", name}, {"shape", tensor.shape.dims}};
    const char* held = "DT_STRING";
    if (tensor.dtype == tf::DataType::string) {
      json["dtype"] = "string";
      for (const std::string& text : tf::expanded_strings(tensor, budget_)) append_text(bytes, text);
    } else {
      const DType dtype = tf::dtype_of(tensor.dtype);
      if (dtype == DType::undefined)
        throw Error(Code::not_writable, "TF.js has no element type for constant '" + name + "'");
      const Bytes elements = tf::expanded_elements(tensor, budget_);
      Held type{};
      dispatch(dtype, Any{}, [&]<class T>() { type = append<T>(elements); });
      json["dtype"] = type.name;
      held = type.tensorflow;
    }
    weights.push_back(std::move(json));
    return held;
  }

  struct Held {
    const char *name, *tensorflow;
  };

  /// In the type that TF.js holds such elements in.
  template <class T> Held append(const Bytes& elements) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, bool> ||
                  std::is_same_v<T, std::complex<float>>) {
      bytes += elements.text();
      if constexpr (std::is_same_v<T, float>)
        return {"float32", "DT_FLOAT"};
      else if constexpr (std::is_same_v<T, std::int32_t>)
        return {"int32", "DT_INT32"};
      else if constexpr (std::is_same_v<T, bool>)
        return {"bool", "DT_BOOL"};
      else
        return {"complex64", "DT_COMPLEX64"};
    } else if constexpr (is_integer(dtype_of<T>) && std::is_integral_v<T>) {
      convert<T, std::int32_t>(elements);
      return {"int32", "DT_INT32"};
    } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
      convert<T, float>(elements);
      return {"float32", "DT_FLOAT"};
    } else {
      throw Error(Code::not_writable, "TF.js has no element type for " + std::string(name_of(dtype_of<T>)));
    }
  }

  template <class From, class To> void convert(const Bytes& elements) {
    const std::size_t count = elements.size() / sizeof(From);
    for (std::size_t i = 0; i < count; ++i) {
      const From from = load_element<From>(elements.data(), i);
      To to;
      if constexpr (std::is_same_v<To, std::int32_t>)  // what is beyond becomes the nearest, as TF.js's own tools do
        to = static_cast<To>(std::clamp<double>(static_cast<double>(from), -2147483648.0, 2147483647.0));
      else
        to = static_cast<To>(from);
      bytes.append(reinterpret_cast<const char*>(&to), sizeof to);
    }
  }

  Budget& budget_;
};

}  // namespace

GraphModelFiles to_graph_model(const tf::GraphDef& graph, Budget& budget) {
  Writer writer(budget);
  Json topology{{"node", Json::array()}};
  for (const tf::NodeDef& n : graph.nodes) topology["node"].push_back(writer.node(n));
  if (!graph.functions.empty()) {
    topology["library"]["function"] = Json::array();
    for (const tf::FunctionDef& f : graph.functions) topology["library"]["function"].push_back(writer.function(f));
  }
  topology["versions"] = {{"producer", graph.producer}};
  const Json model{{"format", "graph-model"},
                   {"modelTopology", std::move(topology)},
                   {"weightsManifest",
                    Json::array({{{"paths", Json::array({"weights.bin"})}, {"weights", std::move(writer.weights)}}})}};
  return {model.dump(-1, ' ', false, Json::error_handler_t::replace), std::move(writer.bytes)};
}

}  // namespace ingot::formats::tfjs
