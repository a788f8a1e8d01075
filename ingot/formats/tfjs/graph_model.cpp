// model.json, its weights, and the old form.
#include "ingot/formats/tfjs/graph_model.h"

#include <simdjson.h>

#include <cmath>
#include <cstring>
#include <map>
#include <unordered_set>

#include "ingot/base/budget.h"
#include "ingot/base/byte_reader.h"
#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/base/float_types.h"
#include "ingot/formats/tensorflow/read_messages.h"
#include "ingot/formats/tfjs/json_message.h"

namespace ingot::formats::tfjs {
namespace {

using simdjson::dom::element;
using tensorflow::DataType;
using tensorflow::TensorProto;
using Weights = std::map<std::string, TensorProto, std::less<>>;

constexpr std::size_t kMostNested = 512;

class Json {
 public:
  explicit Json(const Bytes& file) : text_(file.text()) {
    if (parser_.allocate(text_.size() + 64, kMostNested) || parser_.parse(text_).get(root_))
      throw Error(Code::bad_json, "the file is not JSON");
    if (!root_.is_object() && !root_.is_array()) throw Error(Code::bad_json, "the file holds no object");
  }
  const element& root() const { return root_; }

 private:
  simdjson::padded_string text_;
  simdjson::dom::parser parser_;
  element root_;
};

std::string text(const element& json, std::string_view key) {
  std::string_view value;
  if (json[key].get_string().get(value))
    throw Error(Code::bad_json, "'" + std::string(key) + "' is missing or no text");
  return std::string(value);
}

/// What an entry of the manifest says.
struct Entry {
  std::string name, dtype, stored;  // stored: the quantised type, or empty
  std::vector<std::int64_t> shape;
  double scale = 1, min = 0;
};

Entry read_entry(const element& json) {
  Entry entry{text(json, "name"), text(json, "dtype"), {}, {}};
  simdjson::dom::array shape;
  if (json["shape"].get_array().get(shape)) throw Error(Code::bad_json, "a weight has no shape");
  for (const element& d : shape) {
    std::int64_t size = -1;
    if (d.get_int64().get(size)) throw Error(Code::bad_json, "a dimension is no number");
    entry.shape.push_back(size);
  }
  element quantization;
  if (!json["quantization"].get(quantization) && quantization.is_object()) {
    entry.stored = text(quantization, "dtype");
    double number = 0;
    if (!quantization["scale"].get_double().get(number)) entry.scale = number;
    if (!quantization["min"].get_double().get(number)) entry.min = number;
  }
  return entry;
}

DataType type_of(const std::string& name) {
  if (name == "float32") return DataType::f32;
  if (name == "int32") return DataType::i32;
  if (name == "bool") return DataType::boolean;
  if (name == "string") return DataType::string;
  if (name == "complex64") return DataType::c64;
  if (name == "uint8") return DataType::u8;
  if (name == "uint16") return DataType::u16;
  if (name == "float16") return DataType::f16;
  if (name == "int64") return DataType::i64;
  throw Error(Code::bad_element_type, "TF.js has no element type '" + name.substr(0, 40) + "'");
}

template <class Stored, class To> Bytes restored(std::span<const std::byte> data, double scale, double min) {
  std::vector<std::byte> out(data.size() / sizeof(Stored) * sizeof(To));
  for (std::size_t i = 0; i < data.size() / sizeof(Stored); ++i) {
    Stored q;
    std::memcpy(&q, data.data() + i * sizeof(Stored), sizeof q);
    const double real = static_cast<double>(q) * scale + min;
    To value;
    if constexpr (std::is_integral_v<To>)
      value = saturate_cast<To>(std::round(real));
    else
      value = static_cast<To>(real);
    std::memcpy(out.data() + i * sizeof(To), &value, sizeof value);
  }
  return Bytes::own(std::move(out));
}

Bytes dequantized(const Entry& entry, DataType type, std::span<const std::byte> data) {
  if (entry.stored == "float16") {
    std::vector<float> out(data.size() / 2);
    for (std::size_t i = 0; i < out.size(); ++i) {
      Float16 half;
      std::memcpy(static_cast<void*>(&half), data.data() + 2 * i, 2);
      out[i] = static_cast<float>(half);
    }
    return Bytes::copy(std::as_bytes(std::span(out)));
  }
  const bool is_wide = entry.stored == "uint16";
  if (type == DataType::i32)
    return is_wide ? restored<std::uint16_t, std::int32_t>(data, entry.scale, entry.min)
                   : restored<std::uint8_t, std::int32_t>(data, entry.scale, entry.min);
  return is_wide ? restored<std::uint16_t, float>(data, entry.scale, entry.min)
                 : restored<std::uint8_t, float>(data, entry.scale, entry.min);
}

TensorProto read_weight(const Entry& entry, const Bytes& group, ByteReader& in, Budget& budget) {
  TensorProto tensor;
  tensor.dtype = type_of(entry.dtype);
  tensor.shape.dims = entry.shape;
  const std::uint64_t count = tensorflow::element_count(tensor.shape);
  if (tensor.dtype == DataType::string) {
    if (count > in.remaining() / 4) throw Error(Code::truncated, "weight '" + entry.name + "' is cut off");
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint32_t length = in.u32();
      const auto bytes = in.bytes(length);
      tensor.strings.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return tensor;
  }
  const bool is_half = entry.stored == "float16", is_scaled = entry.stored == "uint8" || entry.stored == "uint16";
  const bool is_restorable =
      tensor.dtype == DataType::f32 ? is_half || is_scaled : tensor.dtype == DataType::i32 && is_scaled;
  if (!entry.stored.empty() && !is_restorable)
    throw Error(Code::unsupported_feature, "weight '" + entry.name + "' is quantised in an unusual way");
  const std::uint64_t width = tensorflow::element_size(entry.stored.empty() ? tensor.dtype : type_of(entry.stored));
  const auto size = checked_mul(count, width);
  if (!size || *size > in.remaining()) throw Error(Code::truncated, "weight '" + entry.name + "' is cut off");
  const std::size_t at = in.position();
  in.skip(*size);
  const Bytes data = group.slice(at, static_cast<std::size_t>(*size));
  if (entry.stored.empty()) {
    tensor.elements = data;
  } else {
    budget.charge_memory(count * 4);
    tensor.elements = dequantized(entry, tensor.dtype, data.span());
  }
  return tensor;
}

void read_group(const element& json, const std::string& directory, PathPolicy policy, Budget& budget,
                WeightList& weights) {
  simdjson::dom::array paths, entries;
  if (json["paths"].get_array().get(paths) || json["weights"].get_array().get(entries))
    throw Error(Code::bad_json, "a group of weights lacks its paths or weights");
  std::vector<Bytes> shards;
  std::size_t total = 0;
  for (const element& path : paths) {
    std::string_view name;
    if (path.get_string().get(name)) throw Error(Code::bad_json, "a path is no text");
    shards.push_back(map_beneath(directory, name, policy));
    total += shards.back().size();
  }
  Bytes group;
  if (shards.size() == 1) {
    group = shards.front();
  } else {
    budget.charge_memory(total);
    std::vector<std::byte> joined;
    joined.reserve(total);
    for (const Bytes& s : shards) joined.insert(joined.end(), s.data(), s.data() + s.size());
    group = Bytes::own(std::move(joined));
  }
  ByteReader in(group.span());
  for (const element& json_entry : entries) {
    const Entry entry = read_entry(json_entry);
    weights.emplace_back(entry.name, read_weight(entry, group, in, budget));
  }
}

WeightList read_list(const element& manifest, const std::string& directory, PathPolicy policy, Budget& budget) {
  WeightList weights;
  simdjson::dom::array groups;
  if (manifest.get_array().get(groups)) throw Error(Code::bad_json, "the manifest of weights is no list");
  for (const element& group : groups) read_group(group, directory, policy, budget, weights);
  return weights;
}

Weights read_manifest(const element& manifest, const std::string& directory, PathPolicy policy, Budget& budget) {
  Weights weights;
  for (auto& [name, tensor] : read_list(manifest, directory, policy, budget))
    weights.insert_or_assign(std::move(name), std::move(tensor));
  return weights;
}

template <class From, class To> Bytes converted(const Bytes& elements) {
  std::vector<std::byte> out(elements.size() / sizeof(From) * sizeof(To));
  for (std::size_t i = 0; i < elements.size() / sizeof(From); ++i) {
    From from;
    std::memcpy(&from, elements.data() + i * sizeof(From), sizeof from);
    const auto to = static_cast<To>(from);
    std::memcpy(out.data() + i * sizeof(To), &to, sizeof to);
  }
  return Bytes::own(std::move(out));
}

/// TF.js stores integers of all widths as int32 and all real numbers as float32: back to what the graph states.
void restore_type(TensorProto& tensor, DataType stated, Budget& budget) {
  const auto become = [&](Bytes (*convert)(const Bytes&)) {
    budget.charge_memory(tensor.elements.size() * 2);
    tensor.elements = convert(tensor.elements);
    tensor.dtype = stated;
  };
  if (tensor.dtype == DataType::f32 && stated == DataType::f64) return become(converted<float, double>);
  if (tensor.dtype != DataType::i32) return;
  if (stated == DataType::i64) return become(converted<std::int32_t, std::int64_t>);
  if (stated == DataType::u64) return become(converted<std::int32_t, std::uint64_t>);
  if (stated == DataType::u32) return become(converted<std::int32_t, std::uint32_t>);
  if (stated == DataType::i16) return become(converted<std::int32_t, std::int16_t>);
  if (stated == DataType::u16) return become(converted<std::int32_t, std::uint16_t>);
  if (stated == DataType::i8) return become(converted<std::int32_t, std::int8_t>);
  if (stated == DataType::u8) return become(converted<std::int32_t, std::uint8_t>);
}

/// Constants are stored without their values: these stand in the manifest by the node's name.
void fill_constants(std::vector<tensorflow::NodeDef>& nodes, const Weights& weights, Budget& budget) {
  for (tensorflow::NodeDef& node : nodes) {
    if (node.op != "Const") continue;
    const auto weight = weights.find(node.name);
    if (weight == weights.end()) continue;
    auto value = std::make_shared<TensorProto>(weight->second);
    for (const tensorflow::Attr& attr : node.attrs)
      if (const auto* stated = std::get_if<DataType>(&attr.value); stated && attr.name == "dtype")
        restore_type(*value, *stated, budget);
    // Of one name the last counts.
    node.attrs.push_back({"value", std::shared_ptr<const TensorProto>(std::move(value))});
  }
}

/// The converter puts a function's name before its constants, in references sometimes twice.
void mend_references(tensorflow::FunctionDef& function) {
  std::unordered_set<std::string_view> known;
  for (const auto& node : function.nodes) known.insert(node.name);
  for (const auto& arg : function.inputs) known.insert(arg.name);
  const std::string prefix = function.name + "/";
  const auto mend = [&](std::string& reference) {
    const bool is_control = reference.starts_with('^');
    std::string name = reference.substr(is_control ? 1 : 0);
    const auto is_known = [&](const std::string& r) {
      return known.contains(std::string_view(r).substr(0, r.find(':')));
    };
    const std::string original = name;
    while (!is_known(name) && name.starts_with(prefix)) name.erase(0, prefix.size());
    if (!is_known(name)) name = is_known(prefix + original) ? prefix + original : original;
    reference = (is_control ? "^" : "") + name;
  };
  for (auto& node : function.nodes)
    for (std::string& input : node.inputs) mend(input);
  for (auto& [output, value] : function.returns) mend(value);
}

}  // namespace

bool looks_like_layers_model(const Bytes& file) {
  const std::string_view text = file.text();
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != text.npos && text[first] == '{' && text.find("\"modelTopology\"") != text.npos &&
         text.find("\"class_name\"") != text.npos && text.find("\"graph-model\"") == text.npos;
}

bool looks_like_graph_model(const Bytes& file) {
  const std::string_view text = file.text();
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == text.npos || text[first] != '{') return false;
  if (text.find("\"modelTopology\"") == text.npos && text.find("\"weightsManifest\"") == text.npos) return false;
  return text.find("\"graph-model\"") != text.npos ||
         (text.find("\"node\"") != text.npos && text.find("\"class_name\"") == text.npos);
}

WeightList read_weights(const Bytes& file, const std::string& directory, PathPolicy policy, Budget& budget) {
  const Json json(file);
  element manifest;
  if (json.root()["weightsManifest"].get(manifest)) return {};
  return read_list(manifest, directory, policy, budget);
}

GraphModel read_graph_model(const Bytes& file, const std::string& directory, PathPolicy policy, Budget& budget) {
  GraphModel model;
  Weights weights;
  if (!file.text().starts_with('\x0a') || looks_like_graph_model(file)) {
    const Json json(file);
    element topology, manifest, signature;
    if (json.root()["modelTopology"].get(topology) || !topology.is_object())
      throw Error(Code::bad_json, "the model has no topology");
    if (!topology["class_name"].error() || !topology["model_config"].error())
      throw Error(Code::unsupported_format_version,
                  "this is a layers-model, which names Keras's layers and has no graph")
          .hint(
              "tensorflowjs_converter --input_format tfjs_layers_model --output_format tfjs_graph_model makes a "
              "graph of it");
    if (!json.root()["weightsManifest"].get(manifest)) weights = read_manifest(manifest, directory, policy, budget);
    const std::string graph = binary_of_json(topology, tensorflow::Message::graph);
    model.graph = tensorflow::read_graph(protobuf::Reader(Bytes::own(graph)), budget);
    element metadata;
    bool has_signature = !json.root()["signature"].get(signature) && signature.is_object();
    if (!has_signature && !json.root()["userDefinedMetadata"].get(metadata) && metadata.is_object())
      has_signature = !metadata["signature"].get(signature) && signature.is_object();
    if (has_signature) {
      model.signature = tensorflow::read_signature(
          "serving_default", protobuf::Reader(Bytes::own(binary_of_json(signature, tensorflow::Message::signature))));
      if (model.signature->inputs.empty() || model.signature->outputs.empty()) model.signature.reset();
    }
  } else {
    model.graph = tensorflow::read_graph(file, budget);
    const Json json(map_beneath(directory, "weights_manifest.json", policy));
    weights = read_manifest(json.root(), directory, policy, budget);
  }
  fill_constants(model.graph.nodes, weights, budget);
  for (tensorflow::FunctionDef& function : model.graph.functions) {
    fill_constants(function.nodes, weights, budget);
    mend_references(function);
  }
  return model;
}

}  // namespace ingot::formats::tfjs
