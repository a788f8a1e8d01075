#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ingot/engine/inputs.h"
#include "ingot/verify/runtime.h"

namespace ingot::verify {

struct PeerRequest {
  std::string model{};  // a file that the runtime reads
  std::vector<engine::NamedDatum> inputs{};
  std::vector<std::string> outputs{};  // TF.js: the tensors wanted; the others give those that the file names
  int threads = 1;
  int runs = 1;           // TFLite: how often it runs, on the same inputs, before it gives its outputs
  bool optimize = false;  // ONNX Runtime: fuse and rewrite as its users do
  /// ONNX Runtime: outputs that are written where an input is (output, input), as some of its operators want it.
  std::vector<std::pair<std::string, std::string>> in_place{};
};

struct PeerAnswer {
  std::string error{};  // empty: it ran
  std::string version{};
  std::vector<engine::NamedDatum> outputs{};
  std::vector<std::string> not_passed{};  // names of outputs that are no tensors
  double load_ms = 0, first_ms = 0;       // until the model is loaded; until the first result is there
  std::uint64_t base_bytes = 0;           // memory of the process before it loaded the model
};

struct PeerTimes {
  std::string error{};
  std::vector<double> ms{};
  std::uint64_t peak_bytes = 0;
};

/// Another runtime, in a process of its own that is started when it is needed, and again when it ended. That it is
/// absent, refuses, crashes or hangs is an answer, never an exception. docs/verify.md describes how the two talk.
class Peer {
 public:
  Peer(Runtime runtime, Peers peers);
  /// A program of the user's that speaks as docs/scoreboard.md says; its path is absolute.
  Peer(std::vector<std::string> command, Peers peers);
  ~Peer();

  Runtime runtime() const;
  /// Of a program of the user's; empty for the others.
  const std::vector<std::string>& command() const;
  /// Loads a model and runs it once. Tensors only: what cannot be passed is an error in the answer.
  PeerAnswer run(const PeerRequest& request);
  /// Runs what run() loaded that many times, on the same inputs. Not LiteRT.
  PeerTimes time(std::size_t runs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Peers that did their work and wait for more: starting a process may take longer than what it is asked. Safe to share
/// between threads.
class PeerPool {
 public:
  PeerPool();
  ~PeerPool();
  /// One that waits, or a new one.
  std::unique_ptr<Peer> take(Runtime runtime, const Peers& peers);
  std::unique_ptr<Peer> take(const std::vector<std::string>& command, const Peers& peers);
  void give_back(std::unique_ptr<Peer> peer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::verify
