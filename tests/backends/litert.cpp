// Runs models in LiteRT: values go through files in a directory of its own.
#include "tests/backends/litert.h"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ingot/base/error.h"
#include "ingot/verify/child_process.h"
#include "ingot/verify/peer_tensor.h"
#include "tests/support/files.h"

namespace ingot::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct LiteRt::State {
  std::string node, script, peers;
  TempDir directory;
  std::unique_ptr<verify::ChildProcess> process;
  int runs = 0;
};

LiteRt::LiteRt(std::unique_ptr<State> state) : state_(std::move(state)) {}
LiteRt::~LiteRt() = default;

std::unique_ptr<LiteRt> LiteRt::find() {
  auto state = std::make_unique<State>();
  for (const char* path : {"/usr/bin/node", "/usr/local/bin/node"})
    if (::access(path, X_OK) == 0) state->node = path;
  const fs::path peers = source_dir() / "build/peers";
  if (state->node.empty() || !fs::exists(peers / "node_modules/@litertjs/core/wasm")) return nullptr;
  state->peers = fs::canonical(peers).string();
  state->script = (source_dir() / "tests/backends/litert.mjs").string();
  return std::unique_ptr<LiteRt>(new LiteRt(std::move(state)));
}

LiteRt::Result LiteRt::run(const std::string& model, const std::vector<Tensor>& inputs) {
  State& s = *state_;
  constexpr int kRuns = 100;  // what is freed does not make the memory of WebAssembly smaller
  if (!s.process || !s.process->is_running() || ++s.runs % kRuns == 0)
    s.process = std::make_unique<verify::ChildProcess>(std::vector<std::string>{s.node, s.script, s.peers},
                                                       s.directory.path().string());
  try {
    write_text(s.directory / "model.tflite", model);
    Json request{{"model", s.directory / "model.tflite"}, {"directory", s.directory.path().string()}};
    request["inputs"] = Json::array();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string number = std::to_string(i);
      request["inputs"].push_back(verify::to_peer({number, Array::from(inputs[i])}, s.directory / ("input_" + number)));
    }
    const auto line = s.process->ask(request.dump(), std::chrono::seconds(240));
    if (!line) return {"it ended or took too long", {}};
    Json reply = Json::parse(*line);
    if (reply.contains("error")) {
      s.process.reset();  // what an error left behind is anybody's guess
      return {reply.at("error"), {}};
    }
    Result result;
    for (const Json& output : reply.at("outputs"))
      result.outputs.push_back(verify::from_peer(output).value.array()->to_tensor());
    return result;
  } catch (const Error& error) {
    return {error.message(), {}};
  } catch (const Json::exception& error) {
    return {error.what(), {}};
  }
}

}  // namespace ingot::test
