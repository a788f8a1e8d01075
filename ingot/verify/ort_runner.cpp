// ONNX Runtime as a peer: values go through files in a directory of its own.
#include "ingot/verify/ort_runner.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/verify/child_process.h"
#include "ingot/verify/scratch_directory.h"

namespace ingot::verify {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct OrtType {
  const char* name;
  DType dtype;
};
constexpr OrtType kTypes[] = {{"float32", DType::f32},  {"float64", DType::f64}, {"float16", DType::f16},
                              {"int8", DType::i8},      {"uint8", DType::u8},    {"int16", DType::i16},
                              {"uint16", DType::u16},   {"int32", DType::i32},   {"uint32", DType::u32},
                              {"int64", DType::i64},    {"uint64", DType::u64},  {"bool", DType::boolean},
                              {"string", DType::string}};

Json to_json(const engine::NamedDatum& input, const fs::path& directory, std::size_t i) {
  const Array* array = input.value.array();
  if (!array) throw Error(Code::unsupported_feature, "input '" + input.name + "' is no tensor");
  for (const OrtType& t : kTypes) {
    if (t.dtype != array->dtype()) continue;
    Json json{{"name", input.name}, {"type", t.name}, {"dims", array->dims()}};
    if (array->dtype() == DType::string) {
      const auto strings = array->data<std::string>();
      json["strings"] = std::vector<std::string>(strings.begin(), strings.end());
    } else {
      const std::string path = (directory / ("input_" + std::to_string(i))).string();
      AtomicFile file(path);
      file.write({array->bytes(), array->byte_size()});
      file.commit();
      json["file"] = path;
    }
    return json;
  }
  throw Error(Code::unsupported_feature, "input '" + input.name + "' has a type that cannot be passed");
}

engine::NamedDatum from_json(const Json& json) {
  const std::string type = json.at("type");
  const Dims dims = json.at("dims");
  for (const OrtType& t : kTypes) {
    if (type != t.name) continue;
    Array array(t.dtype, dims);
    if (t.dtype == DType::string) {
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
  throw Error(Code::bad_input, "the peer's answer has the unknown type " + type);
}

}  // namespace

struct OrtRunner::State {
  explicit State(OrtPlace p) : place(std::move(p)) {}
  void clear() {
    for (const auto& entry : fs::directory_iterator(directory.path())) fs::remove_all(entry.path());
  }

  OrtPlace place;
  ScratchDirectory directory;
  std::unique_ptr<ChildProcess> process;
};

OrtRunner::OrtRunner(OrtPlace place) : state_(std::make_unique<State>(std::move(place))) {}
OrtRunner::~OrtRunner() = default;

OrtRunner::Answer OrtRunner::run(const std::string& model, const std::vector<engine::NamedDatum>& inputs) {
  State& s = *state_;
  Answer answer;
  try {
    s.clear();
    Json request{{"model", fs::absolute(model).string()}, {"directory", s.directory.path().string()}};
    request["inputs"] = Json::array();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      request["inputs"].push_back(to_json(inputs[i], s.directory.path(), i));
    if (!s.process || !s.process->is_running())
      s.process = std::make_unique<ChildProcess>(std::vector<std::string>{s.place.node, s.place.script, s.place.peers},
                                                 s.directory.path().string());
    const auto line = s.process->ask(request.dump(), s.place.time);
    if (!line) return {{}, "it ended or took too long"};
    const Json reply = Json::parse(*line);
    if (reply.contains("error")) return {{}, reply.at("error")};
    for (const Json& output : reply.at("outputs")) answer.outputs.push_back(from_json(output));
  } catch (const Json::exception& error) {
    return {{}, std::string("its answer is not understood: ") + error.what()};
  } catch (const Error& error) {
    return {{}, error.message()};
  }
  return answer;
}

}  // namespace ingot::verify
