// ONNX Runtime as a peer that is timed.
#include "ingot/verify/ort_bench.h"

#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ingot/base/error.h"
#include "ingot/verify/child_process.h"
#include "ingot/verify/ort_bench_script.h"
#include "ingot/verify/peer_tensor.h"
#include "ingot/verify/scratch_directory.h"

namespace ingot::verify {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
constexpr auto kLongest = std::chrono::minutes(10);  // for one answer

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
    if (candidate[0] == '/' && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace

OrtPackage find_ort(const std::string& packages) {
  constexpr const char* kHint = "script/bootstrap installs it; --peers or INGOT_PEERS names the node_modules folder";
  if (packages.empty() || !fs::is_directory(fs::path(packages) / "onnxruntime-node"))
    throw Error(Code::cannot_open, "ONNX Runtime's npm package onnxruntime-node is not there").hint(kHint);
  OrtPackage place{find_program("node"), fs::absolute(packages).string()};
  if (place.node.empty()) throw Error(Code::cannot_open, "the program 'node' is not in the PATH").hint(kHint);
  return place;
}

struct OrtBench::State {
  explicit State(const OrtPackage& place) {
    process = std::make_unique<ChildProcess>(
        std::vector<std::string>{place.node, "--input-type=module", "-e", kOrtBenchScript, "--", place.packages},
        directory.path().string());
  }
  Json ask(const Json& request) {
    const auto line = process->ask(request.dump(), kLongest);
    if (!line) throw Error(Code::unsupported_feature, "ONNX Runtime ended or took too long");
    Json reply = Json::parse(*line);
    if (reply.contains("error"))
      throw Error(Code::unsupported_feature, "ONNX Runtime refuses the model: " + reply.at("error").get<std::string>());
    return reply;
  }

  ScratchDirectory directory;
  std::unique_ptr<ChildProcess> process;  // goes before the directory
};

OrtBench::OrtBench(const OrtPackage& place, const std::string& model, const std::vector<engine::NamedDatum>& inputs,
                   int threads) try
    : state_(std::make_unique<State>(place)) {
  Json request{
      {"model", fs::absolute(model).string()}, {"threads", threads}, {"directory", state_->directory.path().string()}};
  request["inputs"] = Json::array();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    request["inputs"].push_back(
        to_peer(inputs[i], (state_->directory.path() / ("input_" + std::to_string(i))).string()));
  const Json reply = state_->ask(request);
  version = reply.at("version");
  load_ms = reply.at("load_ms");
  first_ms = reply.at("first_ms");
  base_bytes = reply.at("base_bytes");
  for (const Json& output : reply.at("outputs")) {
    if (output.contains("type"))
      outputs.push_back(from_peer(output));
    else
      outputs_not_passed.push_back(output.at("name"));
  }
} catch (const Json::exception& error) {
  throw Error(Code::bad_input, std::string("ONNX Runtime's answer is not understood: ") + error.what());
}

OrtBench::~OrtBench() = default;

std::vector<double> OrtBench::run(std::size_t count) try {
  const Json reply = state_->ask({{"runs", count}});
  peak_bytes = reply.at("peak_bytes");
  return reply.at("ms");
} catch (const Json::exception& error) {
  throw Error(Code::bad_input, std::string("ONNX Runtime's answer is not understood: ") + error.what());
}

}  // namespace ingot::verify
