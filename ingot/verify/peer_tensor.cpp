// Tensors on their way to other runtimes and back: numbers as files, the rest as JSON.
#include "ingot/verify/peer_tensor.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"

namespace ingot::verify {
namespace {

using Json = nlohmann::json;

struct PeerType {
  const char* name;
  DType dtype;
};
constexpr PeerType kTypes[] = {{"float32", DType::f32},  {"float64", DType::f64}, {"float16", DType::f16},
                               {"int8", DType::i8},      {"uint8", DType::u8},    {"int16", DType::i16},
                               {"uint16", DType::u16},   {"int32", DType::i32},   {"uint32", DType::u32},
                               {"int64", DType::i64},    {"uint64", DType::u64},  {"bool", DType::boolean},
                               {"string", DType::string}};

}  // namespace

Json to_peer(const engine::NamedDatum& tensor, const std::string& path) {
  const Array* array = tensor.value.array();
  if (!array) throw Error(Code::unsupported_feature, "'" + tensor.name + "' is no tensor: it cannot be passed");
  const auto* type = std::ranges::find(kTypes, array->dtype(), &PeerType::dtype);
  if (type == std::end(kTypes))
    throw Error(Code::unsupported_feature, "'" + tensor.name + "' has a type that cannot be passed");
  Json json{{"name", tensor.name}, {"type", type->name}, {"dims", array->dims()}};
  if (array->dtype() == DType::string) {
    const auto strings = array->data<std::string>();
    json["strings"] = std::vector<std::string>(strings.begin(), strings.end());
  } else {
    std::ofstream file(path, std::ios::binary);  // no AtomicFile: it need not outlive the next power cut
    file.write(reinterpret_cast<const char*>(array->bytes()), static_cast<std::streamsize>(array->byte_size()));
    if (!file.flush()) throw Error(Code::cannot_write, "cannot write " + path);
    json["file"] = path;
  }
  return json;
}

engine::NamedDatum from_peer(const Json& json) {
  const std::string name = json.at("type");
  const auto* type = std::ranges::find_if(kTypes, [&](const PeerType& t) { return name == t.name; });
  if (type == std::end(kTypes)) throw Error(Code::bad_input, "the peer's answer has the unknown type " + name);
  const Dims dims = json.at("dims");
  Array array(type->dtype, dims);
  if (type->dtype == DType::string) {
    const std::vector<std::string> strings = json.at("strings");
    if (static_cast<std::int64_t>(strings.size()) != array.size())
      throw Error(Code::bad_input, "the peer's answer has the wrong number of strings");
    std::ranges::copy(strings, array.mutable_data<std::string>().begin());
  } else if (array.byte_size() > 0) {
    const Bytes bytes = map_file(json.at("file"));
    if (bytes.size() != array.byte_size()) throw Error(Code::bad_input, "the peer's answer has the wrong size");
    std::ranges::copy(bytes.span(), array.bytes());
  }
  return {json.at("name"), std::move(array)};
}

}  // namespace ingot::verify
