// Other runtimes at arm's length: requests and answers are lines of JSON, numbers go through files.
#include "ingot/verify/peer.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/verify/child_process.h"
#include "ingot/verify/peer_tensor.h"
#include "ingot/verify/scratch_directory.h"

namespace ingot::verify {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

}  // namespace

struct Peer::State {
  void clear() {
    for (const auto& entry : fs::directory_iterator(directory.path())) fs::remove_all(entry.path());
  }

  /// The answer; an object with "error" whatever goes wrong.
  Json ask(const Json& request) {
    const auto line = process->ask(request.dump(-1, ' ', false, Json::error_handler_t::replace), peers.time,
                                   [this] { return peers.budget && peers.budget->cancelled(); });
    if (peers.budget) peers.budget->poll();
    if (!line) return {{"error", process->ending()}};
    return Json::parse(*line);
  }

  Runtime runtime;
  Peers peers;
  ScratchDirectory directory{};
  std::unique_ptr<ChildProcess> process{};  // goes before the directory
};

Peer::Peer(Runtime runtime, Peers peers) : state_(new State{runtime, std::move(peers)}) {}
Peer::~Peer() = default;

Runtime Peer::runtime() const { return state_->runtime; }

PeerAnswer Peer::run(const PeerRequest& request) try {
  State& s = *state_;
  PeerAnswer answer;
  const RuntimeInfo& info = info_of(s.runtime);
  if (!info.command) return {.error = std::string(info.title) + " is no peer of itself"};
  if (const auto missing = why_missing(s.peers, s.runtime)) return {.error = *missing};
  s.clear();
  Json json{{"do", "run"},
            {"model", fs::absolute(request.model).string()},
            {"directory", s.directory.path().string()},
            {"threads", request.threads},
            {"runs", request.runs},
            {"optimize", request.optimize},
            {"inputs", Json::array()}};
  if (!request.outputs.empty()) json["outputs"] = request.outputs;
  for (std::size_t i = 0; i < request.inputs.size(); ++i)
    json["inputs"].push_back(
        to_peer(request.inputs[i], (s.directory.path() / ("input_" + std::to_string(i))).string()));
  if (!s.process || !s.process->is_running())
    s.process = std::make_unique<ChildProcess>(info.command(s.peers), s.directory.path().string(), s.peers.memory);
  const Json reply = s.ask(json);
  if (reply.contains("error")) return {.error = reply.at("error")};
  answer.version = reply.value("version", "");
  answer.load_ms = reply.value("load_ms", 0.0);
  answer.first_ms = reply.value("first_ms", 0.0);
  answer.base_bytes = reply.value("base_bytes", std::uint64_t{0});
  for (const Json& output : reply.at("outputs")) {
    if (output.contains("type"))
      answer.outputs.push_back(from_peer(output));
    else
      answer.not_passed.push_back(output.at("name"));
  }
  return answer;
} catch (const Json::exception& error) {
  return {.error = std::string("its answer is not understood: ") + error.what()};
} catch (const fs::filesystem_error& error) {
  return {.error = error.what()};
} catch (const Error& error) {
  if (error.code() == Code::cancelled || error.code() == Code::time_limit) throw;
  return {.error = error.message()};
}

PeerTimes Peer::time(std::size_t runs) try {
  State& s = *state_;
  if (!s.process || !s.process->is_running()) return {.error = "it does not run"};
  const Json reply = s.ask({{"do", "time"}, {"runs", runs}});
  if (reply.contains("error")) return {.error = reply.at("error")};
  return {.ms = reply.at("ms"), .peak_bytes = reply.at("peak_bytes")};
} catch (const Json::exception& error) {
  return {.error = std::string("its answer is not understood: ") + error.what()};
}

}  // namespace ingot::verify
