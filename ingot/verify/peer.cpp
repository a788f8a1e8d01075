// Other runtimes at arm's length: requests and answers are lines of JSON, numbers go through files.
#include "ingot/verify/peer.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/work_directory.h"
#include "ingot/verify/child_process.h"
#include "ingot/verify/peer_tensor.h"

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

  /// Starts it where it does not run; returns why that cannot be.
  std::string start() {
    if (process && process->is_running()) return {};
    const RuntimeInfo& info = info_of(runtime);
    if (command.empty() && !info.command) return std::string(info.title) + " is no peer of itself";
    if (command.empty())
      if (const auto missing = why_missing(peers, runtime)) return *missing;
    process = std::make_unique<ChildProcess>(command.empty() ? info.command(peers) : command, directory.path().string(),
                                             peers.memory);
    return {};
  }

  Runtime runtime;
  Peers peers;
  std::vector<std::string> command{};  // of the user's own program
  driver::WorkDirectory directory{};
  std::unique_ptr<ChildProcess> process{};  // goes before the directory
};

Peer::Peer(Runtime runtime, Peers peers) : state_(new State{runtime, std::move(peers)}) { state_->peers.pool.reset(); }
Peer::Peer(std::vector<std::string> command, Peers peers)
    : state_(new State{Runtime::ingot, std::move(peers), std::move(command)}) {
  state_->peers.pool.reset();  // which holds this one
}
Peer::~Peer() = default;

Runtime Peer::runtime() const { return state_->runtime; }
const std::vector<std::string>& Peer::command() const { return state_->command; }

PeerAnswer Peer::run(const PeerRequest& request) try {
  State& s = *state_;
  PeerAnswer answer;
  s.clear();
  if (std::string why = s.start(); !why.empty()) return {.error = std::move(why)};
  Json json{{"do", "run"},
            {"model", fs::absolute(request.model).string()},
            {"directory", s.directory.path().string()},
            {"threads", request.threads},
            {"runs", request.runs},
            {"optimize", request.optimize},
            {"inputs", Json::array()}};
  if (!request.outputs.empty()) json["outputs"] = request.outputs;
  for (const auto& [output, input] : request.in_place) json["in_place"][output] = input;
  for (std::size_t i = 0; i < request.inputs.size(); ++i)
    json["inputs"].push_back(
        to_peer(request.inputs[i], (s.directory.path() / ("input_" + std::to_string(i))).string()));
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

struct PeerPool::State {
  template <class Fits> std::unique_ptr<Peer> find(Fits&& fits) {
    const std::lock_guard lock(mutex);
    const auto it = std::ranges::find_if(waiting, [&](const auto& peer) { return fits(*peer); });
    if (it == waiting.end()) return nullptr;
    std::unique_ptr<Peer> peer = std::move(*it);
    waiting.erase(it);
    return peer;
  }

  std::mutex mutex;
  std::vector<std::unique_ptr<Peer>> waiting;
};

PeerPool::PeerPool() : state_(new State) {}
PeerPool::~PeerPool() = default;

std::unique_ptr<Peer> PeerPool::take(Runtime runtime, const Peers& peers) {
  auto peer = state_->find([&](const Peer& p) { return p.command().empty() && p.runtime() == runtime; });
  return peer ? std::move(peer) : std::make_unique<Peer>(runtime, peers);
}

std::unique_ptr<Peer> PeerPool::take(const std::vector<std::string>& command, const Peers& peers) {
  auto peer = state_->find([&](const Peer& p) { return p.command() == command; });
  return peer ? std::move(peer) : std::make_unique<Peer>(command, peers);
}

void PeerPool::give_back(std::unique_ptr<Peer> peer) {
  const std::lock_guard lock(state_->mutex);
  state_->waiting.push_back(std::move(peer));
}

}  // namespace ingot::verify
