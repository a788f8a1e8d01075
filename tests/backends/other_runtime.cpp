// Runs models that are held in memory in other runtimes.
#include "tests/backends/other_runtime.h"

#include "ingot/verify/peer.h"
#include "tests/support/files.h"
#include "tests/verify/peers.h"

namespace ingot::test {

struct OtherRuntime::State {
  verify::Runtime runtime;
  TempDir directory{};
  std::unique_ptr<verify::Peer> peer{};
  int runs = 0;
};

OtherRuntime::OtherRuntime(std::unique_ptr<State> state) : state_(std::move(state)) {}
OtherRuntime::~OtherRuntime() = default;

std::unique_ptr<OtherRuntime> OtherRuntime::find(verify::Runtime runtime) {
  if (verify::why_missing(peers(), runtime)) return nullptr;
  return std::unique_ptr<OtherRuntime>(new OtherRuntime(std::make_unique<State>(runtime)));
}

OtherRuntime::Result OtherRuntime::run(const std::string& model, const std::vector<Tensor>& inputs, int runs) {
  State& s = *state_;
  constexpr int kRuns = 100;  // what is freed does not make the memory of WebAssembly smaller
  if (!s.peer || ++s.runs % kRuns == 0) s.peer = std::make_unique<verify::Peer>(s.runtime, peers());
  write_text(s.directory / "model.tflite", model);
  verify::PeerRequest request{.model = s.directory / "model.tflite", .runs = runs};
  for (std::size_t i = 0; i < inputs.size(); ++i) request.inputs.push_back({std::to_string(i), Array::from(inputs[i])});
  const verify::PeerAnswer answer = s.peer->run(request);
  if (!answer.error.empty()) {
    s.peer.reset();  // what an error left behind is anybody's guess
    return {answer.error, {}, {}};
  }
  if (!answer.not_passed.empty()) return {"an output of another type", {}, {}};
  Result result;
  for (const auto& output : answer.outputs) {
    result.names.push_back(output.name);
    result.outputs.push_back(output.value.array()->to_tensor());
  }
  return result;
}

}  // namespace ingot::test
